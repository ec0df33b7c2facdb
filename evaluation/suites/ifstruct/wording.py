"""Put a row into words: six styles of showing fields, in the words of a voice."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

from evaluation.suites.ifstruct.rows import (
    Field,
    RowSpec,
    all_fields,
    number_text,
)

_FOLDER: Final = Path(__file__).parent
#: The gap in a request without a context.
_GAP: Final = re.compile(r" +([.,?])")


@cache
def voices() -> Mapping[str, Mapping[str, Any]]:
    """Return the texts of every voice by the name of its file in `voices`.

    One text of each list is drawn: of `exact` or `range` for the number of items, of
    `request`, of `prose` for each field, and of one list for each wish about the answer
    (`format`, `wrapped`, `required_language`, ...). `fields`, `schema`, `annotated`,
    `glossary` and `table` introduce the styles. Names in braces are placeholders:
    `{noun}`, `{least}`, `{most}`, `{count}`, `{context}`, `{label}`, `{name}`,
    `{facts}`, `{format}`, `{key}`, `{language}`.

    A voice that `revises` states choices, in `musings`, and takes them back, in `limit`
    and `dropped` or with one of `corrections` in place of `{correction}`.
    """
    return {
        path.stem: {"revises": False, **msgspec.toml.decode(path.read_bytes())}
        for path in sorted((_FOLDER / "voices").glob("*.toml"))
    }


@cache
def escapes() -> Mapping[str, Sequence[str]]:
    """Return the sentences that ask for each kind of text that must be escaped."""
    content = (_FOLDER / "escapes.toml").read_bytes()
    return msgspec.toml.decode(content, type=dict[str, list[str]])


class Wording:
    """Words one row; every draw comes from one generator of random numbers."""

    def __init__(self, spec: RowSpec, draw: Random) -> None:
        """Take a row's choices, and the source of randomness."""
        self._spec = spec
        self._voice = voices()[spec.voice]
        self._draw = draw
        self._retracted = {retraction.choice for retraction in spec.retractions}

    def prompt(self) -> str:
        """Return the whole request, in three paragraphs."""
        paragraphs = (
            _GAP.sub(r"\1", " ".join(self._request())),
            "\n".join(self._fields()),
            " ".join(filter(None, self._shape())),
        )
        return "\n\n".join(paragraphs)

    def _say(self, kind: str, /, **words: object) -> str:
        """Return one of the voice's texts of a kind."""
        text: str = self._draw.choice(self._voice[kind])
        return text.format(**words)

    def _final(self, choice: str, kind: str, /, **words: object) -> str:
        """Return the text of a choice, introduced as a correction if it is one."""
        correction = self._say("corrections") if choice in self._retracted else ""
        text = self._say(kind, correction=correction, **words)
        return text[:1].upper() + text[1:]

    def _request(self) -> Iterator[str]:
        spec = self._spec
        if self._voice["revises"]:
            yield self._say("opening")
            for retraction in spec.retractions:
                musings = self._voice["musings"][retraction.choice]
                text: str = self._draw.choice(musings)
                yield text.format(wrong=retraction.wrong, field=retraction.field)
        noun = spec.label if spec.most == 1 else spec.plural
        name = "exact" if spec.least == spec.most else "range"
        count = self._say(name, least=spec.least, most=spec.most, noun=noun)
        yield self._final("count", "request", count=count, context=spec.context)
        if spec.manner:
            yield self._say("manner", manner=spec.manner)
        for _, field in all_fields(spec.fields):
            for kind in field.stress:
                yield self._draw.choice(escapes()[kind]).format(field=field.name)

    def _fields(self) -> Iterator[str]:
        spec = self._spec
        style = spec.presentation
        introduction = "fields" if style in ("bullets", "prose") else style
        yield self._voice[introduction].format(label=spec.label)
        match style:
            case "schema":
                yield json.dumps(spec.schema, indent=2, ensure_ascii=False)
            case "annotated":
                yield _annotated(spec)
            case "glossary":
                yield _glossary(spec)
            case "table":
                yield _table(spec)
            case "bullets":
                yield _bullets(spec)
            case _:
                sentences = (
                    self._say("prose", name=field.name, facts=_facts(field))
                    for field in spec.fields
                )
                yield " ".join(sentences)
        for retraction in spec.retractions:
            if retraction.choice == "limit":
                final = retraction.final
                yield self._say("limit", field=retraction.field, final=final)
            elif retraction.choice == "field":
                yield self._say("dropped", wrong=retraction.wrong)

    def _shape(self) -> Iterator[str]:
        spec = self._spec
        spelled = spec.format.upper()
        yield self._final("format", "format", format=spelled)
        shape = "bare" if spec.wrapper is None else "wrapped"
        yield self._final("wrapper", shape, key=spec.wrapper)
        yield self._say("no_extra")
        wish, _, language = spec.fence.partition(":")
        if wish != "free":
            name = "required_language" if language else wish
            yield self._final("fence", name, language=language)
        yield self._say("allowed" if spec.commentary else "banned", format=spelled)


