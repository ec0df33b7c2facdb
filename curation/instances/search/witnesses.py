"""Search witnesses: small, full and random ones, and ones for what these miss."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.constraints.interpretations import Interpretations
from curation.instances.search.builder import WitnessSearch, goals_beyond, is_trivial
from curation.instances.search.context import NOTHING, BuildContext, Nothing
from curation.instances.search.reach import Guide, SchemaGraph, reached_by
from curation.instances.values.model import (
    InstanceKind,
    SearchFailure,
    Witness,
    Witnesses,
)
from curation.json.values import identity

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.conjunction import Goals
    from curation.schema.subschemas import SchemaLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much one schema may cost; steps, not seconds, so that runs are equal."""

    #: Steps of the search for one witness.
    steps: int = 8_000
    #: Values in a `full` witness after which only required ones are made.
    full: float = 250
    random: float = 60
    #: Witnesses that are looked for: the minimal one, the full one, and random ones as
    #: far as covering ones leave room.
    count: int = 4
    #: Witnesses that are made for what these do not reach; four times as many at most
    #: where they reach much.
    covering: int = 0
    #: Times that a value which the validator refuses is made anew.
    repairs: int = 6


_PLENTY = Budget()
#: Witnesses of a schema each of whose witnesses some reader refuses.
_DISPUTED = 1
#: Which failure is reported where several were met: the first of these.
_ORDER = (
    SearchFailure.TOO_LARGE,
    SearchFailure.EXHAUSTED,
    SearchFailure.ENDLESS,
    SearchFailure.REFUSED,
    SearchFailure.PATTERN,
    SearchFailure.CONTRADICTION,
)


def find_witnesses(
    compiled: CompiledSchema, seed: int = 0, budget: Budget = _PLENTY
) -> Witnesses:
    """Return distinct values that jsonschema-rs accepts, or why none was found.

    They are valid by each interpretation of the schema, or, if no such value is found,
    by the schema as its draft reads it, formats asserted.

    Args:
        compiled: The schema.
        seed: Seed of random choices, with the schema's content.
        budget: Number of witnesses, and steps.

    Example:
        >>> compiled = CompiledSchema.from_json({"const": 1}, "2020-12")
        >>> [witness.value for witness in find_witnesses(compiled).witnesses]
        [1]
    """
    return search_witnesses(Interpretations.of(compiled), seed, budget)


def search_witnesses(every: Interpretations, seed: int, budget: Budget) -> Witnesses:
    """Return what `find_witnesses` does, of a schema with its interpretations.

    Args:
        every: The schema.
        seed: Seed of random choices, with the schema's content.
        budget: Number of witnesses, and steps.
    """
    if detail := every.own.fault[:200]:
        return Witnesses(witnesses=(), failure=SearchFailure.UNUSABLE, detail=detail)
    plan = _Plan(every, seed, budget)
    result = plan.run()
    if not result.witnesses and plan.hinges_on_formats:
        result = _Plan(every.with_formats, seed, budget).run()
    if not result.witnesses and every.heeding:
        # Readers agree on no value: what some of them refuse is not made many times.
        few = replace(budget, count=_DISPUTED, covering=0)
        own_alone = replace(every.with_formats, heeding=None)
        result = _Plan(own_alone, seed, few).run()
    return result


