"""Search near misses: a witness with one value edited, so that one keyword fails.

What they cover of the schema is counted, too.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from curation.core.benchmark import InstanceKind
from curation.core.json_types import Json
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjunction import Goals, Negation, conjoin
from curation.instances.constraints.keyword_values import (
    COMPANIONS,
    DECIDING,
    read_names,
)
from curation.instances.judging.violations import (
    FALSE,
    MIXED,
    as_near_miss,
    fails_at,
)
from curation.instances.model import MissingReason, to_text
from curation.instances.near_misses.assertions import Assertion, find_reachable_keywords
from curation.instances.near_misses.edits import EDITS, EditTarget, is_complete
from curation.instances.near_misses.implications import cannot_fail_alone
from curation.instances.near_misses.sites import (
    EditSite,
    KnownSites,
    edit_sites,
    goals_for_path,
    goals_of_held_branches,
    with_edit,
)
from curation.instances.witnesses.builder import (
    NOTHING,
    ExhaustedError,
    Nothing,
    WitnessBuilder,
)
from curation.instances.witnesses.reach import MAX_ENTERED, count_entered_schemas
from curation.json.pointer import at, parse_tokens, replaced
from curation.json.text import canonical
from curation.json.values import identity
from curation.schema.subschemas import SchemaLocation

if TYPE_CHECKING:
    from curation.instances.model import NearMiss, Witness


#: Steps of the search for a value to put into a witness.
_STEPS: Final = 400


def _least_value(
    compiled: CompiledSchema, goals: Goals, rng: random.Random
) -> Json | Nothing:
    """Return a least value that meets goals, or NOTHING."""
    builder = WitnessBuilder(
        compiled=compiled, rng=rng, kind=InstanceKind.MINIMAL, steps=_STEPS
    )
    try:
        return builder.value(goals)
    except (ExhaustedError, RecursionError):
        return NOTHING


#: The name under which the keyword is kept.
_ASIDE: Final = "csbdata:aside"
#: Keywords that mean nothing without the one taken out.
_DEPENDANTS: Final[dict[str, tuple[str, ...]]] = {
    "exclusiveMinimum": ("minimum",),
    "exclusiveMaximum": ("maximum",),
    "contains": ("minContains", "maxContains"),
    "if": ("then", "else"),
}


class _RelaxedSchema:
    """A schema without one keyword, which its values must fail."""

    def __init__(self, compiled: CompiledSchema, assertion: Assertion) -> None:
        """Take the keyword out of a copy; the schema itself is left as it is."""
        location, keyword = assertion.location, assertion.keyword
        removed = {keyword, *_DEPENDANTS.get(keyword, ())}
        relaxed: dict[str, Json] = {
            name: value
            for name, value in location.schema.items()
            if name not in removed
        }
        relaxed[_ASIDE] = {
            name: location.schema[name]
            for name in (keyword, *COMPANIONS.get(keyword, ()))
            if name in location.schema
        }
        schema = replaced(compiled.value, location.tokens, relaxed)
        self.compiled = CompiledSchema(schema, compiled.dialect)
        self.denied = Negation(self.compiled.location_at((*location.tokens, _ASIDE)))

    def goals(self, goals: Goals) -> Goals:
        """Return the same goals in the copy, but for those inside the keyword."""
        locations = []
        for goal in goals:
            if isinstance(goal, SchemaLocation) and not goal.document:
                with suppress(LookupError):
                    locations.append(self.compiled.location_at(goal.tokens))
        return (*locations, self.denied)


#: What an engine meets token by token comes first; the rest in the schema's order.
_PRIORITY: Final = (
    *("additionalProperties", "type", "enum", "const", "minimum", "maximum"),
    *("exclusiveMinimum", "exclusiveMaximum", "maxItems", "maxLength", "required"),
    *("pattern", "format", "minItems", "minLength"),
)
#: Verdicts of a validator on a small witness; a large one costs more.
_VERDICTS: Final = 900
#: The same for `type`, edited last, with the remainder of the others.
_TYPE_VERDICTS: Final = 200
#: Edits tried for one keyword at one site, and inside of a branch.
_EDITS: Final = 24
_BRANCH_EDITS: Final = 6
#: Searches without the keyword.
_SEARCHES: Final = 24
#: Both for keywords that the search did not reach.
_MORE_VERDICTS: Final = 900
_MORE_SEARCHES: Final = 100
#: Near misses beyond one for each assertion: inside of anyOf and the like.
_DEEPER: Final = 8
#: Names of one `required` left out in turn, at most.
_NAMES: Final = 3
#: Witnesses made to reach more than the given ones.
_WITNESSES: Final = 24
#: Sites of one keyword for which a search without the keyword is tried.
_SEARCHED_SITES: Final = 2
#: Parts of a text, of equal length: one near miss for each keyword and part.
_PARTS: Final = 4
#: Share of the edited witnesses that end soon after the edit.
_CUT: Final = 0.7
#: Values of instances to which a witness is made to reach, for one keyword.
_REACHED: Final = 2
#: The keyword that every engine refuses at the first byte of a value.
_TYPE: Final = "type"
#: Near misses by other keywords: of most schemas, and of the largest.
_USUAL: Final = 24
_MAX_SIZE: Final = 40
#: Pairs of a place and a keyword, beyond the usual number, for one near miss more.
_PAIRS: Final = 8
#: Near misses by `type` of schemas that have hardly any others.
_MIN_TYPES: Final = 3


def max_other_misses(pairs: int) -> int:
    """Return the most near misses by keywords other than `type`.

    Args:
        pairs: The schema's pairs of a place and such a keyword.

    Example:
        >>> [max_other_misses(pairs) for pairs in (5, 24, 64, 9_000)]
        [24, 24, 29, 40]
    """
    return min(_MAX_SIZE, _USUAL + max(0, pairs - _USUAL) // _PAIRS)


def max_type_misses(count: int) -> int:
    """Return the most near misses by `type`.

    Args:
        count: Near misses by other keywords found.
    """
    return max(_MIN_TYPES, count // 2)


def find_near_misses(
    compiled: CompiledSchema,
    witnesses: Sequence[Witness],
    seed: int = 0,
    limit: int | None = None,
) -> list[NearMiss]:
    """Return distinct near misses, each of which fails one keyword.

    Keywords other than `type` come first: each of them, then each schema location, the
    outermost first, then schemas inside `anyOf` and the like, where that keyword
    fails, then other parts of the text for each location. `type` gets half as many. A
    schema whose references multiply exponentially gets none.

    Args:
        compiled: The schema.
        witnesses: Values that it accepts; without any the result is empty.
        seed: Seed of random choices.
        limit: Maximum of near misses by other keywords than `type`; None to decide by
            the size of the schema.

    Example:
        >>> compiled = CompiledSchema.from_json({"minimum": 3}, "draft-07")
        >>> witness = Witness(kind=InstanceKind.MINIMAL, value=3)
        >>> found = find_near_misses(compiled, [witness])
        >>> [(near_miss.value, near_miss.keyword) for near_miss in found]
        [(2, 'minimum')]
    """
    if count_entered_schemas(compiled) > MAX_ENTERED:
        return []
    return search_near_misses(compiled, witnesses, seed, limit)[0]


def search_near_misses(
    compiled: CompiledSchema,
    witnesses: Sequence[Witness],
    seed: int = 0,
    limit: int | None = None,
) -> tuple[list[NearMiss], Mapping[str, MissingReason]]:
    """Return what `find_near_misses` does, and why other keywords have none.

    The reasons are by the keyword's pointer; one without reason was never tried.
    """
    if not witnesses:
        return [], {}
    text = compiled.canonical + b"near" + str(seed).encode()
    rng = random.Random(hashlib.sha256(text).digest())  # noqa: S311 - no secret
    if limit is None:
        limit = max_other_misses(len(find_reachable_keywords(compiled).assertions))
    search = _NearMissSearch(compiled, witnesses, rng)
    found = search.run(limit), search.reasons()
    for relaxed in search.relaxed.values():
        relaxed.compiled.forget()
    return found


class _NearMissSearch:
    def __init__(
        self,
        compiled: CompiledSchema,
        witnesses: Sequence[Witness],
        rng: random.Random,
    ) -> None:
        self.compiled, self.rng = compiled, rng
        self.reachable = find_reachable_keywords(compiled)
        #: By the pointer of the keyword that fails, how (`_part`).
        self.parts: dict[str, list[int | str]] = {}
        self.near_misses: list[NearMiss] = []
        #: Identities of the values found.
        self.identities: set[bytes] = set()
        #: What is left of the effort.
        self.verdicts_left: float = _VERDICTS
        self.searches_left, self.witnesses_left = _SEARCHES, _WITNESSES
        self.sites = KnownSites(compiled)
        self.relaxed: dict[Assertion, _RelaxedSchema] = {}
        for witness in sorted(
            witnesses, key=lambda candidate: len(canonical(candidate.value))
        ):
            self.sites.add_witness(witness.value)

    def run(self, limit: int) -> list[NearMiss]:
        """Return the near misses, the most informative first.

        Args:
            limit: Maximum of near misses by other keywords than `type`.
        """
        by_keyword: dict[str, list[Assertion]] = {}
        for assertion in self.reachable.assertions:
            by_keyword.setdefault(assertion.keyword, []).append(assertion)
        types = _spread(by_keyword.pop(_TYPE, []))
        groups = [by_keyword[keyword] for keyword in sorted(by_keyword, key=_rank)]
        for assertions in (*groups, types):
            for assertion in assertions:
                if self._find(assertion):
                    break
        self._in_turn(groups, self._find, limit)
        room = min(limit - self._count_others(), _DEEPER)
        deeper = self._inside_branches(room)
        self._in_turn(groups, self._vary, limit - len(deeper))
        required = by_keyword.get("required", [])
        self._in_turn([required], self._vary, limit - len(deeper))
        if self.verdicts_left <= 0 or self.searches_left <= 0:
            self.verdicts_left, self.searches_left = _MORE_VERDICTS, _MORE_SEARCHES
            self._in_turn(groups, self._find, limit - len(deeper))
        self.verdicts_left += _TYPE_VERDICTS
        max_types = max_type_misses(self._count_others() + len(deeper))
        for assertion in types:
            if len(self.near_misses) - self._count_others() >= max_types:
                break
            self._find(assertion)
        self.near_misses.sort(
            key=lambda miss: (_rank(miss.keyword), miss.instance_pointer.count("/"))
        )
        return self.near_misses + deeper

    def reasons(self) -> Mapping[str, MissingReason]:
        """Return why keywords have no near miss, as far as they were tried."""
        exhausted = self.verdicts_left <= 0 or self.searches_left <= 0
        tried = MissingReason.EXHAUSTED if exhausted else MissingReason.TOGETHER
        return {
            assertion.pointer: tried
            if assertion in self.sites
            else MissingReason.UNREACHED
            for assertion in self.reachable.assertions
            if assertion.pointer not in self.parts
        }

    def _count_others(self) -> int:
        return sum(near_miss.keyword != _TYPE for near_miss in self.near_misses)

    def _in_turn(
        self,
        by_keyword: Sequence[Sequence[Assertion]],
        find: Callable[[Assertion], bool],
        limit: int,
    ) -> None:
        """Go on with each keyword in turn, a near miss at a time, up to the maximum."""
        pending = [list(assertions) for assertions in by_keyword]
        while any(pending):
            for assertions in pending:
                while assertions:
                    if self._count_others() >= limit:
                        return
                    if find(assertions.pop(0)):
                        break

    def _inside_branches(self, room: int) -> list[NearMiss]:
        """Fail keywords inside branches; it is the keyword of the branches that fails.

        Args:
            room: Maximum of results.
        """
        near_misses: list[NearMiss] = []
        tried = set(self.reachable.assertions)
        for witness in self.sites.witnesses:
            if len(near_misses) >= room:
                break
            for site in edit_sites(self.compiled, witness, inside=True):
                for assertion in site.assertions:
                    if assertion in tried or len(near_misses) >= room:
                        continue
                    tried.add(assertion)
                    near_misses += self._inside_branch(assertion, site)
        return near_misses

    def _inside_branch(self, assertion: Assertion, site: EditSite) -> list[NearMiss]:
        for new in self._edits(assertion, site, _BRANCH_EDITS):
            value = self._edited(site, new)
            near_miss, key = as_near_miss(self.compiled, value), identity(value)
            is_new = near_miss is not None and key not in self.identities
            if near_miss and is_new and near_miss.keyword in DECIDING:
                self.identities.add(key)
                position = fails_at(self.compiled, near_miss)
                return [replace(near_miss, fails_at=position)]
        return []

    def _find(self, assertion: Assertion) -> bool:
        """Find a near miss for an assertion; return whether a new one was found."""
        if assertion.pointer in self.parts or assertion in self.relaxed:
            return False
        if assertion not in self.sites and self.witnesses_left > 0:
            self.witnesses_left -= 1
            self._make_site(assertion)
        sites = self.sites.of_assertion(assertion)
        for site in sites:
            is_cut = self.rng.random() < _CUT
            if self._try_edits(assertion, self.sites.cut(site) if is_cut else site):
                return True
        if cannot_fail_alone(self.compiled, assertion):
            return False
        return any(
            self._search_relaxed(assertion, site) for site in sites[:_SEARCHED_SITES]
        )

    def _vary(self, assertion: Assertion) -> bool:
        """Find a near miss that fails an assertion in another part of the text."""
        sites = self.sites.of_assertion(assertion)
        if assertion.pointer not in self.parts or not sites:
            return False
        is_late = _PARTS - 1 in self.parts[assertion.pointer]
        site = sites[0] if is_late else self.sites.cut(sites[-1])
        tries = _NAMES if assertion.keyword == "required" else 1
        return any(
            self._keep(assertion, site, new, [], again=True)
            for new in self._edits(assertion, site, tries)
        )

    def _try_edits(self, assertion: Assertion, site: EditSite) -> bool:
        second_choices: list[Json] = []
        for new in self._edits(assertion, site, _EDITS):
            if self._keep(assertion, site, new, second_choices):
                return True
        return any(self._keep(assertion, site, new, None) for new in second_choices[:1])

    def _edits(
        self, assertion: Assertion, site: EditSite, limit: int
    ) -> Iterator[Json]:
        """Yield values to put at a site, as long as verdicts are left."""
        for new in islice(self._all_edits(assertion, site), limit):
            if self.verdicts_left <= 0:
                break
            yield new

    def _all_edits(self, assertion: Assertion, site: EditSite) -> Iterator[Json]:
        if assertion.keyword == FALSE:
            yield from (7, "text", None)
            return
        target = EditTarget(
            value=site.value,
            schema=assertion.location.schema,
            keyword=assertion.keyword,
            compiled=self.compiled,
            conjunction=conjoin(self.compiled, site.goals),
            rng=self.rng,
            fill=self._make,
        )
        # An integer beyond doubles has no half.
        with suppress(OverflowError):
            yield from filter(is_complete, EDITS[assertion.keyword](target))

    def _make(self, goals: Goals) -> Json | Nothing:
        return _least_value(self.compiled, goals, self.rng)

    def _edited(self, site: EditSite, new: Json) -> Json:
        """Return the edited witness, its verdict paid for."""
        value = with_edit(site.witness, site.path, new)
        self.verdicts_left -= self.sites.cost(site)
        return value

    def _keep(
        self,
        assertion: Assertion,
        site: EditSite,
        new: Json,
        second_choices: list[Json] | None,
        *,
        again: bool = False,
    ) -> bool:
        """Keep an edited witness if it fails one keyword that has no near miss yet.

        Args:
            assertion: The keyword to fail.
            site: The place to edit.
            new: The new value.
            second_choices: Gets the new value if a keyword other than `format` fails
                because of formats alone. None to keep that, too.
            again: Keep it if the keyword of the assertion has near misses, but none
                that fails it like this.

        Returns:
            Whether it is the keyword of the assertion that fails.
        """
        value = self._edited(site, new)
        near_miss = as_near_miss(self.compiled, value)
        if near_miss is None or near_miss.keyword == MIXED:
            return False
        failing, key = _keyword_pointers(near_miss), identity(value)
        is_known = all(pointer in self.parts for pointer in failing)
        if key in self.identities or is_known != again:
            return False
        near_miss = replace(near_miss, fails_at=fails_at(self.compiled, near_miss))
        part = self._part(near_miss)
        if again and part in self.parts.get(assertion.pointer, ()):
            return False
        if (
            second_choices is not None
            and near_miss.keyword != "format"
            and self.compiled.is_valid_without_formats(value)
        ):
            second_choices.append(new)
            return False
        self.identities.add(key)
        self.near_misses.append(near_miss)
        for pointer in failing:
            self.parts.setdefault(pointer, []).append(part)
        return assertion.pointer in failing

    def _part(self, near_miss: NearMiss) -> int | str:
        """Return the part of the text that fails; of `required`, the names missing."""
        if near_miss.keyword == "required":
            with suppress(LookupError):
                schema = parse_tokens(near_miss.schema_pointer)
                names = read_names(at(self.compiled.value, schema))
                value = at(near_miss.value, parse_tokens(near_miss.instance_pointer))
                present = value if isinstance(value, dict) else {}
                return " ".join(sorted({*names}.difference(present)))
        return near_miss.fails_at * _PARTS // len(to_text(near_miss.value))

    def _search_relaxed(self, assertion: Assertion, site: EditSite) -> bool:
        """Search a value for a site in the schema without the keyword."""
        if self.searches_left <= 0 or assertion.keyword == FALSE:
            return False
        self.searches_left -= 1
        if assertion not in self.relaxed:
            self.relaxed[assertion] = _RelaxedSchema(self.compiled, assertion)
        relaxed = self.relaxed[assertion]
        branch_goals = goals_of_held_branches(self.compiled, site.witness, site.path)
        for goals in (site.goals, branch_goals):
            new = _least_value(relaxed.compiled, relaxed.goals(goals), self.rng)
            if not isinstance(new, Nothing) and self._keep(assertion, site, new, None):
                return True
        return False

    def _make_site(self, assertion: Assertion) -> None:
        """Make a witness in which the keyword applies to some value.

        Where none is found, a witness is taken that has no value there yet: every
        new value is wrong.
        """
        locations = self.reachable.assertions[assertion]
        for location in locations[:_REACHED]:
            value = self._make((self.compiled.root, *goals_for_path(location.path)))
            if not isinstance(value, Nothing) and self.compiled.is_valid(value):
                self.sites.add_witness(value)
                if assertion in self.sites:
                    return
        self.sites.add_empty(assertion, locations[0])


def _spread(assertions: Sequence[Assertion]) -> list[Assertion]:
    """Return assertions so that the first few are from everywhere in the schema.

    Example:
        >>> _spread([0, 1, 2, 3, 4, 5, 6, 7])
        [0, 4, 2, 6, 1, 5, 3, 7]
    """
    width = max(len(assertions) - 1, 1).bit_length()
    places = range(len(assertions))
    return [
        assertions[index]
        for index in sorted(places, key=lambda index: f"{index:0{width}b}"[::-1])
    ]


def _rank(keyword: str) -> int:
    return _PRIORITY.index(keyword) if keyword in _PRIORITY else len(_PRIORITY)


def _keyword_pointers(near_miss: NearMiss) -> list[str]:
    """Return the JSON pointer of the keyword in every schema that refuses for it."""
    pointers = [schema_pointer for _, schema_pointer, _ in near_miss.keywords]
    return pointers or [near_miss.schema_pointer]


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
    #: Keyword, pointer and reason of those that are neither. Where the maximum was
    #: reached, only those whose keyword has no near miss at all.
    missing: tuple[tuple[str, str, MissingReason], ...]
    #: The same, a keyword counting once for the whole schema.
    keywords: int
    keywords_covered: int
    keywords_implied: int
    #: Whether the whole schema was visited.
    complete: bool


def measure_coverage(
    compiled: CompiledSchema,
    near_misses: Sequence[NearMiss],
    reasons: Mapping[str, MissingReason],
) -> Coverage:
    """Return the coverage of a schema by what `search_near_misses` returned.

    Args:
        compiled: The schema.
        near_misses: Its near misses.
        reasons: Why other keywords have none.
    """
    reachable = find_reachable_keywords(compiled)
    have = {
        pointer for near_miss in near_misses for pointer in _keyword_pointers(near_miss)
    }
    implied = 0
    covered: Counter[str] = Counter()
    missing: list[tuple[str, str, MissingReason]] = []
    for assertion in reachable.assertions:
        if assertion.pointer in have:
            covered[assertion.keyword] += 1
            continue
        if cannot_fail_alone(compiled, assertion):
            implied += 1
        else:
            reason = reasons.get(assertion.pointer, MissingReason.EXHAUSTED)
            missing.append((assertion.keyword, assertion.pointer, reason))
    keywords = {assertion.keyword for assertion in reachable.assertions}
    lost = {keyword for keyword, *_ in missing} - covered.keys()
    count = Counter(near_miss.keyword == _TYPE for near_miss in near_misses)
    room = {
        True: max(0, max_type_misses(count[False]) - count[True]),
        False: max(0, max_other_misses(len(reachable.assertions)) - count[False]),
    }
    missing = [pair for pair in missing if pair[0] in lost or room[pair[0] == _TYPE]]
    open_pairs = Counter(keyword == _TYPE for keyword, *_ in missing)
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
