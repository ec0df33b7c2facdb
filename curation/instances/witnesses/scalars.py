"""Strings, numbers, booleans and null, unlike those that must be avoided."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from curation.instances.constraints.admission import admits
from curation.instances.model import Obstacle
from curation.instances.scalars import numbers, strings
from curation.instances.witnesses.context import NOTHING, REDRAWS
from curation.json.values import identity, is_multiple

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.model import Conjunction
    from curation.instances.witnesses.context import BuildContext, Nothing, ValueBuilder

#: Types with enough values that drawing again is worth it.
_DRAWN = frozenset({"string", "integer", "number"})
#: Longest string that is made.
LONGEST = 1_000_000


def build(
    builder: ValueBuilder, shape: Conjunction, kind: str, context: BuildContext
) -> Json | Nothing:
    """Return a scalar of one type, or NOTHING."""
    watched = shape.excluded or shape.not_multiples or "integer" not in shape.types
    for redraw in range(REDRAWS):
        found = _draw(builder, shape, kind, context.name, redraw)
        if found is NOTHING:
            return found
        new = not context.avoid or identity(found) not in context.avoid
        if new and not (watched and not admits(shape, found)):
            if not watched and not context.avoid and kind in _DRAWN:
                builder.leaves[context.path] = partial(
                    _draw, builder, shape, kind, context.name, 0
                )
            return found
    return builder.note(Obstacle.CONTRADICTION, f"no {kind} unlike the others")


def _draw(
    builder: ValueBuilder, shape: Conjunction, kind: str, name: str, redraw: int
) -> Json | Nothing:
    if kind == "string":
        return _string(builder, shape.string(name=name))
    if kind == "boolean":
        return builder.coin()
    if kind == "null":
        return None
    number = shape.number(integer=kind == "integer", name=name)
    if redraw >= REDRAWS // 2 and number.minimum is None:
        # The usual numbers are all taken.
        number = replace(number, minimum=builder.rng.randint(0, 10**redraw))
    found = numbers.choose(number, builder.rng)
    if found is None:
        return builder.note(Obstacle.CONTRADICTION, str(number))
    if isinstance(found, int) and "integer" not in shape.types:
        return found + 0.5
    for factor in shape.not_multiples:
        if kind == "number" and is_multiple(found, factor):
            return found + factor / 2
    return found


def _string(builder: ValueBuilder, shape: strings.StringShape) -> Json | Nothing:
    if shape.min_length > LONGEST:
        detail = f"{shape.min_length} characters are required"
        return builder.note(Obstacle.TOO_LARGE, detail)
    text = strings.choose(shape, builder.rng)
    if text is None:
        return builder.note(Obstacle.PATTERN, str(shape))
    return text
