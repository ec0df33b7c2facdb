"""One witness: made, validated, and made again where the validator refuses it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.goals import ALL_TYPES, ExtraConstraint
from curation.instances.model import InstanceKind, Obstacle
from curation.instances.witnesses.builder import WitnessBuilder
from curation.instances.witnesses.context import (
    NOTHING,
    BuildContext,
    ExhaustedError,
    Nothing,
)
from curation.json.pointer import tokens_of

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import FailedAssertion
    from curation.instances.constraints.goals import Goals
    from curation.instances.constraints.interpretations import Interpretations
    from curation.instances.reach.guide import Guide


_ANY_BUT_NULL: Final = tuple(kind for kind in ALL_TYPES if kind != "null")
#: What the least instance must meet that is neither null nor empty: of the type of an
#: empty one if possible.
_OBJECT: Final[Goals] = (
    ExtraConstraint(types=("object",), schema={"minProperties": 1}),
)
_ARRAY: Final[Goals] = (ExtraConstraint(types=("array",), schema={"minItems": 1}),)
_TELLING: Final[Goals] = (
    ExtraConstraint(types=_ANY_BUT_NULL, schema={"minProperties": 1, "minItems": 1}),
)


def goals_beyond(trivial: Json) -> tuple[Goals, ...]:
    """Return what to ask for instead of an empty value, in the order to try."""
    if trivial is None:
        return (_TELLING,)
    return (_OBJECT if trivial == {} else _ARRAY, _TELLING)


def is_trivial(value: Json) -> bool:
    """Return whether a value is null, or holds nothing."""
    return value is None or value in ({}, [])


@dataclass(slots=True, kw_only=True, eq=False)
class WitnessSearch:
    """A search for one witness."""

    #: By each of them the value must be valid.
    interpretations: Interpretations
    #: What is drawn is drawn from it.
    rng: random.Random
    #: What the value has beside what is required.
    kind: InstanceKind
    #: How large it may become.
    context: BuildContext
    #: Times that it is made at most.
    repairs: int
    #: What it must meet beside the schema.
    extra: Goals = ()
    #: Makes what it is to reach, anew for each time that it is made.
    guide: Callable[[], Guide] | None = None
    refused_paths: dict[tuple[str, ...], int] = field(default_factory=dict)
    obstacles: dict[Obstacle, str] = field(default_factory=dict)
    #: Whether a value was refused where no format is asserted, and only there.
    hinges_on_formats: bool = False

    def run(self, steps: int) -> Json | Nothing:
        """Return a value that is valid by each interpretation, or NOTHING."""
        left = steps
        for _ in range(self.repairs):
            builder = WitnessBuilder(
                compiled=self.interpretations.strictest,
                rng=self.rng,
                kind=self.kind,
                steps=left,
                refused_paths=self.refused_paths,
                guide=self.guide() if self.guide else None,
            )
            value = self._make(builder, steps)
            self.obstacles = {**builder.obstacles, **self.obstacles}
            if value is NOTHING:
                return value
            refused = self.interpretations.refusing(value)
            if refused is None:
                return value
            compiled, formats = refused
            self.hinges_on_formats |= not formats
            self._note_refusals(compiled.errors(value, formats=formats))
            left = builder.steps
        return NOTHING

    def _make(self, builder: WitnessBuilder, steps: int) -> Json | Nothing:
        try:
            root = self.interpretations.strictest.root
            return builder.value((root, *self.extra), self.context)
        except (ExhaustedError, RecursionError):
            return builder.record_obstacle(Obstacle.EXHAUSTED, f"{steps} steps")

    def _note_refusals(self, errors: list[FailedAssertion]) -> None:
        """Remember which parts of a value are refused, and the first reason."""
        for error in errors:
            path = tokens_of(error.instance_pointer)
            self.refused_paths[path] = self.refused_paths.get(path, 0) + 1
        first = errors[0]
        self.obstacles[Obstacle.REFUSED] = (
            f"{first.keyword} at {first.schema_pointer or '/'} "
            f"for {first.instance_pointer or '/'}"
        )
