"""Witnesses: values that prove that a schema can be met."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.instances.admission import identity
from curation.instances.cases import Kind, Obstacle, Witness, Witnesses
from curation.instances.maker import NOTHING, ExhaustedError, Frame, Maker, Nothing
from curation.jsontext import canonical
from curation.schema_walk import tokens_of

if TYPE_CHECKING:
    from curation.documents import Json
    from curation.instances.subject import Subject

__all__ = ["NOTHING", "Budget", "Maker", "witnesses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much one schema may cost; steps, not seconds, so that runs are equal."""

    #: Steps of the search for one witness.
    steps: int = 8_000
    #: Values in a `full` witness beyond which only what is required is made.
    full: float = 250
    random: float = 60
    #: How many `random` witnesses are asked for.
    randoms: int = 2
    #: Times that a value which the validator refuses is made anew.
    repairs: int = 6


_PLENTY = Budget()
#: Which obstacle is told where several were met.
_ORDER = (
    Obstacle.TOO_LARGE,
    Obstacle.EXHAUSTED,
    Obstacle.ENDLESS,
    Obstacle.REFUSED,
    Obstacle.PATTERN,
    Obstacle.CONTRADICTION,
)


def witnesses(subject: Subject, seed: int = 0, budget: Budget = _PLENTY) -> Witnesses:
    """Return distinct values that jsonschema-rs accepts, or what stood in the way."""
    try:
        subject.rs  # noqa: B018 - compiled here, so that a fault shows
    except ValueError as error:
        detail = str(error).splitlines()[0][:200]
        return Witnesses(found=(), obstacle=Obstacle.UNUSABLE, detail=detail)
    base = hashlib.sha256(canonical(subject.schema) + str(seed).encode()).digest()
    found: dict[bytes, Witness] = {}
    obstacles: dict[Obstacle, str] = {}
    plan = [(Kind.MINIMAL, 0.0), (Kind.FULL, budget.full)]
    plan += [(Kind.RANDOM, budget.random)] * budget.randoms
    for number, (kind, allowance) in enumerate(plan):
        rng = random.Random(base + bytes([number]))  # noqa: S311 - no secret
        value = _one(subject, rng, kind, Frame(allowance=allowance), budget, obstacles)
        if value is not NOTHING:
            found.setdefault(identity(value), Witness(kind=kind, value=value))
    if found:
        return Witnesses(found=tuple(found.values()))
    obstacle = next((each for each in _ORDER if each in obstacles), Obstacle.EXHAUSTED)
    return Witnesses(found=(), obstacle=obstacle, detail=obstacles.get(obstacle, ""))


def _one(
    subject: Subject,
    rng: random.Random,
    kind: Kind,
    frame: Frame,
    budget: Budget,
    obstacles: dict[Obstacle, str],
) -> Json | Nothing:
    """Return one value that the validator accepts, repaired where it must be."""
    trouble: dict[tuple[str, ...], int] = {}
    steps = budget.steps
    for _ in range(budget.repairs):
        maker = Maker(subject=subject, rng=rng, kind=kind, steps=steps)
        maker.trouble = trouble
        try:
            value = maker.value((subject.root,), frame)
        except (ExhaustedError, RecursionError):
            maker.note(Obstacle.EXHAUSTED, f"{budget.steps} steps")
            value = NOTHING
        steps = maker.steps
        for each, detail in maker.obstacles.items():
            obstacles.setdefault(each, detail)
        if value is NOTHING or subject.is_valid(value):
            return value
        errors = subject.errors(value)
        obstacles.setdefault(
            Obstacle.REFUSED,
            f"{errors[0].keyword} at {errors[0].schema_pointer} for "
            f"{errors[0].instance_pointer or '/'}",
        )
        for error in errors:
            path = tokens_of(error.instance_pointer)
            trouble[path] = trouble.get(path, 0) + 1
    return NOTHING
