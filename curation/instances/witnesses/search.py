"""The search for witnesses: values that show that a schema can be met."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING

from curation.instances.constraints.interpretations import Interpretations
from curation.instances.model import InstanceKind, Obstacle, Witness, Witnesses
from curation.instances.witnesses.builder import WitnessBuilder
from curation.instances.witnesses.context import (
    NOTHING,
    BuildContext,
    ExhaustedError,
    Nothing,
)
from curation.instances.witnesses.covering import cover
from curation.instances.witnesses.one_search import (
    WitnessSearch,
    goals_beyond,
    is_trivial,
)
from curation.json.pointer import at, replaced
from curation.json.values import identity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.goals import Goals

__all__ = ["NOTHING", "Budget", "WitnessBuilder", "find_witnesses", "stream"]


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
#: Searches in a row without a value, after which a stream ends.
_FAILURES = 4
#: How often a streamed value is varied before the next search.
_VARIANTS = 12
#: Which obstacle is reported where several were met: the first of these.
_ORDER = (
    Obstacle.TOO_LARGE,
    Obstacle.EXHAUSTED,
    Obstacle.ENDLESS,
    Obstacle.REFUSED,
    Obstacle.PATTERN,
    Obstacle.CONTRADICTION,
)


def find_witnesses(
    compiled: CompiledSchema, seed: int = 0, budget: Budget = _PLENTY
) -> Witnesses:
    """Return distinct values that jsonschema-rs accepts, or why none was found.

    They are valid by each interpretation of the schema; only where no value is found
    that is, by the schema as its draft reads it, formats asserted.

    Args:
        compiled: The schema.
        seed: With the schema's content, it decides every draw.
        budget: How many witnesses are looked for, and how long.

    Example:
        >>> from curation.instances.constraints.compiled_schema import CompiledSchema
        >>> compiled = CompiledSchema.from_json({"const": 1}, "2020-12")
        >>> [witness.value for witness in find_witnesses(compiled).found]
        [1]
    """
    return search_witnesses(Interpretations.of(compiled), seed, budget)


def search_witnesses(every: Interpretations, seed: int, budget: Budget) -> Witnesses:
    """Return what `find_witnesses` does, of a schema with its interpretations.

    Args:
        every: The schema.
        seed: With the schema's content, it decides every draw.
        budget: How many witnesses are looked for, and how long.
    """
    try:
        every.own.validator  # noqa: B018 - compiled here, so that a fault shows
    except ValueError as error:
        detail = str(error).splitlines()[0][:200]
        return Witnesses(found=(), obstacle=Obstacle.UNUSABLE, detail=detail)
    plan = _Plan(every, seed, budget)
    found = plan.run()
    if not found.found and plan.hinges_on_formats:
        found = _Plan(every.with_formats, seed, budget).run()
    if not found.found and every.heeding:
        # Readers agree on no value: what some of them refuse is not made many times.
        few = replace(budget, count=_DISPUTED, covering=0)
        found = _Plan(every.own_alone, seed, few).run()
    return found


class _Plan:
    """The searches for the witnesses of one schema, one after the other."""

    def __init__(
        self, interpretations: Interpretations, seed: int, budget: Budget
    ) -> None:
        self.interpretations = interpretations
        self.budget, self.steps = budget, budget.steps
        self.base = seed_of(interpretations.own, seed)
        self.found: dict[bytes, Witness] = {}
        self.obstacles: dict[Obstacle, str] = {}
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
        if budget.covering and self.found:
            self._cover()
        for _ in range(budget.count - max(len(plan), len(self.found))):
            self._search(InstanceKind.RANDOM, budget.random)
        if self.found:
            return Witnesses(found=tuple(self.found.values()))
        obstacle = next(
            (known for known in _ORDER if known in self.obstacles), Obstacle.EXHAUSTED
        )
        detail = self.obstacles.get(obstacle, "")
        return Witnesses(found=(), obstacle=obstacle, detail=detail)

    def _search(self, kind: InstanceKind, allowance: float) -> None:
        """Look for one witness, and for another one if it is empty."""
        value = self._one(kind, allowance, ())
        if value is not NOTHING and is_trivial(value):
            if not self.found:
                self._keep(kind, value)
            value = next(self._telling(kind, allowance, value), NOTHING)
        if value is not NOTHING:
            self._keep(kind, value)

    def _telling(
        self, kind: InstanceKind, allowance: float, trivial: Json
    ) -> Iterator[Json]:
        """Yield witnesses that are not empty, in the place of one that is."""
        for extra in goals_beyond(trivial):
            value = self._one(kind, allowance, extra)
            if value is not NOTHING:
                yield value

    def _keep(self, kind: InstanceKind, value: Json) -> None:
        self.found.setdefault(identity(value), Witness(kind=kind, value=value))

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
        if value is NOTHING and Obstacle.EXHAUSTED in search.obstacles:
            self.steps //= 4
        self.obstacles = {**search.obstacles, **self.obstacles}
        return value

    def _cover(self) -> None:
        """Add witnesses for what the others do not reach."""
        witnesses = list(self.found.values())
        made = cover(
            self.interpretations, witnesses, self.base, rounds=self.budget.covering
        )
        for value in made:
            self._keep(InstanceKind.COVERING, value)

    def _drop_trivial(self) -> None:
        """Drop empty witnesses where there is another one."""
        telling = {
            known: witness
            for known, witness in self.found.items()
            if not is_trivial(witness.value)
        }
        self.found = telling or self.found


def stream(
    compiled: CompiledSchema, seed: int = 0, budget: Budget = _PLENTY
) -> Iterator[Json]:
    """Yield values without end: first a small one, then a full one, then drawn ones.

    What a search makes is not validated. It is followed by variants with one scalar
    drawn anew, which are. The stream ends where several searches in a row find nothing.
    """
    rng = random.Random(seed_of(compiled, seed))  # noqa: S311 - no secret
    plan = chain(
        [(InstanceKind.MINIMAL, 0.0), (InstanceKind.FULL, budget.full)], repeat(None)
    )
    failures = 0
    for step in plan:
        kind, allowance = step or (InstanceKind.RANDOM, rng.random() * budget.random)
        builder = WitnessBuilder(
            compiled=compiled, rng=rng, kind=kind, steps=budget.steps
        )
        try:
            value = builder.value((compiled.root,), BuildContext(allowance=allowance))
        except (ExhaustedError, RecursionError):
            value = NOTHING
        failures = failures + 1 if value is NOTHING else 0
        if value is not NOTHING:
            yield value
            yield from _variants(value, builder, compiled)
        elif failures >= _FAILURES:
            return


def _variants(
    value: Json, builder: WitnessBuilder, compiled: CompiledSchema
) -> Iterator[Json]:
    """Yield variants of a value, with one scalar drawn anew, that are valid too.

    This is much cheaper than a new search. The validator decides, since a scalar may
    matter elsewhere: to an `if` or a `oneOf`.
    """
    leaves = [leaf for leaf in builder.redraws.items() if _is_scalar_at(value, leaf[0])]
    if not leaves:
        return
    for _ in range(_VARIANTS):
        path, draw = builder.rng.choice(leaves)
        drawn = draw()
        if drawn is not NOTHING:
            variant = replaced(value, path, drawn)
            if compiled.is_valid(variant):
                yield variant


def _is_scalar_at(value: Json, path: tuple[str, ...]) -> bool:
    """Return whether a string or number stands at a path of a value."""
    try:
        found = at(value, path)
    except (LookupError, ValueError):
        return False
    return isinstance(found, str | int | float) and not isinstance(found, bool)


def _bytes_of(number: int) -> bytes:
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8))


def seed_of(compiled: CompiledSchema, seed: int) -> bytes:
    """Return what the draws for a schema start from."""
    return hashlib.sha256(compiled.canonical + str(seed).encode()).digest()
