"""Put a row into words: six styles of showing fields, in the words of a voice."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from evaluation.suites.ifstruct.data_files import Voice, escapes
from evaluation.suites.ifstruct.rows import (
    AnswerFormat,
    Choice,
    Fence,
    FenceWish,
    Field,
    FieldType,
    Presentation,
    Retraction,
    RowSpec,
    all_fields,
    number_text,
)

#: The gap in a request without a context.
_GAP: Final = re.compile(r" +([.,?])")


class Wording:
    """Words one row; every draw comes from one generator of random numbers."""

    def __init__(self, spec: RowSpec, voice: Voice, draw: Random) -> None:
        """Take a row's choices, and the voice that words them."""
        self._spec = spec
        self._voice = voice
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

    def _one_of(self, texts: Sequence[str], **words: object) -> str:
        return self._draw.choice(texts).format(**words)

    def _final(self, choice: Choice, texts: Sequence[str], **words: object) -> str:
        """Return the text of a choice, introduced as a correction if it is one."""
        voice = self._voice
        correction = ""
        if choice in self._retracted:
            correction = self._draw.choice(voice.corrections)
        return _capital(self._one_of(texts, correction=correction, **words))

    def _request(self) -> Iterator[str]:
        spec = self._spec
        voice = self._voice
        if voice.opening:
            yield self._one_of(voice.opening)
        yield from self._musings()
        yield self._final(
            Choice.COUNT, voice.request, count=self._count(), context=spec.context
        )
        if spec.manner:
            yield self._one_of(voice.manner, manner=spec.manner)
        for _, field in all_fields(spec.fields):
            for kind in field.stress:
                yield self._one_of(escapes()[kind].ask, field=field.name)

    def _musings(self) -> Iterator[str]:
        for retraction in self._spec.retractions if self._voice.musings else ():
            texts = self._voice.musings[retraction.choice]
            wrong = retraction.wrong
            yield self._one_of(texts, wrong=wrong, field=retraction.field)

    def _count(self) -> str:
        spec = self._spec
        is_exact = spec.least == spec.most
        noun = spec.label if spec.most == 1 else spec.plural
        texts = self._voice.exact if is_exact else self._voice.range
        return self._one_of(texts, least=spec.least, most=spec.most, noun=noun)

    def _fields(self) -> Iterator[str]:
        spec = self._spec
        voice = self._voice
        match spec.presentation:
            case Presentation.SCHEMA:
                yield voice.schema
                schema = spec.schema
                yield json.dumps(schema, indent=2, ensure_ascii=False)
            case Presentation.ANNOTATED:
                yield voice.annotated
                yield _annotated(spec)
            case Presentation.GLOSSARY:
                yield voice.glossary
                yield _glossary(spec)
            case Presentation.TABLE:
                yield voice.table.format(label=spec.label)
                yield _table(spec)
            case Presentation.BULLETS:
                yield voice.fields.format(label=spec.label)
                yield _bullets(spec)
            case Presentation.PROSE:
                yield voice.fields.format(label=spec.label)
                sentences = (
                    self._one_of(voice.prose, name=field.name, facts=_facts(field))
                    for field in spec.fields
                )
                yield " ".join(sentences)
        for retraction in spec.retractions:
            yield from self._late_correction(retraction)

    def _late_correction(self, retraction: Retraction) -> Iterator[str]:
        field = retraction.field
        final = retraction.final
        if retraction.choice is Choice.LIMIT:
            yield self._one_of(self._voice.limit, field=field, final=final)
        elif retraction.choice is Choice.FIELD:
            yield self._one_of(self._voice.dropped, wrong=retraction.wrong)

    def _shape(self) -> Iterator[str]:
        spec = self._spec
        voice = self._voice
        spelled = spec.format.upper()
        yield self._final(Choice.FORMAT, voice.format, format=spelled)
        shape = voice.bare if spec.wrapper is None else voice.wrapped
        yield self._final(Choice.WRAPPER, shape, key=spec.wrapper)
        yield self._one_of(voice.no_extra)
        fence = Fence.parse(spec.fence)
        if fence.wish is FenceWish.FORBIDDEN:
            yield self._final(Choice.FENCE, voice.forbidden)
        elif fence.language:
            texts = voice.required_language
            yield self._final(Choice.FENCE, texts, language=fence.language)
        elif fence.wish is FenceWish.REQUIRED:
            yield self._final(Choice.FENCE, voice.required)
        comment = voice.allowed if spec.commentary else voice.banned
        yield self._one_of(comment, format=spelled)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _facts(field: Field) -> str:
    parts = [_plain_text(field)]
    parts += [field.about[:1].lower() + field.about[1:]] if field.about else []
    parts += ["this one may be left out"] if field.optional else []
    facts = ", ".join(part for part in parts if part)
    if not field.fields:
        return facts
    inner = ", ".join(f"`{member.name}` ({_facts(member)})" for member in field.fields)
    opening = "each one having" if field.type is FieldType.OBJECTS else "having"
    return f"{facts}, {opening} {inner}"


