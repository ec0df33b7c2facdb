"""Words for types and limits, the same in every style that uses words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.core.fields import Field, FieldType

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAIN: Final = {
    FieldType.STRING: "text",
    FieldType.INTEGER: "a whole number",
    FieldType.NUMBER: "a number",
    FieldType.BOOLEAN: "true or false",
    FieldType.OBJECT: "an object",
}


def number_text(number: float) -> str:
    """Return a number as requests write it: `60`, `0.5`, never `60.0`."""
    return str(int(number)) if number == int(number) else repr(float(number))


def count_text(least: int | None, most: int | None) -> str:
    """Return how many items a list has: `3`, `2-4`, `at least 2`, empty for any."""
    if least is not None and most is not None:
        return str(least) if least == most else f"{least}-{most}"
    if least is not None:
        return f"at least {least}"
    return "" if most is None else f"at most {most}"


def limits_text(field: Field) -> str:
    """Return the bounds of a number in words; empty where it has none."""
    low, high = field.minimum, field.maximum
    if low is not None and high is not None:
        return f"between {number_text(low)} and {number_text(high)}"
    if low is not None:
        return f"at least {number_text(low)}"
    return "" if high is None else f"at most {number_text(high)}"


def signs_text(field: Field) -> str:
    """Return the bounds of a number in signs: `≥50, ≤25000`."""
    signs = (("≥", field.minimum), ("≤", field.maximum))
    return ", ".join(
        f"{sign}{number_text(bound)}" for sign, bound in signs if bound is not None
    )


def enum_text(field: Field, between: str = ", ") -> str:
    """Return the values of an enum in quotation marks."""
    return between.join(f'"{value}"' for value in field.values)


def type_text(field: Field) -> str:
    """Return a field's type as a programmer writes it."""
    match field.type:
        case FieldType.ENUM:
            return f"string, one of {enum_text(field)}"
        case FieldType.OBJECTS:
            return f"list of {count_text(field.min_items, field.max_items)} objects"
        case FieldType.STRINGS:
            return f"list of {count_text(field.min_items, field.max_items)} strings"
    return str(field.type)


def plain_text(field: Field) -> str:
    """Return a field's type and limits as people say them."""
    match field.type:
        case FieldType.ENUM:
            return f"one of {enum_text(field)}"
        case FieldType.OBJECTS:
            count = count_text(field.min_items, field.max_items)
            return f"a list of {count} objects"
        case FieldType.STRINGS:
            return f"a list of {count_text(field.min_items, field.max_items)} texts"
    return " ".join(part for part in (_PLAIN[field.type], limits_text(field)) if part)


def rules_text(field: Field) -> str:
    """Return the extended rules of a field, joined by semicolons; empty for none."""
    return "; ".join(_rules(field))


def _rules(field: Field) -> Iterator[str]:
    if field.pattern:
        yield f"matching the regular expression {field.pattern}"
    if field.format:
        yield f"in the format {field.format} of JSON Schema"
    low, high = field.min_length, field.max_length
    if low is not None and high is not None:
        yield f"{low} to {high} characters long"
    elif high is not None:
        yield f"at most {high} characters long"
    elif low is not None:
        yield f"at least {low} characters long"
    if field.unique:
        yield "no two of them equal"
    if field.when is not None:
        yield f"required when `{field.when.field}` is {value_text(field.when.equals)}"


def value_text(value: str | bool) -> str:  # noqa: FBT001 (the value of a field)
    """Return a value as JSON writes it."""
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'
