"""Build a string, number, boolean or null unlike those that must be avoided."""

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


def build_scalar(
    builder: ValueBuilder, conjunction: Conjunction, kind: str, context: BuildContext
) -> Json | Nothing:
    """Return a scalar of one type, or NOTHING."""
    watched = (
        conjunction.excluded
        or conjunction.not_multiples
        or "integer" not in conjunction.types
    )
    for redraw in range(REDRAWS):
        found = _draw(builder, conjunction, kind, context.name, redraw)
        if found is NOTHING:
            return found
        new = not context.avoid or identity(found) not in context.avoid
        if new and not (watched and not admits(conjunction, found)):
            if not watched and not context.avoid and kind in _DRAWN:
                builder.redraws[context.path] = partial(
                    _draw, builder, conjunction, kind, context.name, 0
                )
            return found
    return builder.record_obstacle(
        Obstacle.CONTRADICTION, f"no {kind} unlike the others"
    )


def _draw(
    builder: ValueBuilder, conjunction: Conjunction, kind: str, name: str, redraw: int
) -> Json | Nothing:
    if kind == "string":
        return _string(builder, conjunction.string(name=name))
    if kind == "boolean":
        return builder.flip_coin()
    if kind == "null":
        return None
    number = conjunction.number(integer=kind == "integer", name=name)
    if redraw >= REDRAWS // 2 and number.minimum is None:
        # The usual numbers are all taken.
        number = replace(number, minimum=builder.rng.randint(0, 10**redraw))
    found = numbers.make_number(number, builder.rng)
    if found is None:
        return builder.record_obstacle(Obstacle.CONTRADICTION, str(number))
    if isinstance(found, int) and "integer" not in conjunction.types:
        return found + 0.5
    for factor in conjunction.not_multiples:
        if kind == "number" and is_multiple(found, factor):
            return found + factor / 2
    return found


def _string(
    builder: ValueBuilder, constraints: strings.StringConstraints
) -> Json | Nothing:
    if constraints.min_length > LONGEST:
        detail = f"{constraints.min_length} characters are required"
        return builder.record_obstacle(Obstacle.TOO_LARGE, detail)
    text = strings.make_string(constraints, builder.rng)
    if text is None:
        return builder.record_obstacle(Obstacle.PATTERN, str(constraints))
    return text
