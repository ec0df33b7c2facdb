"""Put a row into words: six styles of showing fields, in the words of a voice.

A model can reword a request. Its text is taken if that states every requirement: the
last word counts, as a request may think aloud, and what it says of fields stays as it
is, in prose the name of each with its type and limits. The patterns match ordinary
English requests; a statement that they cannot read counts as lost, so that a row rather
keeps its own text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from textwrap import indent
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import asdict, replace

from evaluation.core.records import Message, Prompt, Record
from evaluation.suites.ifstruct.rows import (
    Field,
    IfstructRecord,
    IfstructSettings,
    RowSpec,
    all_fields,
    number_text,
    read_record,
    read_toml,
)

_Fields: TypeAlias = tuple[Field, ...]
#: The gap in a request without a context.
_GAP: Final = re.compile(r" +([.,?])")


#: The texts of every voice by the name of its file in `voices`.
#:
#: One text of each list is drawn: of `exact` or `range` for the number of items, of
#: `request`, of `prose` for each field, and of one list for each wish about the answer
#: (`format`, `wrapped`, `required_language`, ...). `fields`, `schema`, `annotated`,
#: `glossary` and `table` introduce the styles. Names in braces are placeholders:
#: `{noun}`, `{least}`, `{most}`, `{count}`, `{context}`, `{label}`, `{name}`,
#: `{facts}`, `{format}`, `{key}`, `{language}`.
#:
#: A voice with `musings` revises: it states choices in these, and takes them back, in
#: `limit` and `dropped` or with one of `corrections` in place of `{correction}`.
VOICES: Final[Mapping[str, Mapping[str, Any]]] = {
    path.stem: read_toml(f"voices/{path.name}")
    for path in sorted(Path(__file__).with_name("voices").glob("*.toml"))
}
#: The sentences that ask for each kind of text that must be escaped.
ESCAPES: Final[Mapping[str, Sequence[str]]] = read_toml("escapes.toml")


class Wording:
    """Words one row; every draw comes from one generator of random numbers."""

    def __init__(self, row: IfstructRecord, spec: RowSpec, draw: Random) -> None:
        """Take a row, its other choices, and the source of randomness."""
        self._row, self._spec = row, spec
        self._voice = VOICES[row.voice]
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

    def _say(self, texts: Sequence[str], /, **words: object) -> str:
        """Return one of several texts, with words for its placeholders."""
        return self._draw.choice(texts).format(**words)

    def _final(self, choice: str, kind: str, /, **words: object) -> str:
        """Return the text of a choice, introduced as a correction if it is one."""
        correction = ""
        if choice in self._retracted:
            correction = self._say(self._voice["corrections"])
        text = self._say(self._voice[kind], correction=correction, **words)
        return text[:1].upper() + text[1:]

    def _request(self) -> Iterator[str]:
        spec, voice = self._spec, self._voice
        if "musings" in voice:
            yield self._say(voice["opening"])
        for retraction in spec.retractions:
            yield self._say(voice["musings"][retraction.choice], **asdict(retraction))
        least, most = self._row.counts
        noun = spec.label if most == 1 else spec.plural
        counts = voice["exact" if least == most else "range"]
        count = self._say(counts, least=least, most=most, noun=noun)
        yield self._final("count", "request", count=count, context=spec.context)
        if spec.manner:
            yield self._say(voice["manner"], manner=spec.manner)
        for _, field in all_fields(spec.fields):
            for kind in field.stress:
                yield self._say(ESCAPES[kind], field=field.name)

    def _fields(self) -> Iterator[str]:
        spec, voice = self._spec, self._voice
        style = self._row.presentation
        introduction = "fields" if style in ("bullets", "prose") else style
        yield voice[introduction].format(label=spec.label)
        if style == "prose":
            yield " ".join(
                self._say(voice["prose"], name=field.name, facts=_facts(field))
                for field in spec.fields
            )
        else:
            yield _STYLES[style](self._row, spec.fields)
        for retraction in spec.retractions:
            if retraction.choice in ("limit", "field"):
                yield self._say(voice[retraction.choice], **asdict(retraction))

    def _shape(self) -> Iterator[str]:
        row = self._row
        spelled = row.output_format.upper()
        yield self._final("format", "format", format=spelled)
        shape = "bare" if row.wrapper is None else "wrapped"
        yield self._final("wrapper", shape, key=row.wrapper)
        yield self._say(self._voice["no_extra"])
        wish, _, language = row.fence.partition(":")
        if wish != "free":
            name = "required_language" if language else wish
            yield self._final("fence", name, language=language)
        kind = "banned" if row.require_no_commentary else "allowed"
        yield self._say(self._voice[kind], format=spelled)


_IN_PROSE: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
}


def _facts(field: Field) -> str:
    """Return a field's type, limits and inner fields in words."""
    match field.type:
        case "enum":
            kind = f"one of {_values(field, ', ')}"
        case "objects" | "strings":
            kind = f"a {_type(field, text='text')}"
        case _:
            kind = _joined(" ", _IN_PROSE[field.type], _limits(field))
    about = field.about[:1].lower() + field.about[1:]
    optional = "this one may be left out" if field.optional else ""
    inner = ", ".join(f"`{it.name}` ({_facts(it)})" for it in field.fields)
    opening = "each one having " if field.type == "objects" else "having "
    return _joined(", ", kind, about, optional, inner and opening + inner)