class _Plan:
    """The searches for the witnesses of one schema, one after the other."""

    def __init__(
        self, interpretations: Interpretations, seed: int, budget: Budget
    ) -> None:
        self.interpretations = interpretations
        self.budget, self.steps = budget, budget.steps
        self.base = seed_of(interpretations.own, seed)
        self.witnesses: dict[bytes, Witness] = {}
        self.failures: dict[SearchFailure, str] = {}
        #: Whether a value was refused for formats that are not asserted.
        self.hinges_on_formats = False
        #: Searches so far: each has draws of its own.
        self.searches = 0

    def run(self) -> Witnesses:
        """Return what is found: small and large first, then what reaches the rest."""
        budget = self.budget
        plan = [(InstanceKind.MINIMAL, 0.0), (InstanceKind.FULL, budget.full)]
        for kind, allowance in plan[: budget.count]:
            self._search(kind, allowance)
        self._drop_trivial()
        if budget.covering and self.witnesses:
            self._cover()
        for _ in range(budget.count - max(len(plan), len(self.witnesses))):
            self._search(InstanceKind.RANDOM, budget.random)
        if self.witnesses:
            return Witnesses(witnesses=tuple(self.witnesses.values()))
        failure = next(
            (failure_met for failure_met in _ORDER if failure_met in self.failures),
            SearchFailure.EXHAUSTED,
        )
        detail = self.failures.get(failure, "")
        return Witnesses(witnesses=(), failure=failure, detail=detail)

    def _search(self, kind: InstanceKind, allowance: float) -> None:
        """Look for one witness, and for another one if it is empty."""
        value = self._one(kind, allowance, ())
        if value is not NOTHING and is_trivial(value):
            if not self.witnesses:
                self._keep(kind, value)
            for extra in goals_beyond(value):
                value = self._one(kind, allowance, extra)
                if value is not NOTHING:
                    break
        if value is not NOTHING:
            self._keep(kind, value)

    def _keep(self, kind: InstanceKind, value: Json) -> None:
        self.witnesses.setdefault(identity(value), Witness(kind=kind, value=value))

    def _one(
        self, kind: InstanceKind, allowance: float, extra: Goals
    ) -> Json | Nothing:
        rng = random.Random(self.base + _bytes_of(self.searches))  # noqa: S311 - no secret
        self.searches += 1
        search = WitnessSearch(
            interpretations=self.interpretations,
            rng=rng,
            kind=kind,
            context=BuildContext(allowance=allowance),
            repairs=self.budget.repairs,
            extra=extra,
        )
        value = search.run(self.steps)
        self.hinges_on_formats |= search.hinges_on_formats
        if value is NOTHING and SearchFailure.EXHAUSTED in search.failures:
            self.steps //= 4
        self.failures = {**search.failures, **self.failures}
        return value

    def _cover(self) -> None:
        witnesses = list(self.witnesses.values())
        values = cover(
            self.interpretations, witnesses, self.base, rounds=self.budget.covering
        )
        for value in values:
            self._keep(InstanceKind.COVERING, value)

    def _drop_trivial(self) -> None:
        telling = {
            key: witness
            for key, witness in self.witnesses.items()
            if not is_trivial(witness.value)
        }
        self.witnesses = telling or self.witnesses


def _bytes_of(number: int) -> bytes:
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8))


def seed_of(compiled: CompiledSchema, seed: int) -> bytes:
    """Return what the draws for a schema start from."""
    return hashlib.sha256(compiled.canonical + str(seed).encode()).digest()


#: Rounds that may go for a target before it is given up.
_TRIES: Final = 3
#: Rounds in a row that may reach nothing new.
_IDLE_ROUNDS: Final = 3
#: What the two rounds before, of which one is reversed, must have reached anew for a
#: round beyond those that are asked for; and how many times as many there may be then.
_ENOUGH: Final = 4
_TIMES: Final = 4
#: How many times fewer values the next witness has where none was found.
_FEWER: Final = 4
#: Steps of searches that reach nothing new. Without a limit, a third of the time of the
#: 118 costliest schemas of 1,595 went beyond it, for one target of 140.
_IN_VAIN: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveringBudget:
    """How much the covering witnesses of one schema may cost."""

    #: Values of one witness after which only required ones are made.
    values: int = 400
    #: Steps of the search for one of them.
    steps: int = 3_000
    #: Times that a value which the validator refuses is made anew.
    repairs: int = 4


_USUAL: Final = CoveringBudget()


def cover(
    interpretations: Interpretations,
    witnesses: Iterable[Witness],
    seed: bytes,
    *,
    rounds: int,
    budget: CoveringBudget = _USUAL,
) -> list[Json]:
    """Return values that reach what given witnesses do not.

    Args:
        interpretations: The schema; values are valid by each of them.
        witnesses: Values that it accepts.
        seed: Seed of random choices.
        rounds: Maximum of values; four times as many while they reach several places.
        budget: Size and steps of each.
    """
    graph = SchemaGraph(interpretations.strictest)
    rng = random.Random(seed + b"cover")  # noqa: S311 - no secret
    covering = _Covering(graph, interpretations, set(graph.targets()), budget, rng)
    for witness in witnesses:
        covering.note(reached_by(graph, witness.value))
    values = covering.run(rounds)
    if covering.hinges_on_formats and covering.unreached:
        covering.go_on_with_formats()
        values += covering.run(max(0, rounds - len(values)))
    return values


