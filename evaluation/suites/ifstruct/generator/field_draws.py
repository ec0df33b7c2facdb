"""The fields of one row, drawn out of all that its kind may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from evaluation.suites.ifstruct.core.fields import Field, FieldType

if TYPE_CHECKING:
    from random import Random

    from evaluation.suites.ifstruct.generator.entity_kinds import EntityKind

#: Fields of an item beside those with a text to escape.
_FEWEST, _MOST = 4, 8
#: How often a field keeps its description, and what else is a matter of chance.
_DESCRIBED: Final = 0.6
_NESTED: Final = 0.8
_OPTIONAL_KEPT: Final = 0.8
_OPTIONAL_ELSE: Final = 0.1
_BOTH_BOUNDS: Final = 0.75
_SHUFFLED: Final = 0.5
#: The parts of a range of numbers that may be asked for.
_PARTS: Final = (1, 0.8, 0.6, 0.5)


def draw_fields(kind: EntityKind, *, escaping: bool, draw: Random) -> tuple[Field, ...]:
    """Return the fields of a row's items.

    Args:
        kind: The kind of thing.
        escaping: Whether one or two texts have to need escaping; else none may.
        draw: Where chance comes from.
    """
    plain = [field for field in kind.fields if not field.stress]
    nested = [field for field in plain if field.fields]
    flat = [field for field in plain if not field.fields]
    chosen = draw.sample(flat, min(len(flat), draw.randint(_FEWEST, _MOST)))
    if nested and draw.random() < _NESTED:
        chosen.append(draw.choice(nested))
    if escaping:
        stressed = [field for field in kind.fields if field.stress]
        chosen += draw.sample(stressed, min(len(stressed), draw.randint(1, 2)))
    if draw.random() < _SHUFFLED:
        draw.shuffle(chosen)
    else:
        chosen.sort(key=kind.fields.index)
    return _never_empty(tuple(_vary(field, escaping, draw) for field in chosen))


def _never_empty(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the fields with one at least that has to be there.

    An object without members can be written in YAML as JSON only, which is refused.
    """
    if all(field.optional for field in fields):
        return (replace(fields[0], optional=False), *fields[1:])
    return fields


def _vary(field: Field, escaping: bool, draw: Random) -> Field:  # noqa: FBT001 (handed down)
    """Return a field with limits, values and inner fields of this row's own."""
    odds = _OPTIONAL_KEPT if field.optional else _OPTIONAL_ELSE
    field = replace(
        field,
        optional=draw.random() < odds and not field.stress,
        about=field.about if draw.random() < _DESCRIBED else "",
        stress=tuple(draw.sample(field.stress, min(len(field.stress), 1))),
    )
    match field.type:
        case FieldType.INTEGER | FieldType.NUMBER:
            return _vary_bounds(field, draw)
        case FieldType.ENUM:
            kept = draw.randint(2, len(field.values))
            chosen = set(draw.sample(field.values, kept))
            values = tuple(value for value in field.values if value in chosen)
            return replace(field, values=values)
        case FieldType.OBJECT | FieldType.OBJECTS | FieldType.STRINGS:
            return _vary_inside(field, escaping, draw)
    return field


def _vary_bounds(field: Field, draw: Random) -> Field:
    low, high = field.minimum or 0, field.maximum or 0
    if draw.random() < _BOTH_BOUNDS:
        part = draw.choice(_PARTS)
        lower = high if part == 1 else _rounded(low + (high - low) * part, field.type)
        return replace(field, maximum=lower) if low < lower else field
    if draw.random() < 1 / 2:
        return replace(field, minimum=None)
    return replace(field, maximum=None)


def _rounded(bound: float, kind: FieldType) -> int | float:
    """Return a bound that a person would write: of two digits, then zeros."""
    short = float(f"{bound:.2g}")
    whole = kind is FieldType.INTEGER or short == int(short)
    return int(short) if whole else short


def _vary_inside(field: Field, escaping: bool, draw: Random) -> Field:  # noqa: FBT001 (handed down)
    inner = [one for one in field.fields if escaping or not one.stress]
    if inner:
        kept = draw.randint(1, len(inner))
        inner = sorted(draw.sample(inner, kept), key=field.fields.index)
        varied = tuple(_vary(one, escaping, draw) for one in inner)
        field = replace(field, fields=_never_empty(varied))
    if field.min_items is None or field.max_items is None:
        return field
    least = draw.randint(field.min_items, field.max_items)
    most = draw.randint(least, field.max_items)
    return replace(field, min_items=least, max_items=most)