def _bullets(spec: RowSpec) -> str:
    return "\n".join(
        f"- `{path}`: {_definition(field)}" for path, field in all_fields(spec.fields)
    )


def _definition(field: Field) -> str:
    remarks = (_limits_text(field), "optional" if field.optional else "")
    text = "; ".join(remark for remark in remarks if remark)
    bracketed = f" ({text})" if text else ""
    about = f" - {field.about}" if field.about else ""
    match field.type:
        case FieldType.OBJECT:
            return f"an object{bracketed}{about}, with:"
        case FieldType.OBJECTS:
            return f"a list of {_items(field, 'object')}{bracketed}{about}, each with:"
    return f"{_type_text(field)}{bracketed}{about}"


def _glossary(spec: RowSpec) -> str:
    """Return one line a path: `poems[].poem_title = string; Title of the poem`."""
    return "\n".join(
        f"{path} = {'; '.join(_parts(field))}"
        for path, field in all_fields(spec.fields)
    )


def _parts(field: Field) -> list[str]:
    parts = [_type_text(field), _limits_text(field)]
    parts += ["optional" if field.optional else "", field.about]
    return [part for part in parts if part]


_HEAD: Final = ("path", "type", "limits", "required", "notes")
_TYPES: Final = {
    FieldType.ENUM: "string",
    FieldType.OBJECTS: "list of objects",
    FieldType.STRINGS: "list of strings",
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
    if field.type is FieldType.ENUM:
        limits = _enum_text(field, "/")
    elif field.type in (FieldType.OBJECTS, FieldType.STRINGS):
        limits = _items(field)
    required = "optional" if field.optional else "yes"
    kind = _TYPES.get(field.type, str(field.type))
    return path, kind, limits, required, field.about


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(cells)} |"


def _annotated(spec: RowSpec) -> str:
    """Return the example: JSON with `//` remarks, or YAML with `#` remarks."""
    count = _counted(spec.least, spec.most, "item")
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


def _items(field: Field, noun: str = "item") -> str:
    return _counted(field.min_items or 0, field.max_items or 0, noun)


def _counted(minimum: int, maximum: int, noun: str) -> str:
    """Return the number of items of a list: `1 item`, `2-4 items`."""
    count = str(minimum) if minimum == maximum else f"{minimum}-{maximum}"
    return f"{count} {noun}" if count == "1" else f"{count} {noun}s"


def _placeholder(field: Field) -> str:
    if field.type is FieldType.ENUM:
        return _enum_text(field, "|")
    signs = _signs_text(field)
    return f"{field.type} ({signs})" if signs else str(field.type)


def _remark(field: Field, sign: str, remark: str = "") -> str:
    parts = ("optional" if field.optional else "", field.about, remark)
    text = "; ".join(part for part in parts if part)
    return f"  {sign} {text}" if text else ""


def _json_object(fields: tuple[Field, ...], indent: str) -> Iterator[str]:
    yield f"{indent}{{"
    for field in fields:
        yield from _json_field(field, f"{indent}  ")
    yield f"{indent}}},"


def _json_field(field: Field, indent: str) -> Iterator[str]:
    start = f'{indent}"{field.name}": '
    count = _items(field)
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
        count = _items(field)
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


_PLAIN: Final = {
    FieldType.STRING: "text",
    FieldType.INTEGER: "a whole number",
    FieldType.NUMBER: "a number",
    FieldType.BOOLEAN: "true or false",
    FieldType.OBJECT: "an object",
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
        case FieldType.ENUM:
            return f"string, one of {_enum_text(field)}"
        case FieldType.OBJECTS:
            return f"list of {_items(field, 'object')}"
        case FieldType.STRINGS:
            return f"list of {_items(field, 'string')}"
    return str(field.type)


def _plain_text(field: Field) -> str:
    """Return a field's type and limits in words."""
    match field.type:
        case FieldType.ENUM:
            return f"one of {_enum_text(field)}"
        case FieldType.OBJECTS:
            return f"a list of {_items(field, 'object')}"
        case FieldType.STRINGS:
            return f"a list of {_items(field, 'text')}"
    return " ".join(part for part in (_PLAIN[field.type], _limits_text(field)) if part)