class _Attempt(NamedTuple):
    """The value of a search, or NOTHING, with the targets that it went for."""

    value: Json | Nothing
    #: All of them, also those that were taken back.
    tried: set[SchemaLocation]
    #: Those that the value was taken to reach. Of members of which one excludes the
    #: others, the rest stays for the next round.
    claimed: set[SchemaLocation]
    #: What it cost.
    steps: int


class _Covering:
    """The rounds for one schema."""

    def __init__(
        self,
        graph: SchemaGraph,
        interpretations: Interpretations,
        unreached: set[SchemaLocation],
        budget: CoveringBudget,
        rng: random.Random,
    ) -> None:
        self.graph, self.budget, self.rng = graph, budget, rng
        self.interpretations = interpretations
        #: Whether formats stood in the way of a value: it holds with them alone.
        self.hinges_on_formats = False
        self.unreached = unreached
        self.tries: Counter[SchemaLocation] = Counter()
        self.given_up: set[SchemaLocation] = set()
        self.rounds = 0
        #: Rounds beyond those that are asked for.
        self.turn = 0
        #: Steps of searches that reached nothing new.
        self.in_vain = 0
        #: Values of a witness after which only required ones are made.
        self.values = budget.values

    def note(self, reached: set[SchemaLocation]) -> int:
        """Take targets for reached; return how many of them were open."""
        before = len(self.unreached)
        self.unreached -= reached
        return before - len(self.unreached)

    def go_on_with_formats(self) -> None:
        """Let values hold with formats alone: where no other reaches what is left."""
        self.interpretations = self.interpretations.with_formats
        self.tries.clear()
        self.given_up.clear()
        self.in_vain = 0

    def run(self, rounds: int) -> list[Json]:
        """Return the values of all rounds."""
        values: list[Json] = []
        failures = new = before = 0
        for number in range(rounds * _TIMES):
            targets = self.unreached - self.given_up
            if not targets or failures >= _IDLE_ROUNDS or self.in_vain >= _IN_VAIN:
                break
            if number >= rounds and before + new < _ENOUGH:
                break
            self.rounds += 1
            self.turn = max(0, number + 1 - rounds)
            attempt = self._attempt(targets)
            before, new = new, 0
            if attempt.value is not NOTHING:
                new = self.note(reached_by(self.graph, attempt.value))
                self.values = min(2 * self.values, self.budget.values)
            else:
                # The more a value has, the more of it can be in each other's way.
                self.values = max(self.values // _FEWER, 1)
            if not new:
                self.in_vain += attempt.steps
            given_up = len(self.given_up)
            for target in (attempt.claimed if new else attempt.tried) & self.unreached:
                self.tries[target] += 1
                if self.tries[target] >= _TRIES:
                    self.given_up.add(target)
            if attempt.value is not NOTHING and new:
                values.append(attempt.value)
            # Where targets are given up, the next round goes for others.
            goes_on = new or len(self.given_up) > given_up
            failures = 0 if goes_on else failures + 1
        return values

    def _attempt(self, targets: set[SchemaLocation]) -> _Attempt:
        attempt = self._searched(targets, ())
        if attempt.value is not NOTHING and is_trivial(attempt.value):
            for extra in goals_beyond(attempt.value):
                telling = self._searched(targets, extra)
                attempt = attempt._replace(
                    tried=attempt.tried | telling.tried,
                    steps=attempt.steps + telling.steps,
                )
                if telling.value is not NOTHING:
                    return telling._replace(tried=attempt.tried, steps=attempt.steps)
        return attempt

    def _searched(self, targets: set[SchemaLocation], extra: Goals) -> _Attempt:
        guides: list[Guide] = []

        def guide() -> Guide:
            guides.append(
                Guide(
                    self.graph,
                    targets,
                    self.values,
                    is_reversed=self.rounds % 2 == 0,
                    turn=self.turn,
                )
            )
            return guides[-1]

        search = WitnessSearch(
            interpretations=self.interpretations,
            rng=self.rng,
            kind=InstanceKind.COVERING,
            context=BuildContext(),
            repairs=self.budget.repairs,
            extra=extra,
            guide=guide,
        )
        value = search.run(self.budget.steps)
        self.hinges_on_formats |= search.hinges_on_formats
        return _Attempt(
            value=value,
            tried=set().union(*(used.tried for used in guides)),
            claimed=guides[-1].claimed,
            steps=self.budget.steps - search.steps_left,
        )