def _facts(field: Field) -> str:
    about = field.about[:1].lower() + field.about[1:]
    optional = "this one may be left out" if field.optional else ""
    facts = ", ".join(filter(None, (_plain_text(field), about, optional)))
    if not field.fields:
        return facts
    inner = ", ".join(f"`{member.name}` ({_facts(member)})" for member in field.fields)
    opening = "each one having" if field.type == "objects" else "having"
    return f"{facts}, {opening} {inner}"


def _optional(field: Field) -> str:
    return "optional" if field.optional else ""


def _remarks(*remarks: str) -> str:
    return "; ".join(filter(None, remarks))


def _bullets(spec: RowSpec) -> str:
    return "\n".join(
        f"- `{path}`: {_definition(field)}" for path, field in all_fields(spec.fields)
    )


def _definition(field: Field) -> str:
    text = _remarks(_limits_text(field), _optional(field))
    bracketed = f" ({text})" if text else ""
    about = f" - {field.about}" if field.about else ""
    match field.type:
        case "object":
            return f"an object{bracketed}{about}, with:"
        case "objects":
            return f"a list of {_items(field, 'object')}{bracketed}{about}, each with:"
    return f"{_type_text(field)}{bracketed}{about}"


def _glossary(spec: RowSpec) -> str:
    """Return one line a path: `poems[].poem_title = string; Title of the poem`."""
    definitions = (
        (path, (_type_text(field), _limits_text(field), _optional(field), field.about))
        for path, field in all_fields(spec.fields)
    )
    return "\n".join(f"{path} = {_remarks(*parts)}" for path, parts in definitions)


_HEAD: Final = ("path", "type", "limits", "required", "notes")
_TYPES: Final = {
    "enum": "string",
    "objects": "list of objects",
    "strings": "list of strings",
}


