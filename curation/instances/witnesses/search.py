"""Search witnesses: small, full and random ones, and ones for what these miss."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from curation.core.benchmark import InstanceKind
from curation.instances.constraints.conjunction import ALL_TYPES, ExtraConstraint, Goals
from curation.instances.constraints.interpretations import (
    Interpretations,
    make_interpretations,
)
from curation.instances.model import SearchFailure, Witness, Witnesses
from curation.instances.witnesses.builder import (
    NOTHING,
    BuildContext,
    ExhaustedError,
    Nothing,
    WitnessBuilder,
)
from curation.instances.witnesses.reach import Guide, SchemaGraph, reached_by
from curation.json.pointer import parse_tokens
from curation.json.values import identity

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.schema.subschemas import SchemaLocation


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """How much one schema may cost; steps, not seconds, so that runs are equal."""

    #: Steps of the search for one witness.
    steps: int = 8_000
    #: Values in a `full` witness after which only required ones are made.
    full: float = 250
    random: float = 60
    #: Witnesses looked for: the minimal one, the full one, and random ones as
    #: far as covering ones leave room.
    count: int = 4
    #: Witnesses made for what these do not reach; four times as many at most
    #: where they reach much.
    covering: int = 0


_PLENTY: Final = Budget()
#: Times that a value which the validator refuses is made again.
_REPAIRS: Final = 6
#: Witnesses of a schema each of whose witnesses some reader refuses.
_DISPUTED: Final = 1
#: Which failure is reported where several were met: the first of these.
_ORDER: Final = (
    SearchFailure.TOO_LARGE,
    SearchFailure.EXHAUSTED,
    SearchFailure.ENDLESS,
    SearchFailure.REFUSED,
    SearchFailure.PATTERN,
    SearchFailure.CONTRADICTION,
)
#: Goals of the least value that is neither null nor empty: of the type of an empty one
#: if possible.
_TELLING: Final[Goals] = (
    ExtraConstraint(
        types=tuple(kind for kind in ALL_TYPES if kind != "null"),
        schema={"minProperties": 1, "minItems": 1},
    ),
)
_OBJECT: Final[Goals] = (
    ExtraConstraint(types=("object",), schema={"minProperties": 1}),
)
_ARRAY: Final[Goals] = (ExtraConstraint(types=("array",), schema={"minItems": 1}),)


def _goals_beyond(value: Json | Nothing) -> tuple[Goals, ...]:
    """Return the goals tried instead of a value that is null or empty."""
    if value is None:
        return (_TELLING,)
    if value == {}:
        return (_OBJECT, _TELLING)
    return (_ARRAY, _TELLING) if value == [] else ()


class WitnessSearch(msgspec.Struct, kw_only=True, eq=False):
    """A search for one witness."""

    #: By each of them the value must be valid.
    interpretations: Interpretations
    rng: random.Random
    #: Which optional members the value has.
    kind: InstanceKind
    #: Times that it is made at most.
    repairs: int
    #: How many values it may hold before only required ones are made.
    allowance: float = 0
    #: Goals besides the schema.
    extra: Goals = ()
    #: Makes the goals to reach, for each attempt.
    guide: Callable[[], Guide] | None = None
    failures: dict[SearchFailure, str] = {}
    #: Whether a value was refused where no format is asserted, and only there.
    hinges_on_formats: bool = False
    steps_left: int = 0

    def run(self, steps: int) -> Json | Nothing:
        """Return a value that is valid by each interpretation, or NOTHING."""
        every, self.steps_left = self.interpretations, steps
        refused_paths: set[tuple[str, ...]] = set()
        for _ in range(self.repairs):
            builder = WitnessBuilder(
                compiled=every.strictest,
                rng=self.rng,
                kind=self.kind,
                steps=self.steps_left,
                refused_paths=refused_paths,
                guide=self.guide() if self.guide else None,
            )
            try:
                value = builder.value(
                    (every.strictest.root, *self.extra),
                    BuildContext(allowance=self.allowance),
                )
            except (ExhaustedError, RecursionError):
                value = builder.record_failure(
                    SearchFailure.EXHAUSTED, f"{steps} steps"
                )
            self.steps_left = builder.steps
            self.failures = {**builder.failures, **self.failures}
            if value is NOTHING:
                return value
            refused = every.refusing(value)
            if refused is None:
                return value
            compiled, formats = refused
            self.hinges_on_formats |= not formats
            errors = compiled.errors(value, formats=formats)
            refused_paths.update(
                parse_tokens(error.instance_pointer) for error in errors
            )
            self.failures[SearchFailure.REFUSED] = (
                f"{errors[0].keyword} at {errors[0].schema_pointer or '/'} "
                f"for {errors[0].instance_pointer or '/'}"
            )
        return NOTHING


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
    if detail := compiled.fault[:200]:
        return Witnesses(witnesses=(), failure=SearchFailure.UNUSABLE, detail=detail)
    every = make_interpretations(compiled)
    plan = _Plan(every, seed, budget)
    result = plan.run()
    if not result.witnesses and plan.hinges_on_formats:
        result = _Plan(replace(every, without_formats=False), seed, budget).run()
    if not result.witnesses and every.heeding:
        # Readers agree on no value: what some of them refuse is not made many times.
        few = replace(budget, count=_DISPUTED, covering=0)
        own_alone = replace(every, without_formats=False, heeding=None)
        result = _Plan(own_alone, seed, few).run()
    return result


class _Plan:
    """The searches for the witnesses of one schema, one after the other."""

    def __init__(self, every: Interpretations, seed: int, budget: Budget) -> None:
        self.every, self.budget, self.steps = every, budget, budget.steps
        self.seed = derive_seed(every.own, seed)
        self.witnesses: dict[bytes, Witness] = {}
        self.failures: dict[SearchFailure, str] = {}
        #: Whether a value was refused for formats that are not asserted.
        self.hinges_on_formats = False
        #: Searches so far: each has separate draws.
        self.searches = 0

    def run(self) -> Witnesses:
        """Return the witnesses: small and large first, then for further targets."""
        budget = self.budget
        plan = [(InstanceKind.MINIMAL, 0.0), (InstanceKind.FULL, budget.full)]
        for kind, allowance in plan[: budget.count]:
            self._search(kind, allowance)
        telling = {
            key: witness
            for key, witness in self.witnesses.items()
            if not _goals_beyond(witness.value)
        }
        self.witnesses = telling or self.witnesses
        if budget.covering and self.witnesses:
            values = list(self.witnesses.values())
            for value in cover(self.every, values, self.seed, rounds=budget.covering):
                self._keep(InstanceKind.COVERING, value)
        for _ in range(budget.count - max(len(plan), len(self.witnesses))):
            self._search(InstanceKind.RANDOM, budget.random)
        if self.witnesses:
            return Witnesses(witnesses=tuple(self.witnesses.values()))
        failures = [failure for failure in _ORDER if failure in self.failures]
        failure = failures[0] if failures else SearchFailure.EXHAUSTED
        detail = self.failures.get(failure, "")
        return Witnesses(witnesses=(), failure=failure, detail=detail)

    def _search(self, kind: InstanceKind, allowance: float) -> None:
        """Look for one witness, and for another if it is empty."""
        value = self._value(kind, allowance, ())
        beyond = _goals_beyond(value)
        if beyond and value is not NOTHING and not self.witnesses:
            self._keep(kind, value)
        for extra in beyond:
            value = self._value(kind, allowance, extra)
            if value is not NOTHING:
                break
        if value is not NOTHING:
            self._keep(kind, value)

    def _keep(self, kind: InstanceKind, value: Json) -> None:
        self.witnesses.setdefault(identity(value), Witness(kind=kind, value=value))

    def _value(
        self, kind: InstanceKind, allowance: float, extra: Goals
    ) -> Json | Nothing:
        number = self.searches
        draws = number.to_bytes(max(1, (number.bit_length() + 7) // 8))
        self.searches += 1
        search = WitnessSearch(
            interpretations=self.every,
            rng=random.Random(self.seed + draws),  # noqa: S311 - no secret
            kind=kind,
            repairs=_REPAIRS,
            allowance=allowance,
            extra=extra,
        )
        value = search.run(self.steps)
        self.hinges_on_formats |= search.hinges_on_formats
        if value is NOTHING and SearchFailure.EXHAUSTED in search.failures:
            self.steps //= 4
        self.failures = {**search.failures, **self.failures}
        return value


def derive_seed(compiled: CompiledSchema, seed: int) -> bytes:
    """Return the seed of the draws for a schema."""
    return hashlib.sha256(compiled.canonical + str(seed).encode()).digest()


#: Values of a covering witness after which only required ones are made.
_COVERING_VALUES: Final = 400
#: Steps of the search for one of them.
_COVERING_STEPS: Final = 3_000
#: Times that a value which the validator refuses is made again.
_COVERING_REPAIRS: Final = 4
#: Rounds that may go for a target before it is given up.
_TRIES: Final = 3
#: Rounds in a row that may reach nothing new.
_IDLE_ROUNDS: Final = 3
#: Goals that the two rounds before, one reversed, must have reached again for a
#: round beyond those asked for; and how many times as many there may be then.
_ENOUGH: Final = 4
_TIMES: Final = 4
#: How many times fewer values the next witness has where none was found.
_FEWER: Final = 4
#: Steps of searches that reach nothing new. Without a limit, a third of the time of the
#: 118 costliest schemas of 1,595 went beyond it, for one target of 140.
_IN_VAIN: Final = 2_000


def cover(
    interpretations: Interpretations,
    witnesses: Iterable[Witness],
    seed: bytes,
    *,
    rounds: int,
) -> list[Json]:
    """Return values that reach what given witnesses do not.

    Args:
        interpretations: The schema; values are valid by each of them.
        witnesses: Values that it accepts.
        seed: Seed of random choices.
        rounds: Maximum of values; four times as many while they reach several places.
    """
    covering = _Covering(interpretations, seed)
    for witness in witnesses:
        covering.note(witness.value)
    values = covering.run(rounds)
    if covering.hinges_on_formats and covering.unreached:
        # No other value reaches the remainder.
        covering.interpretations = replace(interpretations, without_formats=False)
        covering.tries.clear()
        covering.given_up.clear()
        covering.in_vain = 0
        values += covering.run(max(0, rounds - len(values)))
    return values


class _Covering:
    """The rounds for one schema."""

    def __init__(self, every: Interpretations, seed: bytes) -> None:
        self.interpretations = every
        self.graph = SchemaGraph(every.strictest)
        self.rng = random.Random(seed + b"cover")  # noqa: S311 - no secret
        #: Whether formats prevented a value: the failure holds only with them.
        self.hinges_on_formats = False
        self.unreached = set(self.graph.targets())
        self.tries: Counter[SchemaLocation] = Counter()
        self.given_up: set[SchemaLocation] = set()
        self.rounds = 0
        #: Rounds beyond those asked for.
        self.turn = 0
        #: Steps of searches that reached nothing new.
        self.in_vain = 0
        #: Steps of all searches.
        self.steps_made = 0
        #: Values of the next witness after which only required ones are made.
        self.values = _COVERING_VALUES

    def note(self, value: Json) -> int:
        """Remove the targets that a value reaches; return how many were open."""
        before = len(self.unreached)
        self.unreached -= reached_by(self.graph, value)
        return before - len(self.unreached)

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
            steps_before = self.steps_made
            value, tried, claimed = self._attempt(targets)
            before, new = new, 0
            if value is not NOTHING:
                new = self.note(value)
                self.values = min(2 * self.values, _COVERING_VALUES)
                if new:
                    values.append(value)
            else:
                # The more a value has, the more of it can be in each other's way.
                self.values = max(self.values // _FEWER, 1)
            if not new:
                self.in_vain += self.steps_made - steps_before
            missed = (claimed if new else tried) & self.unreached
            self.tries.update(missed)
            hopeless = {target for target in missed if self.tries[target] >= _TRIES}
            # Where targets are given up, the next round goes for others.
            failures = 0 if new or hopeless - self.given_up else failures + 1
            self.given_up |= hopeless
        return values

    def _attempt(
        self, targets: set[SchemaLocation]
    ) -> tuple[Json | Nothing, set[SchemaLocation], set[SchemaLocation]]:
        """Return a value, or NOTHING, with the targets that the search went for.

        First all of them, also those taken back; then those that the value
        was taken to reach. Of members of which one excludes the others, the rest stays
        for the next round.
        """
        value, tried, claimed = self._search(targets, ())
        for extra in _goals_beyond(value):
            telling, further, claimed_then = self._search(targets, extra)
            tried |= further
            if telling is not NOTHING:
                return telling, tried, claimed_then
        return value, tried, claimed

    def _search(
        self, targets: set[SchemaLocation], extra: Goals
    ) -> tuple[Json | Nothing, set[SchemaLocation], set[SchemaLocation]]:
        guides: list[Guide] = []

        def guide() -> Guide:
            is_reversed = self.rounds % 2 == 0
            guides.append(
                Guide(
                    self.graph,
                    targets,
                    self.values,
                    is_reversed=is_reversed,
                    turn=self.turn,
                )
            )
            return guides[-1]

        search = WitnessSearch(
            interpretations=self.interpretations,
            rng=self.rng,
            kind=InstanceKind.COVERING,
            repairs=_COVERING_REPAIRS,
            extra=extra,
            guide=guide,
        )
        value = search.run(_COVERING_STEPS)
        self.steps_made += _COVERING_STEPS - search.steps_left
        self.hinges_on_formats |= search.hinges_on_formats
        tried = {target for used in guides for target in used.tried}
        return value, tried, guides[-1].claimed
