"""Coverage of a schema by near misses, and how many near misses a schema gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.assertions import (
    Assertion,
    asserting_keywords,
    find_reachable_keywords,
)
from curation.instances.constraints.compiled_schema import CompiledSchema, memo
from curation.instances.constraints.conjunction import ALL_TYPES, Conjunction, conjoin
from curation.instances.constraints.violations import FALSE
from curation.instances.near_misses.implications import (
    ImplicationQuestion,
    branch_repeats,
    branches_repeat,
    dependents,
    enumerated,
    item_count,
    keyword_verdict,
    lengths,
    names,
    property_count,
    tighter_bound,
)

if TYPE_CHECKING:
    from curation.instances.values.model import NearMiss

#: The keyword that every engine refuses at the first byte of a value.
TYPE: Final = "type"
#: Near misses by other keywords: of most schemas, and of the largest.
_USUAL: Final = 24
_LARGEST: Final = 40
#: Pairs of a place and a keyword, beyond the usual number, for one near miss more.
_PAIRS: Final = 8
#: Near misses by `type` of schemas that have hardly any others.
_FEWEST_TYPES: Final = 3


def most_others(pairs: int) -> int:
    """Return the most near misses by keywords other than `type`.

    Args:
        pairs: The schema's pairs of a place and such a keyword.

    Example:
        >>> [most_others(pairs) for pairs in (5, 24, 64, 9_000)]
        [24, 24, 29, 40]
    """
    return min(_LARGEST, _USUAL + max(0, pairs - _USUAL) // _PAIRS)


def most_types(others: int) -> int:
    """Return the most near misses by `type`.

    Args:
        others: Near misses by other keywords that were found.
    """
    return max(_FEWEST_TYPES, others // 2)


#: Values of instances looked at for one assertion; with more, nothing is claimed.
_MOST_LOCATIONS: Final = 64
NEVER_FAILS: Final = "never_fails"
OTHER_TYPE: Final = "other_type"
_PROOFS: Final[Mapping[str, Callable[[ImplicationQuestion], bool]]] = {
    "listed": enumerated,
    "lengths": lengths,
    "tighter_bound": tighter_bound,
    "item_count": item_count,
    "property_count": property_count,
    "names": names,
    "dependents": dependents,
    "branch_repeats": branch_repeats,
    "branches_repeat": branches_repeat,
}


@memo
def find_proof(compiled: CompiledSchema, assertion: Assertion) -> str:
    """Return the name of the proof that a keyword cannot fail alone, or "".

    Args:
        compiled: The schema.
        assertion: The keyword, and where its schema stands.
    """
    locations = find_reachable_keywords(compiled).assertions[assertion]
    too_many = len(locations) > _MOST_LOCATIONS
    if not locations or too_many or assertion.keyword == FALSE:
        return ""
    names = []
    for location in locations:
        conjunction = conjoin(compiled, location.goals)
        name = _proof_at(compiled, conjunction, assertion)
        if not name:
            return ""
        names.append(name)
    return names[0]


def _proof_at(
    compiled: CompiledSchema, conjunction: Conjunction, assertion: Assertion
) -> str:
    """Return the most telling proof that holds for values of every type, or ""."""
    other_assertions = tuple(
        Assertion(part, keyword)
        for part in conjunction.locations
        for keyword in asserting_keywords(part.schema, compiled.dialect)
        if keyword != assertion.keyword
    )
    names: dict[str, None] = {}
    for kind in ALL_TYPES:
        question = ImplicationQuestion(
            compiled=compiled,
            conjunction=conjunction,
            assertion=assertion,
            kind=kind,
            other_assertions=other_assertions,
        )
        name = _proof_for_type(question)
        if not name:
            return ""
        names[name] = None
    special = [name for name in names if name not in (NEVER_FAILS, OTHER_TYPE)]
    if special:
        return special[0]
    return OTHER_TYPE if OTHER_TYPE in names else NEVER_FAILS


def _proof_for_type(question: ImplicationQuestion) -> str:
    """Return why no value of a type fails the keyword alone, or ""."""
    compiled, kind = question.compiled, question.kind
    if keyword_verdict(compiled, question.location, question.keyword, kind) is True:
        return NEVER_FAILS
    if any(
        keyword_verdict(compiled, other.location, other.keyword, kind) is False
        for other in question.other_assertions
    ):
        return OTHER_TYPE
    return next((name for name, proof in _PROOFS.items() if proof(question)), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Counts of assertions (keywords at schema locations) that can refuse a value."""

    #: All of them: pairs of a schema location and a keyword.
    pairs: int
    #: With a near miss that fails that keyword alone.
    covered: int
    #: With a proof that it cannot fail alone.
    implied: int
    #: How many the maximum of near misses lets be covered, the implied ones apart.
    possible: int
    #: Keyword and pointer of those that are neither. Where the maximum was reached,
    #: only those whose keyword has no near miss at all.
    missing: tuple[tuple[str, str], ...]
    #: The same, a keyword counting once for the whole schema.
    keywords: int
    keywords_covered: int
    keywords_implied: int
    #: Whether the whole schema was visited.
    complete: bool


def measure_coverage(
    compiled: CompiledSchema, near_misses: Sequence[NearMiss]
) -> Coverage:
    """Return the coverage of a schema by near misses, as `find_near_misses` made them.

    Args:
        compiled: The schema.
        near_misses: Its near misses.
    """
    reachable = find_reachable_keywords(compiled)
    have = {
        pointer for near_miss in near_misses for pointer in keyword_pointers(near_miss)
    }
    implied = 0
    covered: Counter[str] = Counter()
    missing: list[tuple[str, str]] = []
    for assertion in reachable.assertions:
        if assertion.pointer in have:
            covered[assertion.keyword] += 1
            continue
        if find_proof(compiled, assertion):
            implied += 1
        else:
            missing.append((assertion.keyword, assertion.pointer))
    keywords = {assertion.keyword for assertion in reachable.assertions}
    lost = {keyword for keyword, _ in missing} - covered.keys()
    count = Counter(near_miss.keyword == TYPE for near_miss in near_misses)
    room = {
        True: max(0, most_types(count[False]) - count[True]),
        False: max(0, most_others(len(reachable.assertions)) - count[False]),
    }
    missing = [pair for pair in missing if pair[0] in lost or room[pair[0] == TYPE]]
    open_pairs = Counter(keyword == TYPE for keyword, _ in missing)
    return Coverage(
        pairs=len(reachable.assertions),
        covered=covered.total(),
        implied=implied,
        possible=covered.total() + sum((open_pairs & Counter(room)).values()),
        missing=tuple(missing),
        keywords=len(keywords),
        keywords_covered=len(covered),
        keywords_implied=len(keywords) - len(covered) - len(lost),
        complete=reachable.complete,
    )


def keyword_pointers(near_miss: NearMiss) -> list[str]:
    """Return the JSON pointer of the keyword in every schema that refuses for it."""
    pointers = [schema_pointer for _, schema_pointer, _ in near_miss.keywords]
    return pointers or [near_miss.schema_pointer]