def _joined(between: str, *parts: str) -> str:
    return between.join(filter(None, parts))


def _optional(field: Field) -> str:
    return "optional" if field.optional else ""


def _type(field: Field, text: str = "string") -> str:
    """Return a type with values and lengths; `text` is the word for a string."""
    nouns = {"objects": "object", "strings": text}
    if field.type in nouns:
        return f"list of {_length(field, nouns[field.type])}"
    return f"string, one of {_values(field, ', ')}" if field.values else field.type


def _values(field: Field, between: str) -> str:
    return between.join(f'"{value}"' for value in field.values)


def _length(field: Field, noun: str) -> str:
    return _counted(field.min_items or 0, field.max_items or 0, noun)


def _counted(minimum: int, maximum: int, noun: str) -> str:
    """Return a number of items: `1 item`, `2-4 items`."""
    count = str(minimum) if minimum == maximum else f"{minimum}-{maximum}"
    return f"{count} {noun}" if count == "1" else f"{count} {noun}s"


def _limits(field: Field) -> str:
    """Return the bounds of a number in words."""
    low, high = field.minimum, field.maximum
    if low is not None and high is not None:
        return f"between {number_text(low)} and {number_text(high)}"
    if low is not None:
        return f"at least {number_text(low)}"
    return "" if high is None else f"at most {number_text(high)}"


def _signs(field: Field) -> str:
    """Return the bounds of a number in signs: `≥50, ≤25000`."""
    bounds = (("≥", field.minimum), ("≤", field.maximum))
    return ", ".join(
        f"{sign}{number_text(bound)}" for sign, bound in bounds if bound is not None
    )


def _schema(row: IfstructRecord, _fields: _Fields) -> str:
    return json.dumps(row.json_schema, indent=2, ensure_ascii=False)


#: The article of a type that holds fields, and what announces these.
_HOLDERS: Final = {"object": ("an ", ", with:"), "objects": ("a ", ", each with:")}


def _bullets(_row: IfstructRecord, fields: _Fields) -> str:
    """Return one line a path: "- `poems[].poem_title`: string - Title of the poem"."""
    lines = []
    for path, field in all_fields(fields):
        remarks = _joined("; ", _limits(field), _optional(field))
        article, announcement = _HOLDERS.get(field.type, ("", ""))
        kind = _joined(" ", _type(field), remarks and f"({remarks})")
        definition = _joined(" - ", article + kind, field.about) + announcement
        lines.append(f"- `{path}`: {definition}")
    return "\n".join(lines)


def _glossary(_row: IfstructRecord, fields: _Fields) -> str:
    """Return one line a path: `poems[].poem_title = string; Title of the poem`."""
    lines = []
    for path, field in all_fields(fields):
        parts = (_type(field), _limits(field), _optional(field), field.about)
        lines.append(f"{path} = {_joined('; ', *parts)}")
    return "\n".join(lines)


_COLUMN_TYPES: Final = {
    "enum": "string",
    "objects": "list of objects",
    "strings": "list of strings",
}


def _table(_row: IfstructRecord, fields: _Fields) -> str:
    """Return the table, framed with `+`, `-` and `|`."""
    rows = [("path", "type", "limits", "required", "notes")]
    for path, field in all_fields(fields):
        kind = _COLUMN_TYPES.get(field.type, field.type)
        limits = _signs(field) or _values(field, "/")
        if field.max_items is not None:
            limits = _length(field, "item")
        rows.append((path, kind, limits, _optional(field) or "yes", field.about))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = f"+{'+'.join('-' * (width + 2) for width in widths)}+"
    head, *lines = (f"| {' | '.join(map(str.ljust, row, widths))} |" for row in rows)
    return "\n".join([rule, head, rule, *lines, rule])


#: How an example shows a field of each type, and a remark on it.
_EXAMPLES: Final = {
    "json": {
        "object": '"{name}": {{{remark}\n  {members}\n}},',
        "objects": '"{name}": [{remark}\n  {{\n    {item}\n  }},\n  ...\n],',
        "strings": '"{name}": [string, ...],{remark}',
        "scalar": '"{name}": {placeholder},{remark}',
        "remark": "  // {}",
    },
    "yaml": {
        "object": "{name}:{remark}\n  {members}",
        "objects": "{name}:{remark}\n  - {item}\n  # ...",
        "strings": "{name}:{remark}\n  - string\n  # ...",
        "scalar": "{name}: {placeholder}{remark}",
        "remark": "  # {}",
    },
}


