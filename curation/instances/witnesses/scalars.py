"""Strings, numbers, booleans and null, unlike those that must be avoided."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from curation.instances.constraints.admission import admits, identity, is_multiple
from curation.instances.model import Obstacle
from curation.instances.scalars import numbers, strings
from curation.instances.witnesses import builder as making

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.conjunction import Shape
    from curation.instances.witnesses.builder import Frame, Maker, Nothing

#: Types with enough values that drawing again is worth it.
_DRAWN = frozenset({"string", "integer", "number"})
#: Longest string that is made.
LONGEST = 1_000_000


def build(maker: Maker, shape: Shape, kind: str, frame: Frame) -> UntypedJson | Nothing:
    """Return a scalar of one type, or NOTHING."""
    watched = shape.excluded or shape.not_multiples or "integer" not in shape.types
    for redraw in range(making.REDRAWS):
        found = _draw(maker, shape, kind, frame.name, redraw)
        if found is making.NOTHING:
            return found
        new = not frame.avoid or identity(found) not in frame.avoid
        if new and not (watched and not admits(shape, found)):
            if not watched and not frame.avoid and kind in _DRAWN:
                maker.leaves[frame.path] = partial(
                    _draw, maker, shape, kind, frame.name, 0
                )
            return found
    return maker.note(Obstacle.CONTRADICTION, f"no {kind} unlike the others")


def _draw(
    maker: Maker, shape: Shape, kind: str, name: str, redraw: int
) -> UntypedJson | Nothing:
    if kind == "string":
        return _string(maker, shape.string(name=name))
    if kind == "boolean":
        return maker.coin()
    if kind == "null":
        return None
    number = shape.number(integer=kind == "integer", name=name)
    if redraw >= making.REDRAWS // 2 and number.minimum is None:
        # The usual numbers are all taken.
        number = replace(number, minimum=maker.rng.randint(0, 10**redraw))
    found = numbers.choose(number, maker.rng)
    if found is None:
        return maker.note(Obstacle.CONTRADICTION, str(number))
    if isinstance(found, int) and "integer" not in shape.types:
        return found + 0.5
    for each in shape.not_multiples:
        if kind == "number" and is_multiple(found, each):
            return found + each / 2
    return found


def _string(maker: Maker, shape: strings.StringShape) -> UntypedJson | Nothing:
    if shape.min_length > LONGEST:
        detail = f"{shape.min_length} characters are required"
        return maker.note(Obstacle.TOO_LARGE, detail)
    text = strings.choose(shape, maker.rng)
    if text is None:
        return maker.note(Obstacle.PATTERN, str(shape))
    return text
