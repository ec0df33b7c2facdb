"""Make a value for goals: the recursion, its budget, and what stood in the way."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from curation.instances import arrays, choices, numbers, objects, strings
from curation.instances.admission import admits, identity, is_multiple
from curation.instances.cases import Kind, Obstacle

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from curation.documents import Json
    from curation.instances.goals import Goals
    from curation.instances.shapes import Shape
    from curation.instances.subject import Subject


class Nothing:
    """Stands for "no value was found"; distinct from JSON's null."""


NOTHING: Final = Nothing()
#: Levels below which values are as small as can be, and where the search ends.
DEEPEST = 64
_DEEP = 12
#: How often a place may recur below itself with optional members.
_RECURRENCES = 2
#: Longest string that is made.
_LONGEST = 1_000_000
#: Times that a value is drawn anew to be unlike its siblings.
_REDRAWS = 24


class ExhaustedError(Exception):
    """The budget of steps is spent; caught by `witnesses`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
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

    def inside(self, goals: Goals) -> Frame:
        """Return the frame once it is known what the value must meet.

        What recurs, and what is deep, is made as small as can be.
        """
        small = len(self.path) >= _DEEP or self.trail.count(goals) >= _RECURRENCES
        return Frame(
            path=self.path,
            allowance=0 if small else self.allowance,
            name=self.name,
            avoid=self.avoid,
            vary=self.vary,
            trail=(*self.trail, goals),
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

    def varies(self, frame: Frame) -> bool:
        """Tell whether what is made there is drawn, not taken in order."""
        return self.kind is Kind.RANDOM or frame.vary or frame.path in self.trouble

    def note(self, obstacle: Obstacle, detail: str) -> Nothing:
        """Remember what stood in the way; the first of each kind counts."""
        self.obstacles.setdefault(obstacle, detail[:200])
        return NOTHING

    def value(self, goals: Goals, frame: Frame | None = None) -> Json | Nothing:
        """Return a value that meets the goals, or NOTHING.

        Raises:
            ExhaustedError: the budget is spent.
        """
        frame = (frame or Frame()).inside(goals)
        self.spend()
        if len(frame.path) > DEEPEST:
            return self.note(Obstacle.ENDLESS, "/".join(frame.path[:8]))
        for redraw in range(_REDRAWS):
            found = choices.solve(self, goals, frame)
            if found is NOTHING:
                return found
            if not frame.avoid or identity(found) not in frame.avoid:
                self.made += 1
                return found
            # What is optional may differ where what is required does not.
            frame = replace(frame, allowance=max(frame.allowance, redraw), vary=True)
        return self.note(Obstacle.CONTRADICTION, "no element unlike the others")

    def spend(self, steps: int = 1) -> None:
        """Take steps of the budget.

        Raises:
            ExhaustedError: none is left.
        """
        self.steps -= steps
        if self.steps < 0:
            raise ExhaustedError

    def candidates(self, shape: Shape, frame: Frame) -> Iterator[Json]:
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

    def _listed(self, shape: Shape, frame: Frame) -> Iterator[Json]:
        values = list(shape.values or ())
        if self.varies(frame):
            self.rng.shuffle(values)
        for each in values:
            new = not frame.avoid or identity(each) not in frame.avoid
            if new and self._passes(shape, each):
                yield each
        self.note(Obstacle.CONTRADICTION, "no value of an enum is left")

    def _passes(self, shape: Shape, value: Json) -> bool:
        """Ask the validator about values that `admits` sees from outside only."""
        if not isinstance(value, dict | list):
            return True
        accepts = self.subject.accepts
        return all(accepts(each, value) for each in shape.places())

    def _given(self, shape: Shape, frame: Frame) -> Json | Nothing:
        """Return a value that the schema itself gives as default or example.

        Objects and arrays only where anything may stand: `full` wants them whole.
        """
        if frame.path in self.trouble:
            return NOTHING
        for part in shape.parts:
            examples = part.schema.get("examples")
            given = list(examples) if isinstance(examples, list) else []
            if "default" in part.schema:
                given.append(part.schema["default"])
            for each in given:
                if (
                    each not in (None, "", [], {})
                    and (self.kind is Kind.RANDOM or not isinstance(each, dict | list))
                    and admits(shape, each)
                    and identity(each) not in frame.avoid
                    and self._passes(shape, each)
                ):
                    return each
        return NOTHING

    def _types(self, shape: Shape, frame: Frame) -> list[str]:
        if not shape.typed:
            return _inferred(shape)
        types = list(shape.types)
        if "integer" in types and "number" in types:
            types.remove("integer")
        if self.varies(frame):
            self.rng.shuffle(types)
        if len(types) > 1 and "null" in types:
            types.remove("null")
            types.append("null")
        return types

    def _of_type(self, shape: Shape, kind: str, frame: Frame) -> Json | Nothing:
        if kind == "object":
            return objects.build(self, shape, frame)
        if kind == "array":
            return arrays.build(self, shape, frame)
        for redraw in range(_REDRAWS):
            found = self._scalar(shape, kind, frame, redraw)
            if found is NOTHING:
                return found
            if self._is_new(shape, found, frame):
                return found
        return self.note(Obstacle.CONTRADICTION, f"no {kind} unlike the others")

    def _is_new(self, shape: Shape, value: Json, frame: Frame) -> bool:
        if frame.avoid and identity(value) in frame.avoid:
            return False
        if isinstance(value, float | int) or shape.excluded:
            return admits(shape, value)
        return True

    def _scalar(
        self, shape: Shape, kind: str, frame: Frame, redraw: int
    ) -> Json | Nothing:
        if kind == "null":
            return None
        if kind == "boolean":
            return self.rng.random() < 0.5  # noqa: PLR2004 - a fair coin
        if kind == "string":
            return self._string(shape.string(name=frame.name))
        number = shape.number(integer=kind == "integer", name=frame.name)
        if redraw >= _REDRAWS // 2 and number.minimum is None:
            # The usual numbers are all taken.
            number = replace(number, minimum=self.rng.randint(0, 10**redraw))
        found = numbers.choose(number, self.rng)
        if found is None:
            return self.note(Obstacle.CONTRADICTION, str(number))
        if isinstance(found, int) and "integer" not in shape.types:
            return found + 0.5
        for each in shape.not_multiples:
            if kind == "number" and is_multiple(found, each):
                return found + each / 2
        return found

    def _string(self, shape: strings.StringShape) -> Json | Nothing:
        if shape.min_length > _LONGEST:
            detail = f"{shape.min_length} characters are required"
            return self.note(Obstacle.TOO_LARGE, detail)
        text = strings.choose(shape, self.rng)
        if text is None:
            return self.note(Obstacle.PATTERN, str(shape))
        return text


def _inferred(shape: Shape) -> list[str]:
    """Return the types to try where no part names one."""
    hints = {
        "object": bool(
            shape.required
            or shape.min_properties
            or any("properties" in each.schema for each in shape.parts)
            or any("patternProperties" in each.schema for each in shape.parts)
            or any("additionalProperties" in each.schema for each in shape.parts)
            or shape.dependencies
        ),
        "array": bool(
            shape.min_items
            or shape.contains
            or shape.unique
            or any(item in each.schema for each in shape.parts for item in _ITEMS)
        ),
        "number": bool(
            shape.multiples or shape.minimum is not None or shape.maximum is not None
        ),
    }
    likely = [kind for kind, hinted in hints.items() if hinted]
    return [
        each
        for each in (*likely, "string", "object", "array", "number", "boolean", "null")
        if each in shape.types or (each == "number" and "integer" in shape.types)
    ]


_ITEMS = ("items", "prefixItems")