def _annotated(row: IfstructRecord, fields: _Fields) -> str:
    """Return the example: JSON with `//` remarks, or YAML with `#` remarks."""
    least, most = row.counts
    listing = Field(
        name=row.wrapper or "",
        type="objects",
        min_items=least,
        max_items=most,
        fields=fields,
    )
    example = _example((listing,), row.output_format)
    if row.output_format == "yaml":
        bare = example.removeprefix(":  ").replace("\n  ", "\n")
        return bare if row.wrapper is None else example
    example = example.removesuffix(",")
    if row.wrapper is None:
        return example.removeprefix('"": ')
    return f"{{\n{indent(example, '  ')}\n}}"


def _example(fields: _Fields, language: str) -> str:
    forms = _EXAMPLES[language]
    lines = []
    for field in fields:
        signs, members = _signs(field), _example(field.fields, language)
        count = "" if field.max_items is None else _length(field, "item")
        remark = _joined("; ", _optional(field), field.about, count)
        kind = _values(field, "|") or field.type
        line = forms.get(field.type, forms["scalar"]).format(
            name=field.name,
            placeholder=f"{kind} ({signs})" if signs else kind,
            remark=remark and forms["remark"].format(remark),
            members=members.replace("\n", "\n  "),
            item=members.replace("\n", "\n    "),
        )
        lines.append(line)
    return "\n".join(lines)


_STYLES: Final[Mapping[str, Callable[[IfstructRecord, _Fields], str]]] = {
    "schema": _schema,
    "annotated": _annotated,
    "glossary": _glossary,
    "table": _table,
    "bullets": _bullets,
}


#: Tokens of a reworded request.
_BUDGET: Final = 4096
#: The request to reword, and manners of writing, one for each row in turn.
_REWORDING: Final = read_toml("rewording.toml")


def rewording(record: Record, _settings: IfstructSettings) -> Prompt:
    """Return the request that a model reword a row's text."""
    row = read_record(record.fields)
    manners = _REWORDING["manners"]
    manner = manners[sum(str(row.seed).encode()) % len(manners)]
    request = _REWORDING["task"].format(manner=manner, text=row.prompt)
    return Prompt(messages=(Message(role="user", content=request),), budget=_BUDGET)


def accept(record: Record, text: str) -> Record:
    """Return a row with a model's text, as voice `model`.

    It is the row itself if the text lost anything, or if nothing can be checked.
    """
    row = read_record(record.fields)
    if row.spec is None or not _states_all(row, row.spec, text):
        return record
    spec = replace(row.spec, retractions=())
    reworded = replace(row, prompt=text, voice="model", spec=spec)
    return replace(record, fields=msgspec.to_builtins(reworded))


def _states_all(row: IfstructRecord, spec: RowSpec, text: str) -> bool:
    nouns = (spec.plural, spec.label)
    if last_words(text, *nouns) != last_words(row.prompt, *nouns):
        return False
    if row.presentation != "prose":
        return _STYLES[row.presentation](row, spec.fields) in text
    # Between a field and its facts there is no other field.
    facts = (f"`{it.name}`[^`]*{re.escape(_facts(it))}" for it in spec.fields)
    return all(re.search(fact, text) for fact in facts)


_FORMAT: Final = r"\b(json|yaml)\b(?![ -]?schema)"
_COUNT: Final = r"\b(\d+)(?: ?(?:-|–|to|and|or) ?(\d+))? (?:{}|{})\b"  # noqa: RUF001 (a dash that people type)
_KEY: Final = (
    r"\bkey\b[^.\n`\"]{0,40}[`\"]([^`\"\n]+)[`\"]"
    r"|\b(?:bare|plain|naked|top-level) (?:list|array)\b|\b(?:no|without a) wrapper\b"
)
_LANGUAGE: Final = r"```(json|yaml)\b|\b(json|yaml) code"
_BLOCK: Final = r"code[ -]?(?:block|fence)|\bfenced?\b"
_COMMENT: Final = r"\b(?:commentary|explanation|(?:additional|extra) text)"
#: A refusal of the words after it in the same part of a sentence.
_REFUSAL: Final = (
    r"(\b(?:no|not|without|never|skip|drop|avoid|omit|don't|nor)\b[^,.;:\n]*)?"
)


def last_words(text: str, plural: str, label: str) -> list[object]:
    """Return the last statements of a text on each choice, each in a list.

    They are the format, the number of items, the key of the wrapper (empty for a bare
    list), the language of the code block, whether there is to be a block, and whether
    there may be commentary.

    Args:
        text: The request.
        plural: The noun of several items.
        label: The noun of one.
    """
    lower = text.lower()
    count = _COUNT.format(re.escape(plural.lower()), re.escape(label.lower()))
    stated = (re.findall(form, lower) for form in (_FORMAT, count, _KEY, _LANGUAGE))
    blocks, comments = (
        [not refusal for refusal in re.findall(f"{_REFUSAL}(?:{form})", lower)]
        for form in (_BLOCK, _COMMENT)
    )
    return [*(words[-1:] for words in stated), blocks[-1:], comments[-1:] != [False]]
