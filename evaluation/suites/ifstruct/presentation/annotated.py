"""An example of the structure in the format of the answer, types for values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.ifstruct.core.fields import Field, FieldType
from evaluation.suites.ifstruct.core.requirements import AnswerFormat
from evaluation.suites.ifstruct.presentation.wording import (
    count_text,
    enum_text,
    rules_text,
    signs_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.suites.ifstruct.core.row_spec import RowSpec


def annotated(spec: RowSpec) -> str:
    """Return the example: JSON with `//` remarks, or YAML with `#` remarks."""
    count = _items(spec.least, spec.most)
    if spec.format is AnswerFormat.JSON:
        lines = [f"[  // {count}", *_json_object(spec.fields, "  "), "  ...", "]"]
        if spec.wrapper is not None:
            inner = [f"  {line}" for line in lines[1:]]
            lines = ["{", f'  "{spec.wrapper}": {lines[0]}', *inner, "}"]
        return "\n".join(lines)
    lines = [*_yaml_item(spec.fields, ""), "# ..."]
    if spec.wrapper is not None:
        lines = [f"{spec.wrapper}:  # {count}", *(f"  {line}" for line in lines)]
    else:
        lines = [f"# {count}", *lines]
    return "\n".join(lines)


def _items(least: int | None, most: int | None) -> str:
    count = count_text(least, most)
    return f"{count} item" if count == "1" else f"{count} items"


def _placeholder(field: Field) -> str:
    if field.type is FieldType.ENUM:
        return enum_text(field, "|")
    signs = signs_text(field)
    return f"{field.type} ({signs})" if signs else str(field.type)


def _remark(field: Field, sign: str, more: str = "") -> str:
    said = ["optional" if field.optional else "", rules_text(field), field.about, more]
    text = "; ".join(part for part in said if part)
    return f"  {sign} {text}" if text else ""


def _json_object(fields: tuple[Field, ...], indent: str) -> Iterator[str]:
    yield f"{indent}{{"
    for field in fields:
        yield from _json_field(field, f"{indent}  ")
    yield f"{indent}}},"


def _json_field(field: Field, indent: str) -> Iterator[str]:
    start = f'{indent}"{field.name}": '
    count = _items(field.min_items, field.max_items)
    match field.type:
        case FieldType.OBJECT:
            yield f"{start}{{{_remark(field, '//')}"
            for inner in field.fields:
                yield from _json_field(inner, f"{indent}  ")
            yield f"{indent}}},"
        case FieldType.OBJECTS:
            yield f"{start}[{_remark(field, '//', count)}"
            yield from _json_object(field.fields, f"{indent}  ")
            yield f"{indent}  ..."
            yield f"{indent}],"
        case FieldType.STRINGS:
            yield f"{start}[string, ...],{_remark(field, '//', count)}"
        case _:
            yield f"{start}{_placeholder(field)},{_remark(field, '//')}"


def _yaml_item(fields: tuple[Field, ...], indent: str) -> Iterator[str]:
    for index, line in enumerate(_yaml_fields(fields, "")):
        yield f"{indent}{'- ' if index == 0 else '  '}{line}"


def _yaml_fields(fields: tuple[Field, ...], indent: str) -> Iterator[str]:
    for field in fields:
        count = _items(field.min_items, field.max_items)
        start = f"{indent}{field.name}:"
        match field.type:
            case FieldType.OBJECT:
                yield f"{start}{_remark(field, '#')}"
                yield from _yaml_fields(field.fields, f"{indent}  ")
            case FieldType.OBJECTS:
                yield f"{start}{_remark(field, '#', count)}"
                yield from _yaml_item(field.fields, f"{indent}  ")
                yield f"{indent}  # ..."
            case FieldType.STRINGS:
                yield f"{start}{_remark(field, '#', count)}"
                yield f"{indent}  - string"
                yield f"{indent}  # ..."
            case _:
                yield f"{start} {_placeholder(field)}{_remark(field, '#')}"