def _table(spec: RowSpec) -> str:
    """Return the table, framed with `+`, `-` and `|`."""
    rows = [_HEAD, *(_row(path, field) for path, field in all_fields(spec.fields))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = f"+{'+'.join('-' * (width + 2) for width in widths)}+"
    lines = [_line(row, widths) for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def _row(path: str, field: Field) -> tuple[str, ...]:
    limits = _signs_text(field)
    if field.type == "enum":
        limits = _enum_text(field, "/")
    elif field.type in ("objects", "strings"):
        limits = _items(field)
    kind = _TYPES.get(field.type, field.type)
    return path, kind, limits, _optional(field) or "yes", field.about


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(cells)} |"


def _annotated(spec: RowSpec) -> str:
    """Return the example: JSON with `//` remarks, or YAML with `#` remarks."""
    count = _counted(spec.least, spec.most, "item")
    if spec.format == "json":
        item = ["  {", *_json_lines(spec.fields, "    "), "  },"]
        lines = [f"[  // {count}", *item, "  ...", "]"]
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


def _items(field: Field, noun: str = "item") -> str:
    return _counted(field.min_items or 0, field.max_items or 0, noun)


def _counted(minimum: int, maximum: int, noun: str) -> str:
    """Return the number of items of a list: `1 item`, `2-4 items`."""
    count = str(minimum) if minimum == maximum else f"{minimum}-{maximum}"
    return f"{count} {noun}" if count == "1" else f"{count} {noun}s"


def _placeholder(field: Field) -> str:
    if field.type == "enum":
        return _enum_text(field, "|")
    signs = _signs_text(field)
    return f"{field.type} ({signs})" if signs else field.type


def _remark(field: Field, sign: str) -> str:
    count = _items(field) if field.type in ("objects", "strings") else ""
    text = _remarks(_optional(field), field.about, count)
    return f"  {sign} {text}" if text else ""


def _json_lines(fields: tuple[Field, ...], indent: str) -> Iterator[str]:
    for field in fields:
        start = f'{indent}"{field.name}": '
        remark = _remark(field, "//")
        match field.type:
            case "object":
                yield f"{start}{{{remark}"
                yield from _json_lines(field.fields, f"{indent}  ")
                yield f"{indent}}},"
            case "objects":
                yield f"{start}[{remark}"
                yield f"{indent}  {{"
                yield from _json_lines(field.fields, f"{indent}    ")
                yield f"{indent}  }},"
                yield f"{indent}  ..."
                yield f"{indent}],"
            case "strings":
                yield f"{start}[string, ...],{remark}"
            case _:
                yield f"{start}{_placeholder(field)},{remark}"


def _yaml_item(fields: tuple[Field, ...], indent: str) -> Iterator[str]:
    for index, line in enumerate(_yaml_lines(fields, "")):
        yield f"{indent}{'- ' if index == 0 else '  '}{line}"


def _yaml_lines(fields: tuple[Field, ...], indent: str) -> Iterator[str]:
    for field in fields:
        value = ""
        if field.type not in ("object", "objects", "strings"):
            value = f" {_placeholder(field)}"
        yield f"{indent}{field.name}:{value}{_remark(field, '#')}"
        match field.type:
            case "object":
                yield from _yaml_lines(field.fields, f"{indent}  ")
            case "objects":
                yield from _yaml_item(field.fields, f"{indent}  ")
                yield f"{indent}  # ..."
            case "strings":
                yield f"{indent}  - string"
                yield f"{indent}  # ..."


_PLAIN: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
}


def _limits_text(field: Field) -> str:
    low = field.minimum
    high = field.maximum
    if low is not None and high is not None:
        return f"between {number_text(low)} and {number_text(high)}"
    if low is not None:
        return f"at least {number_text(low)}"
    return "" if high is None else f"at most {number_text(high)}"


def _signs_text(field: Field) -> str:
    """Return the bounds of a number in signs: `≥50, ≤25000`."""
    signs = (("≥", field.minimum), ("≤", field.maximum))
    return ", ".join(
        f"{sign}{number_text(bound)}" for sign, bound in signs if bound is not None
    )


def _enum_text(field: Field, between: str = ", ") -> str:
    return between.join(f'"{value}"' for value in field.values)


def _type_text(field: Field) -> str:
    match field.type:
        case "enum":
            return f"string, one of {_enum_text(field)}"
        case "objects":
            return f"list of {_items(field, 'object')}"
        case "strings":
            return f"list of {_items(field, 'string')}"
    return field.type


def _plain_text(field: Field) -> str:
    """Return a field's type and limits in words."""
    match field.type:
        case "enum":
            return f"one of {_enum_text(field)}"
        case "objects":
            return f"a list of {_items(field, 'object')}"
        case "strings":
            return f"a list of {_items(field, 'text')}"
    return " ".join(part for part in (_PLAIN[field.type], _limits_text(field)) if part)
