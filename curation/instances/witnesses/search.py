"""The search for witnesses: values that show that a schema can be met."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING

from curation.instances.model import InstanceKind, Obstacle, Witness, Witnesses
from curation.instances.witnesses.builder import WitnessBuilder
from curation.instances.witnesses.context import (
    NOTHING,
    BuildContext,
    ExhaustedError,
    Nothing,
)
from curation.json.pointer import at, replaced, tokens_of
from curation.json.text import canonical
from curation.json.values import identity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema

__all__ = ["NOTHING", "Budget", "WitnessBuilder", "find_witnesses", "stream"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much one schema may cost; steps, not seconds, so that runs are equal."""

    #: Steps of the search for one witness.
    steps: int = 8_000
    #: Values in a `full` witness after which only required ones are made.
    full: float = 250
    random: float = 60
    #: Witnesses that are looked for: the minimal one, the full one, random ones.
    count: int = 4
    #: Times that a value which the validator refuses is made anew.
    repairs: int = 6


_PLENTY = Budget()
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
    try:
        compiled.validator  # noqa: B018 - compiled here, so that a fault shows
    except ValueError as error:
        detail = str(error).splitlines()[0][:200]
        return Witnesses(found=(), obstacle=Obstacle.UNUSABLE, detail=detail)
    base = _digest(compiled, seed)
    found: dict[bytes, Witness] = {}
    obstacles: dict[Obstacle, str] = {}
    plan = [(InstanceKind.MINIMAL, 0.0), (InstanceKind.FULL, budget.full)]
    plan += [(InstanceKind.RANDOM, budget.random)] * (budget.count - len(plan))
    steps = budget.steps
    for number, (kind, allowance) in enumerate(plan[: budget.count]):
        rng = random.Random(base + _bytes_of(number))  # noqa: S311 - no secret
        search = _WitnessSearch(compiled, rng, kind, allowance, budget.repairs)
        value = search.run(steps)
        if value is not NOTHING:
            found.setdefault(identity(value), Witness(kind=kind, value=value))
        elif Obstacle.EXHAUSTED in search.obstacles:
            steps //= 4
        obstacles = {**search.obstacles, **obstacles}
    if found:
        return Witnesses(found=tuple(found.values()))
    obstacle = next(
        (known for known in _ORDER if known in obstacles), Obstacle.EXHAUSTED
    )
    return Witnesses(found=(), obstacle=obstacle, detail=obstacles.get(obstacle, ""))


def stream(
    compiled: CompiledSchema, seed: int = 0, budget: Budget = _PLENTY
) -> Iterator[Json]:
    """Yield values without end: first a small one, then a full one, then drawn ones.

    What a search makes is not validated. It is followed by variants with one scalar
    drawn anew, which are. The stream ends where several searches in a row find nothing.
    """
    rng = random.Random(_digest(compiled, seed))  # noqa: S311 - no secret
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


def _digest(compiled: CompiledSchema, seed: int) -> bytes:
    return hashlib.sha256(canonical(compiled.schema) + str(seed).encode()).digest()


class _WitnessSearch:
    """One witness: made, validated, and made again where the validator refuses it."""

    def __init__(
        self,
        compiled: CompiledSchema,
        rng: random.Random,
        kind: InstanceKind,
        allowance: float,
        repairs: int,
    ) -> None:
        self.compiled, self.rng, self.kind = compiled, rng, kind
        self.context, self.repairs = BuildContext(allowance=allowance), repairs
        self.refused_paths: dict[tuple[str, ...], int] = {}
        self.obstacles: dict[Obstacle, str] = {}

    def run(self, steps: int) -> Json | Nothing:
        """Return a value that the validator accepts, or NOTHING."""
        left = steps
        for _ in range(self.repairs):
            builder = WitnessBuilder(
                compiled=self.compiled,
                rng=self.rng,
                kind=self.kind,
                steps=left,
                refused_paths=self.refused_paths,
            )
            value = self._make(builder, steps)
            self.obstacles = {**builder.obstacles, **self.obstacles}
            if value is NOTHING or self.compiled.is_valid(value):
                return value
            self._note_refusals(value)
            left = builder.steps
        return NOTHING

    def _make(self, builder: WitnessBuilder, steps: int) -> Json | Nothing:
        try:
            return builder.value((self.compiled.root,), self.context)
        except (ExhaustedError, RecursionError):
            return builder.record_obstacle(Obstacle.EXHAUSTED, f"{steps} steps")

    def _note_refusals(self, value: Json) -> None:
        """Remember which parts of a value are refused, and the first reason."""
        errors = self.compiled.errors(value)
        for error in errors:
            path = tokens_of(error.instance_pointer)
            self.refused_paths[path] = self.refused_paths.get(path, 0) + 1
        first = errors[0]
        self.obstacles[Obstacle.REFUSED] = (
            f"{first.keyword} at {first.schema_pointer or '/'} "
            f"for {first.instance_pointer or '/'}"
        )
