"""Keywords that cannot fail alone, each with the name of a proof.

A keyword is implied where, type by type, every value that fails it fails another
keyword for the same value too, or where no value of the type fails it at all. The
proofs are sound for how jsonschema-rs judges; no proof means nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.constraints.assertions import asserting_keywords
from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.goals import ALL_TYPES
from curation.instances.constraints.memo import Memo
from curation.instances.constraints.reachable_keywords import Assertion
from curation.instances.constraints.violations import FALSE
from curation.instances.proofs import bounds, objects, values
from curation.instances.proofs.question import ImplicationQuestion
from curation.instances.proofs.universal_verdicts import keyword_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.model import Conjunction
from curation.instances.constraints.reachable_keywords import (
    InstanceLocation,
    ReachableKeywords,
)

#: Values of instances looked at for one assertion; with more, nothing is claimed.
_MOST_LOCATIONS: Final = 64
_FOUND: Final = Memo[Assertion, str]()
NEVER_FAILS: Final = "never_fails"
OTHER_TYPE: Final = "other_type"
_PROOFS: Final[Mapping[str, Callable[[ImplicationQuestion], bool]]] = {
    "listed": values.listed,
    "lengths": bounds.lengths,
    "tighter_bound": bounds.tighter_bound,
    "item_count": bounds.item_count,
    "property_count": objects.property_count,
    "names": objects.names,
    "dependents": objects.dependents,
    "branch_repeats": values.branch_repeats,
    "branches_repeat": values.branches_repeat,
}


def find_proof(
    compiled: CompiledSchema,
    assertion: Assertion,
    reachable: ReachableKeywords,
) -> str:
    """Return the name of the proof that a keyword cannot fail alone, or "".

    It must hold for every value that the keyword is about; the first names the proof.

    Args:
        compiled: The schema.
        assertion: The keyword, and where its schema stands.
        reachable: What `find_reachable_keywords` has found for the schema.
    """
    known = _FOUND.of(compiled)
    if assertion not in known:
        locations = reachable.assertions[assertion]
        known[assertion] = _proof(compiled, assertion, locations)
    return known[assertion]


def _proof(
    compiled: CompiledSchema,
    assertion: Assertion,
    locations: Sequence[InstanceLocation],
) -> str:
    """Return the proof for the values of instances that an assertion is about."""
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
    others = tuple(
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
            others=others,
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
        for other in question.others
    ):
        return OTHER_TYPE
    return next((name for name, proof in _PROOFS.items() if proof(question)), "")
