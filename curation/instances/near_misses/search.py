"""Near misses: a witness with one place edited, so that one keyword fails."""

from __future__ import annotations

import hashlib
import math
import random
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.goals import Atom, Goals
from curation.instances.constraints.reachable_keywords import (
    find_reachable_keywords,
)
from curation.instances.constraints.validation_cost import count_entered_schemas
from curation.instances.constraints.violations import (
    DECIDING,
    FALSE,
    MIXED,
    as_near_miss,
)
from curation.instances.model import InstanceKind, NearMiss, Witness
from curation.instances.near_misses.coverage import pointers
from curation.instances.near_misses.edit_sites import (
    EditSite,
    edited,
    forbidden,
    holding,
    member,
    sites,
)
from curation.instances.near_misses.edit_table import EDITS
from curation.instances.near_misses.edit_target import EditTarget
from curation.instances.near_misses.relaxed_search import RelaxedSchema
from curation.instances.proofs.implied import implied
from curation.instances.witnesses.builder import WitnessBuilder
from curation.instances.witnesses.context import (
    NOTHING,
    BuildContext,
    ExhaustedError,
    Nothing,
)
from curation.json.text import canonical
from curation.json.values import identity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.reachable_keywords import (
        Assertion,
        InstanceLocation,
        ReachableKeywords,
    )

