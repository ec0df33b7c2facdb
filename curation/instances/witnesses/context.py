"""What every part of the search for a value shares: its place, its state, its end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.model import InstanceKind, Obstacle

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.goals import Goals
    from curation.instances.constraints.model import Conjunction


class Nothing(Enum):
    """Stands for "no value was found"; distinct from JSON's null."""

    NOTHING = "nothing"


NOTHING: Final = Nothing.NOTHING
#: Times that a value is drawn anew to be unlike its siblings.
REDRAWS: Final = 24
#: Levels of an instance below which values are as small as can be.
_DEEP: Final = 12
#: How often the same goals may recur below themselves with optional members.
_RECURRENCES: Final = 2


class ExhaustedError(Exception):
    """The budget of steps is spent; caught where a search starts."""


class BuildContext(NamedTuple):
    """Where in the instance a value is made, and how much there may be of it."""

    #: Reference tokens of the place in the instance.
    path: tuple[str, ...] = ()
    #: Values that may still be made below; below 1 only what is required is.
    allowance: float = 0
    #: The nearest property name above, a hint for realistic values.
    name: str = ""
    #: Identities that the value must not have.
    avoid: AbstractSet[bytes] = frozenset()
    #: Draw at random whatever the kind.
    vary: bool = False
    #: Goals of the values around it, innermost last.
    trail: tuple[Goals, ...] = ()
    #: Whether what can end here should: scalars before objects and arrays.
    ends: bool = False

    def inside(self, goals: Goals) -> BuildContext:
        """Return the context once it is known what the value must meet.

        What recurs, and what is deep, is made as small as can be.
        """
        small = len(self.path) >= _DEEP or self.trail.count(goals) >= _RECURRENCES
        return BuildContext(
            self.path,
            0 if small else self.allowance,
            self.name,
            self.avoid,
            self.vary,
            (*self.trail, goals),
            small,
        )

    def member(self, name: str, allowance: float) -> BuildContext:
        """Return the context of a property."""
        path = (*self.path, name)
        return BuildContext(path=path, allowance=allowance, name=name, trail=self.trail)

    def element(
        self, index: int, allowance: float, avoid: AbstractSet[bytes]
    ) -> BuildContext:
        """Return the context of an element."""
        return BuildContext(
            path=(*self.path, str(index)),
            allowance=allowance,
            name=self.name,
            avoid=avoid,
            trail=self.trail,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class ValueBuilder(ABC):
    """One search for one value; `steps` counts down."""

    compiled: CompiledSchema
    rng: random.Random
    kind: InstanceKind
    steps: int
    #: Values made so far.
    made: int = 0
    #: Paths that the validator complained about, and how often.
    trouble: dict[tuple[str, ...], int] = field(default_factory=dict)
    obstacles: dict[Obstacle, str] = field(default_factory=dict)
    #: Path to what draws the scalar there anew, of those that stand for themselves.
    leaves: dict[tuple[str, ...], Callable[[], Json | Nothing]] = field(
        default_factory=dict
    )

    def varies(self, context: BuildContext) -> bool:
        """Return whether what is made there is drawn, not taken in order."""
        return (
            self.kind is InstanceKind.RANDOM
            or context.vary
            or context.path in self.trouble
        )

    def note(self, obstacle: Obstacle, detail: str) -> Nothing:
        """Remember what stood in the way; the first of each kind counts."""
        self.obstacles.setdefault(obstacle, detail[:200])
        return NOTHING

    def coin(self) -> bool:
        """Return true or false, equally often."""
        return self.rng.random() < 0.5  # noqa: PLR2004 - what makes it fair

    def spend(self, steps: int = 1) -> None:
        """Take steps of the budget.

        Raises:
            ExhaustedError: none is left.
        """
        self.steps -= steps
        if self.steps < 0:
            raise ExhaustedError

    @abstractmethod
    def value(
        self, goals: Goals, context: BuildContext | None = None
    ) -> Json | Nothing:
        """Return a value that meets the goals, or NOTHING.

        Raises:
            ExhaustedError: the budget is spent.
        """

    @abstractmethod
    def candidates(
        self, conjunction: Conjunction, context: BuildContext
    ) -> Iterator[Json]:
        """Yield values for a conjunction whose choices are made, as long as asked."""
