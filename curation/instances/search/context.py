"""Context and state of the search for one value."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.values.model import InstanceKind, SearchFailure

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.conjunction import Conjunction, Goals
    from curation.instances.search.reach import Guide


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
    """Where in the instance a value is made, and how large it may become."""

    #: Reference tokens of the value in the instance.
    path: tuple[str, ...] = ()
    #: How many values may still be made inside of it; below 1, only required ones.
    allowance: float = 0
    #: The nearest property name above, a hint for realistic values.
    name: str = ""
    #: Identities that the value must not have.
    avoid: AbstractSet[bytes] = frozenset()
    #: Draw at random, also where the kind of witness does not ask for it.
    vary: bool = False
    #: Goals of the values that it stands in, innermost last.
    ancestors: tuple[Goals, ...] = ()
    #: Try scalars before objects and arrays, so that the nesting ends.
    scalars_first: bool = False

    def for_goals(self, goals: Goals) -> BuildContext:
        """Return the context of a value that must meet these goals."""
        small = len(self.path) >= _DEEP or self.ancestors.count(goals) >= _RECURRENCES
        return self._replace(
            allowance=0 if small else self.allowance,
            ancestors=(*self.ancestors, goals),
            scalars_first=small,
        )

    def member(
        self, step: str | int, allowance: float, avoid: AbstractSet[bytes] = frozenset()
    ) -> BuildContext:
        """Return the context of a property, by its name, or of an element."""
        return BuildContext(
            path=(*self.path, str(step)),
            allowance=allowance,
            name=self.name if isinstance(step, int) else step,
            avoid=avoid,
            ancestors=self.ancestors,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class ValueBuilder(ABC):
    """The state of one search for one value, and what builds the values inside it.

    Objects, arrays and choices call `value` and `candidates` for what stands below
    them; `WitnessBuilder` implements both.
    """

    compiled: CompiledSchema
    rng: random.Random
    kind: InstanceKind
    #: Steps that are left.
    steps: int
    #: Values made so far.
    values_made: int = 0
    #: Paths of the values that the validator has refused.
    refused_paths: set[tuple[str, ...]] = field(default_factory=set)
    failures: dict[SearchFailure, str] = field(default_factory=dict)
    #: What the value is to reach; None if that does not matter.
    guide: Guide | None = None
    #: For paths of scalars that no other value depends on: what draws one anew.
    redraws: dict[tuple[str, ...], Callable[[], Json | Nothing]] = field(
        default_factory=dict
    )

    def varies(self, context: BuildContext) -> bool:
        """Return whether values are drawn at random here, not taken in order."""
        return (
            self.kind is InstanceKind.RANDOM
            or context.vary
            or context.path in self.refused_paths
        )

    def record_failure(self, failure: SearchFailure, detail: str) -> Nothing:
        """Remember why no value was found; the first detail of each failure counts."""
        self.failures.setdefault(failure, detail[:200])
        return NOTHING

    def flip_coin(self) -> bool:
        """Return true or false, each with probability one half."""
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
        """Yield values for a conjunction whose choices are made."""