#: What an engine meets token by token comes first; the rest in the schema's order.
PRIORITY: Final = (
    "additionalProperties",
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "maxItems",
    "maxLength",
    "required",
    "pattern",
    "format",
    "minItems",
    "minLength",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much one schema may cost; counts, not seconds, so that runs are equal."""

    #: Edited values that the validator is asked about, weighted by their size.
    verdicts: int = 900
    #: Edits tried for one keyword at one site.
    tries: int = 24
    #: Sites tried for one keyword.
    sites: int = 3
    #: Searches without the keyword, and the steps of each.
    searches: int = 24
    steps: int = 400
    #: Near misses beyond one for each pair: inside of anyOf and the like.
    deeper: int = 8
    #: Witnesses made to reach what the given ones do not.
    witnesses: int = 24


_USUAL: Final = Effort()
#: Of a schema that weighs more, the errors alone may take seconds.
_HEAVIEST: Final = 20_000


def near_misses(
    compiled: CompiledSchema,
    witnesses: Sequence[Witness],
    seed: int = 0,
    most: int = 24,
    effort: Effort = _USUAL,
) -> list[NearMiss]:
    """Return distinct near misses, at most so many, each of which fails one keyword.

    Each is labelled by jsonschema-rs. First every keyword of the record is served,
    then every place, the outermost first, then what stands inside of anyOf and the
    like, where the label is that of the outermost keyword that decides. A schema
    whose references multiply beyond measure gets none.
    """
    if not witnesses or count_entered_schemas(compiled, compiled.root) > _HEAVIEST:
        return []
    text = canonical(compiled.schema) + b"near" + str(seed).encode()
    rng = random.Random(hashlib.sha256(text).digest())  # noqa: S311 - no secret
    return _Making(compiled, witnesses, rng, most, effort).run()


@dataclass(slots=True)
class _Left:
    verdicts: float
    searches: int
    witnesses: int


class _Making:
    def __init__(
        self,
        compiled: CompiledSchema,
        witnesses: Sequence[Witness],
        rng: random.Random,
        most: int,
        effort: Effort,
    ) -> None:
        self.compiled, self.rng = compiled, rng
        self.most, self.effort = most, effort
        self.reach: ReachableKeywords = find_reachable_keywords(compiled)
        self.found: dict[str, NearMiss] = {}
        self.count = 0
        self.seen: set[bytes] = set()
        self.left = _Left(effort.verdicts, effort.searches, effort.witnesses)
        self.sites: dict[Assertion, list[EditSite]] = {}
        self.loosened: dict[Assertion, RelaxedSchema] = {}
        #: Every witness that is edited, made ones too.
        self.bases: list[UntypedJson] = []
        self.sizes: dict[int, float] = {}
        ordered = sorted(witnesses, key=lambda each: len(canonical(each.value)))
        for each in ordered:
            self._add_witness(each.value)

    def _add_witness(self, value: UntypedJson) -> None:
        self.bases.append(value)
        self.sizes[id(value)] = 1 + len(canonical(value)) / 4_000
        for site in sites(self.compiled, value):
            for pair in site.pairs:
                known = self.sites.setdefault(pair, [])
                if len(known) < self.effort.sites:
                    known.append(site)
            for pair, name in forbidden(self.compiled, site):
                path = (*site.path, name)
                place = EditSite(
                    witness=value, path=path, value=None, goals=(), pairs=(pair,)
                )
                self.sites.setdefault(pair, []).append(place)

    def run(self) -> list[NearMiss]:
        by_keyword: dict[str, list[Assertion]] = {}
        for pair in self.reach.assertions:
            by_keyword.setdefault(pair.keyword, []).append(pair)
        order = sorted(by_keyword, key=_rank)
        for keyword in order:
            for pair in by_keyword[keyword]:
                if self._serve(pair):
                    break
        pending = [list(by_keyword[keyword]) for keyword in order]
        while any(pending) and self.count < self.most:
            for pairs in pending:
                while pairs and self.count < self.most:
                    if self._serve(pairs.pop(0)):
                        break
        distinct = {id(each): each for each in self.found.values()}
        cases = sorted(distinct.values(), key=_order)[: self.most]
        return cases + self._deeper(min(self.most - len(cases), self.effort.deeper))

    def _deeper(self, room: int) -> list[NearMiss]:
        """Fail keywords inside branches; the keyword of the branches is the label."""
        cases: list[NearMiss] = []
        tried: set[Assertion] = set()
        for witness in self.bases:
            if len(cases) >= room:
                break
            for site in sites(self.compiled, witness, inside=True):
                for pair in site.pairs:
                    if pair in tried or pair in self.reach.assertions:
                        continue
                    tried.add(pair)
                    case = self._inside(pair, site) if len(cases) < room else None
                    cases += [] if case is None else [case]
        return cases

    def _inside(self, pair: Assertion, site: EditSite) -> NearMiss | None:
        for new in islice(self._edits(pair, site), self.effort.tries // 4):
            if self.left.verdicts <= 0:
                break
            value = edited(site.witness, site.path, new)
            self.left.verdicts -= self.sizes[id(site.witness)]
            case, known = as_near_miss(self.compiled, value), identity(value)
            if case and case.keyword in DECIDING and known not in self.seen:
                self.seen.add(known)
                return case
        return None

    def _serve(self, pair: Assertion) -> bool:
        """Find a near miss for a pair that has none; tell whether one was found."""
        if pair.pointer in self.found or pair in self.loosened:
            return False
        if pair not in self.sites and self.left.witnesses > 0:
            self.left.witnesses -= 1
            self._reach(pair)
        here = self.sites.get(pair, [])
        if any(self._edit(pair, each) for each in here):
            return True
        if implied(self.compiled, pair, self.reach.assertions[pair]):
            return False
        return any(self._search(pair, each) for each in here[:2])

    def _edit(self, pair: Assertion, site: EditSite) -> bool:
        for new in islice(self._edits(pair, site), self.effort.tries):
            if self.left.verdicts <= 0:
                break
            if self._judge(pair, site, new):
                return True
        return False

    def _edits(self, pair: Assertion, site: EditSite) -> Iterator[UntypedJson]:
        if pair.keyword == FALSE:
            yield from (7, "text", None)
            return
        target = EditTarget(
            value=site.value,
            schema=pair.location.schema,
            keyword=pair.keyword,
            compiled=self.compiled,
            conjunction=conjoin(self.compiled, site.goals),
            rng=self.rng,
            fill=self._fill,
        )
        for new in EDITS[pair.keyword](target):
            if _is_whole(new):
                yield new

    def _fill(self, goals: Goals) -> UntypedJson | Nothing:
        return self._make(goals, BuildContext())

    def _make(self, goals: Goals, context: BuildContext) -> UntypedJson | Nothing:
        builder = WitnessBuilder(
            compiled=self.compiled,
            rng=self.rng,
            kind=InstanceKind.MINIMAL,
            steps=self.effort.steps,
        )
        try:
            return builder.value(goals, context)
        except (ExhaustedError, RecursionError):
            return NOTHING

    def _judge(self, pair: Assertion, site: EditSite, new: UntypedJson) -> bool:
        value = edited(site.witness, site.path, new)
        self.left.verdicts -= self.sizes[id(site.witness)]
        case = as_near_miss(self.compiled, value)
        if case is None or case.keyword == MIXED:
            return False
        named, known = pointers(case), identity(value)
        if known in self.seen or not any(each not in self.found for each in named):
            return False
        self.seen.add(known)
        self.count += 1
        for each in named:
            self.found.setdefault(each, case)
        return pair.pointer in named

    def _search(self, pair: Assertion, site: EditSite) -> bool:
        if self.left.searches <= 0 or pair.keyword == FALSE:
            return False
        self.left.searches -= 1
        if pair not in self.loosened:
            self.loosened[pair] = RelaxedSchema(self.compiled, pair)
        loose = self.loosened[pair]
        for goals in (site.goals, holding(self.compiled, site.witness, site.path)):
            new = loose.value(goals, self.rng, self.effort.steps)
            if new is not NOTHING and self._judge(pair, site, new):
                return True
        return False

    def _reach(self, pair: Assertion) -> None:
        """Make a witness in which the keyword applies to some value."""
        for context in self.reach.assertions[pair][:2]:
            value = self._make((self.compiled.root, *_forced(context)), BuildContext())
            if value is not NOTHING and self.compiled.is_valid(value):
                self._add_witness(value)
                if pair in self.sites:
                    return
        self._place(pair, self.reach.assertions[pair][0])

    def _place(self, pair: Assertion, context: InstanceLocation) -> None:
        """Take a place that no witness fills: whatever stands there is wrong."""
        if not context.path:
            return
        *above, last = context.path
        for witness in self.bases:
            holder = reduce(member, above, witness)
            if isinstance(holder, dict if isinstance(last, str) else list):
                if isinstance(last, int) and last != len(holder):
                    continue
                place = EditSite(
                    witness=witness,
                    path=context.path,
                    value=None,
                    goals=context.goals,
                    pairs=(pair,),
                )
                self.sites.setdefault(pair, []).append(place)
                return


def _forced(context: InstanceLocation) -> Goals:
    """Return goals that make a value stand at the path of a context."""
    goals: Goals = ()
    for step in reversed(context.path):
        if isinstance(step, int):
            atom = Atom(
                types=("array",),
                schema={"minItems": step + 1},
                elements={step: goals},
            )
        else:
            atom = Atom(
                types=("object",),
                schema={"required": [step]},
                members={step: goals},
            )
        goals = (atom,)
    return goals


def _is_whole(value: UntypedJson | Nothing) -> bool:
    """Tell whether everything that an edit wanted made was made, and is JSON."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return not any(isinstance(each, Nothing) for each in value)
    return not isinstance(value, Nothing)


def _rank(keyword: str) -> int:
    return PRIORITY.index(keyword) if keyword in PRIORITY else len(PRIORITY)


def _order(case: NearMiss) -> tuple[int, int]:
    return _rank(case.keyword), case.instance_pointer.count("/")
