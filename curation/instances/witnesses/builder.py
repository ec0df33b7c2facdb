"""Make a value for goals: the recursion, its budget, and what stood in the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.constraints.admission import identity
from curation.instances.constraints.compiled_schema import Node
from curation.instances.constraints.minimal_depth import height
from curation.instances.model import Kind, Obstacle
from curation.instances.witnesses import arrays, choices, objects, scalars

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import Subject
    from curation.instances.constraints.conjunction import Shape
    from curation.instances.constraints.goals import Goals


class Nothing:
    """Stands for "no value was found"; distinct from JSON's null."""


NOTHING: Final = Nothing()
#: Levels below which values are as small as can be, and where the search ends.
DEEPEST = 64
_DEEP = 12
#: How often a place may recur below itself with optional members.
_RECURRENCES = 2
#: How often a `random` value takes what the schema gives as default or example.
_GIVEN = 0.3
#: Times that a value is drawn anew to be unlike its siblings.
REDRAWS = 24
_CONTAINERS = frozenset({"object", "array"})


class ExhaustedError(Exception):
    """The budget of steps is spent; caught by `witnesses`."""


class Frame(NamedTuple):
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

    def inside(self, goals: Goals) -> Frame:
        """Return the frame once it is known what the value must meet.

        What recurs, and what is deep, is made as small as can be.
        """
        small = len(self.path) >= _DEEP or self.trail.count(goals) >= _RECURRENCES
        return Frame(
            self.path,
            0 if small else self.allowance,
            self.name,
            self.avoid,
            self.vary,
            (*self.trail, goals),
            small,
        )

    def member(self, name: str, allowance: float) -> Frame:
        """Return the frame of a property."""
        path = (*self.path, name)
        return Frame(path=path, allowance=allowance, name=name, trail=self.trail)

    def element(self, index: int, allowance: float, avoid: AbstractSet[bytes]) -> Frame:
        """Return the frame of an element."""
        return Frame(
            path=(*self.path, str(index)),
            allowance=allowance,
            name=self.name,
            avoid=avoid,
            trail=self.trail,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class Maker:
    """One search for one value; `steps` counts down."""

    subject: Subject
    rng: random.Random
    kind: Kind
    steps: int
    #: Values made so far.
    made: int = 0
    #: Paths that the validator complained about, and how often.
    trouble: dict[tuple[str, ...], int] = field(default_factory=dict)
    obstacles: dict[Obstacle, str] = field(default_factory=dict)
    #: Path to what draws the scalar there anew, of those that stand for themselves.
    leaves: dict[tuple[str, ...], Callable[[], UntypedJson]] = field(
        default_factory=dict
    )

    def varies(self, frame: Frame) -> bool:
        """Tell whether what is made there is drawn, not taken in order."""
        return self.kind is Kind.RANDOM or frame.vary or frame.path in self.trouble

    def note(self, obstacle: Obstacle, detail: str) -> Nothing:
        """Remember what stood in the way; the first of each kind counts."""
        self.obstacles.setdefault(obstacle, detail[:200])
        return NOTHING

    def value(self, goals: Goals, frame: Frame | None = None) -> UntypedJson | Nothing:
        """Return a value that meets the goals, or NOTHING.

        Raises:
            ExhaustedError: the budget is spent.
        """
        frame = (frame or Frame()).inside(goals)
        self.spend()
        if len(frame.path) > DEEPEST:
            return self._too_deep(goals, frame)
        for redraw in range(REDRAWS):
            found = choices.solve(self, goals, frame)
            if found is NOTHING:
                return found
            if not frame.avoid or identity(found) not in frame.avoid:
                self.made += 1
                return found
            # What is optional may differ where what is required does not.
            more = max(frame.allowance, redraw)
            frame = frame._replace(allowance=more, vary=True)
        return self.note(Obstacle.CONTRADICTION, "no element unlike the others")

    def _too_deep(self, goals: Goals, frame: Frame) -> Nothing:
        places = [each for each in goals if isinstance(each, Node)]
        endless = any(math.isinf(height(self.subject, each)) for each in places)
        obstacle = Obstacle.ENDLESS if endless else Obstacle.TOO_LARGE
        return self.note(obstacle, f"deeper than {DEEPEST}: {'/'.join(frame.path[:8])}")

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

    def candidates(self, shape: Shape, frame: Frame) -> Iterator[UntypedJson]:
        """Yield values of a shape whose choices are made, as long as asked."""
        if shape.values is not None:
            yield from self._listed(shape, frame)
            return
        if frame.allowance >= 1:
            found = self._given(shape, frame)
            if found is not NOTHING:
                yield found
        for kind in self._types(shape, frame):
            found = self._of_type(shape, kind, frame)
            if found is not NOTHING:
                yield found

    def _listed(self, shape: Shape, frame: Frame) -> Iterator[UntypedJson]:
        values = list(shape.values or ())
        if self.varies(frame):
            self.rng.shuffle(values)
        for each in values:
            new = not frame.avoid or identity(each) not in frame.avoid
            if new and self._passes(shape, each):
                yield each
        self.note(Obstacle.CONTRADICTION, "no value of an enum is left")

    def _passes(self, shape: Shape, value: UntypedJson) -> bool:
        """Ask the validator about values that `admits` sees from outside only."""
        if not isinstance(value, dict | list):
            return True
        accepts = self.subject.accepts
        return all(accepts(each, value) for each in shape.places())

    def _given(self, shape: Shape, frame: Frame) -> UntypedJson | Nothing:
        """Return a value that the schema itself gives as default or example.

        Objects and arrays only where anything may stand: `full` wants them whole.
        """
        given = shape.given
        if not given or frame.path in self.trouble:
            return NOTHING
        if self.varies(frame):
            if self.rng.random() > _GIVEN:
                return NOTHING
            given = [self.rng.choice(given)]
        for each in given:
            if (
                (self.kind is Kind.RANDOM or not isinstance(each, dict | list))
                and identity(each) not in frame.avoid
                and self._passes(shape, each)
            ):
                return each
        return NOTHING

    def _types(self, shape: Shape, frame: Frame) -> Sequence[str]:
        types = shape.likely
        if frame.ends and len(types) > 1:
            return sorted(types, key=_CONTAINERS.__contains__)
        if len(types) == 1 or not self.varies(frame):
            return types
        return self.rng.sample(types, len(types))

    def _of_type(self, shape: Shape, kind: str, frame: Frame) -> UntypedJson | Nothing:
        if kind == "object":
            return objects.build(self, shape, frame)
        if kind == "array":
            return arrays.build(self, shape, frame)
        return scalars.build(self, shape, kind, frame)
