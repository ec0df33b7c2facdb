"""Rows of IFStruct: fields, choices, requirements, and the columns of a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

import msgspec

from curation.core.json_types import Json, UntypedJson


class FieldType(StrEnum):
    """The type of a field's value."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ENUM = "enum"
    """One of `values`, which are strings."""
    OBJECT = "object"
    """An object of `fields`."""
    OBJECTS = "objects"
    """A list of objects of `fields`, as many as `min_items` to `max_items`."""
    STRINGS = "strings"
    """A list of strings, as many as `min_items` to `max_items`."""


class Field(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """One field: its name, its type and the limits of its values.

    Data files define all variants of a field with it, and the `spec` of a row the
    drawn variant.
    """

    #: Of two words at least, joined by `_`, so that prose never names it by chance.
    name: str
    type: FieldType
    #: A few words for a reader; empty if the name is clear.
    about: str = ""
    #: Whether it may be absent.
    optional: bool = False
    minimum: int | float | None = None
    maximum: int | float | None = None
    #: The values of an `enum`.
    values: tuple[str, ...] = ()
    min_items: int | None = None
    max_items: int | None = None
    #: The fields of an `object`, or of each of `objects`.
    fields: tuple[Field, ...] = ()
    #: Kinds of text that need escaping, by their names in `escapes.toml`.
    stress: tuple[str, ...] = ()


def all_fields(
    fields: tuple[Field, ...], path: str = ""
) -> Iterator[tuple[str, Field]]:
    """Yield every field with its path, parents first: `poems[].poem_title`."""
    for field in fields:
        field_path = f"{path}.{field.name}" if path else field.name
        yield field_path, field
        ending = "" if field.type is FieldType.OBJECT else "[]"
        yield from all_fields(field.fields, field_path + ending)


def list_schema(
    fields: tuple[Field, ...], minimum: int, maximum: int
) -> dict[str, Json]:
    """Return the JSON Schema of a list of items, as a record's `json_schema` has it."""
    return {
        "type": "array",
        "minItems": minimum,
        "maxItems": maximum,
        "items": _object_schema(fields),
    }


def _object_schema(fields: tuple[Field, ...]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {field.name: _described_schema(field) for field in fields},
        "required": [field.name for field in fields if not field.optional],
        "additionalProperties": False,
    }


def _described_schema(field: Field) -> dict[str, Json]:
    schema = _field_schema(field)
    return schema | {"description": field.about} if field.about else schema


def _field_schema(field: Field) -> dict[str, Json]:
    match field.type:
        case FieldType.ENUM:
            return {"type": "string", "enum": list(field.values)}
        case FieldType.OBJECT:
            return _object_schema(field.fields)
        case FieldType.OBJECTS | FieldType.STRINGS:
            items: dict[str, Json] = {"type": "string"}
            if field.type is FieldType.OBJECTS:
                items = _object_schema(field.fields)
            lengths: dict[str, Json] = {
                "minItems": field.min_items,
                "maxItems": field.max_items,
            }
            return {"type": "array", "items": items, **_without_nulls(lengths)}
    bounds: dict[str, Json] = {"minimum": field.minimum, "maximum": field.maximum}
    return {"type": str(field.type), **_without_nulls(bounds)}


def _without_nulls(limits: dict[str, Json]) -> dict[str, Json]:
    return {name: limit for name, limit in limits.items() if limit is not None}


def number_text(number: float) -> str:
    """Return a number as requests write it: `60`, `0.5`, never `60.0`."""
    return str(int(number)) if number == int(number) else repr(float(number))


class AnswerFormat(StrEnum):
    """The language of an answer."""

    JSON = "json"
    YAML = "yaml"


class FenceWish(StrEnum):
    """The request for a Markdown code block around the answer."""

    REQUIRED = "required"
    FORBIDDEN = "forbidden"
    FREE = "free"
    """No request: both are right."""


@dataclass(frozen=True, slots=True)
class Fence:
    """The request for a code block: as text `required:json`, `forbidden`, `free`."""

    wish: FenceWish
    #: The language that its first line must name; empty for any, or none.
    language: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the value of a record's `fence`.

        Raises:
            ValueError: the text has another form.
        """
        wish, _, language = text.partition(":")
        if language and wish != FenceWish.REQUIRED:
            raise ValueError(f"{text!r}: only a required fence names a language")
        return cls(FenceWish(wish), language)

    def __str__(self) -> str:
        """Return it as a record's `fence` has it."""
        return f"{self.wish}:{self.language}" if self.language else str(self.wish)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """The requirements of one row."""

    format: AnswerFormat
    #: The one key of the object around the list; None for a bare list.
    wrapper: str | None
    #: The number of items, both ends included.
    least: int
    most: int
    fence: Fence
    #: Whether there may be text before and after the answer.
    commentary: bool
    #: The JSON Schema of the list.
    schema: dict[str, UntypedJson]

    def answer_schema(self) -> dict[str, UntypedJson]:
        """Return the JSON Schema of the whole answer, the wrapper included.

        Constrained answers follow this schema. It includes the number of items, which
        is added if the schema of the list lacks it.
        """
        listing: dict[str, UntypedJson] = {
            "type": "array",
            **self.schema,
            "minItems": self.least,
            "maxItems": self.most,
        }
        if self.wrapper is None:
            return listing
        return {
            "type": "object",
            "properties": {self.wrapper: listing},
            "required": [self.wrapper],
            "additionalProperties": False,
        }


class Presentation(StrEnum):
    """The style in which the fields are shown."""

    PROSE = "prose"
    """Sentences of a request."""
    BULLETS = "bullets"
    """One bullet a field, with explicit paths: `poems[].poem_title`."""
    SCHEMA = "schema"
    """The raw JSON Schema."""
    ANNOTATED = "annotated"
    """An example of the structure, with types and limits in place of values."""
    GLOSSARY = "glossary"
    """A flat list of paths with their definitions."""
    TABLE = "table"
    """A table drawn in characters."""


class Choice(StrEnum):
    """A choice that a text may state twice, where only the last word counts."""

    FORMAT = "format"
    COUNT = "count"
    WRAPPER = "wrapper"
    FENCE = "fence"
    LIMIT = "limit"
    """The largest value of one field."""
    FIELD = "field"
    """A field that is named and then retracted."""


class Retraction(msgspec.Struct, frozen=True, kw_only=True):
    """A choice that a text states first and takes back later."""

    choice: Choice
    #: The first statement, as the text spells it.
    wrong: str
    #: The final one, as the text spells it; empty for a retracted field.
    final: str = ""
    #: The field whose limit it is.
    field: str = ""


class RowSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All choices of one row, so that results can be sliced by each."""

    #: The kind of thing asked for, and its words: one, and several.
    entity: str
    label: str
    plural: str
    #: The purpose of the items, as an ending of a sentence: `for a spring catalogue`.
    context: str = ""
    #: A sentence on the manner of the values.
    manner: str = ""
    fields: tuple[Field, ...]
    least: int
    most: int
    format: AnswerFormat
    wrapper: str | None = None
    #: As `Fence` reads it.
    fence: str = "free"
    commentary: bool = True
    #: Whether some text has to be escaped; then a field has a `stress`.
    escaping: bool = False
    presentation: Presentation
    voice: str
    #: Choices that a voice thinking aloud states first and takes back.
    retractions: tuple[Retraction, ...] = ()
    #: The mix that the choices were drawn from.
    mix: str = ""

    @property
    def schema(self) -> dict[str, Json]:
        """The JSON Schema of the list."""
        return list_schema(self.fields, self.least, self.most)


class IfstructRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a file: the ten published columns, and four of ours.

    Published files hold `seed` to `output_format`.
    """

    #: Identifies the rows of a file, and orders them.
    seed: int
    #: The kind of thing; kinds of the test taxonomy begin with `test__`.
    entity_type: str
    prompt: str
    #: The JSON Schema of the list.
    json_schema: dict[str, UntypedJson]
    #: The exact number of items, or the least and the most.
    top_level_count: int | tuple[int, int]
    #: The key of the object around the list, None for a bare list.
    top_level_key: str | None
    require_wrapper_key: bool
    require_code_block: bool
    require_no_commentary: bool
    output_format: AnswerFormat
    #: The whole request for a code block, as `Fence` reads it; empty in a published
    #: file, which has `require_code_block` only.
    fence: str = ""
    #: Two choices of `spec`, as columns.
    presentation: str = ""
    voice: str = ""
    #: Every choice drawn; None in a published file.
    spec: RowSpec | None = None

    @property
    def id(self) -> str:
        """The row's name in a response file: its seed."""
        return str(self.seed)

    @property
    def requirements(self) -> Requirements:
        """The requirements of the answer."""
        count = self.top_level_count
        minimum, maximum = (count, count) if isinstance(count, int) else count
        plain = FenceWish.REQUIRED if self.require_code_block else FenceWish.FREE
        return Requirements(
            format=self.output_format,
            wrapper=self.top_level_key if self.require_wrapper_key else None,
            least=minimum,
            most=maximum,
            fence=Fence.parse(self.fence) if self.fence else Fence(plain),
            commentary=not self.require_no_commentary,
            schema=self.json_schema,
        )


def record_of(seed: int, spec: RowSpec, prompt: str) -> IfstructRecord:
    """Return the row of a drawn specification."""
    is_exact = spec.least == spec.most
    return IfstructRecord(
        seed=seed,
        entity_type=spec.entity,
        prompt=prompt,
        json_schema=spec.schema,
        top_level_count=spec.least if is_exact else (spec.least, spec.most),
        top_level_key=spec.wrapper,
        require_wrapper_key=spec.wrapper is not None,
        require_code_block=Fence.parse(spec.fence).wish is FenceWish.REQUIRED,
        require_no_commentary=not spec.commentary,
        output_format=spec.format,
        fence=spec.fence,
        presentation=str(spec.presentation),
        voice=spec.voice,
        spec=spec,
    )


#: The columns that the Hub's variant of a file holds as JSON text.
TEXT_COLUMNS: Final = ("json_schema", "top_level_count")


def read_record(row: Mapping[str, Json]) -> IfstructRecord:
    """Return the row of a JSON object, in either published variant.

    The Hub's variant holds two columns as JSON text, `""` for a null, and `doc_id`
    in addition to `seed` or instead of it.

    Raises:
        ValueError: a column is missing, or holds a wrong value
            (`msgspec.ValidationError` is one).
    """
    values: dict[str, Json] = {
        name: value for name, value in row.items() if value is not None
    }
    number = values.get("doc_id")
    if "seed" not in values and number is not None:
        is_text = isinstance(number, str) and number.isdecimal()
        values["seed"] = int(str(number)) if is_text else number
    for name in TEXT_COLUMNS:
        text = values.get(name)
        if isinstance(text, str):
            values[name] = _parsed(name, text)
    values["top_level_key"] = row.get("top_level_key") or None
    record = msgspec.convert(values, IfstructRecord)
    if record.require_wrapper_key and record.top_level_key is None:
        raise ValueError("a wrapper is required, and `top_level_key` names none")
    requirements = record.requirements
    if not 0 <= requirements.least <= requirements.most:
        raise ValueError(f"`top_level_count` is no range: {record.top_level_count}")
    return record


def _parsed(name: str, text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"`{name}` is no JSON text: {error}") from error
    return value


#: A slice of a published row, which does not record the choice.
UNKNOWN: Final = "not recorded"
#: The slices of a row, in the order of a report.
SLICES: Final = (
    *("style", "voice", "format", "wrapper", "count", "fence", "commentary"),
    "escaping",
)


def slices_of(record: IfstructRecord) -> dict[str, str]:
    """Return the alternative drawn for each choice of a row."""
    requirements = record.requirements
    # A published row names its kind `test__escaping__...`.
    is_stressed = "escaping" in record.entity_type.split("__")
    if record.spec is not None:
        is_stressed = record.spec.escaping
    return {
        "style": record.presentation or UNKNOWN,
        "voice": record.voice or UNKNOWN,
        "format": str(requirements.format),
        "wrapper": "bare" if requirements.wrapper is None else "wrapped",
        "count": "exact" if requirements.least == requirements.most else "range",
        "fence": str(requirements.fence),
        "commentary": "allowed" if requirements.commentary else "banned",
        "escaping": "stressed" if is_stressed else "plain",
    }
