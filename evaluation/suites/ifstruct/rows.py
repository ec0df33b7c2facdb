"""Rows of IFStruct: fields, choices, columns of a file; settings and failures."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from curation.core.json_types import Json, UntypedJson

#: The language of an answer.
AnswerFormat: TypeAlias = Literal["json", "yaml"]
#: The type of a field's value. An `enum` is one of its `values`, `objects` are a list
#: of objects, and `strings` a list of strings.
FieldType: TypeAlias = Literal[
    "string", "integer", "number", "boolean", "enum", "object", "objects", "strings"
]
#: A choice that a text may state twice, where only the last word counts; `limit` is the
#: largest value of one field, `field` a field that is named and then retracted.
Choice: TypeAlias = Literal["format", "count", "wrapper", "fence", "limit", "field"]


class IfstructSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of drawing rows, of prompts and of scoring."""

    #: The taxonomy of the rows drawn.
    split: Literal["train", "test"] = "test"
    #: How often each choice is drawn.
    mix: Literal["published", "even"] = "published"
    #: The reading that decides: `recommended`, or `published` (`ifstruct@paper`).
    reading: Literal["recommended", "published"] = "recommended"
    #: Most tokens of an answer; the published run allows 16,000.
    budget: Annotated[int, msgspec.Meta(ge=1)] = 2048


def read_toml(name: str) -> dict[str, UntypedJson]:
    """Return the content of a file of this folder, by its path there."""
    return tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))


_FAILURES: Final = read_toml("failures.toml")
#: Failures of the content, whatever is around it.
STRUCTURE: Final[Mapping[str, str]] = _FAILURES["structure"]
#: Every failure with the sentence that explains it; the first of several names the row.
FAILURES: Final[Mapping[str, str]] = {**_FAILURES["form"], **STRUCTURE}
#: The failures that do not count by each reading.
NOT_COUNTED: Final[Mapping[str, Sequence[str]]] = _FAILURES["not_counted"]
#: The error class of a failure in the published summary, where it has one.
PUBLISHED_ERRORS: Final[Mapping[str, str]] = {
    failure: error
    for error, failures in _FAILURES["published"].items()
    for failure in failures
}


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
    #: A default that a row's `spec` has too, unlike others.
    type: FieldType = msgspec.field(default_factory=lambda: "string")
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
        ending = "" if field.type == "object" else "[]"
        yield from all_fields(field.fields, field_path + ending)


def list_schema(fields: tuple[Field, ...], least: int, most: int) -> dict[str, Json]:
    """Return the JSON Schema of the list, as a row's `json_schema` has it."""
    return {
        "type": "array",
        "minItems": least,
        "maxItems": most,
        "items": _object_schema(fields),
    }


def _object_schema(fields: tuple[Field, ...]) -> dict[str, Json]:
    members = {field.name: _field_schema(field) for field in fields}
    required = [field.name for field in fields if not field.optional]
    return _closed_object(members, required)


def _closed_object(
    members: dict[str, UntypedJson], required: list[str]
) -> dict[str, UntypedJson]:
    return {
        "type": "object",
        "properties": members,
        "required": required,
        "additionalProperties": False,
    }


def _field_schema(field: Field) -> dict[str, Json]:
    schema: dict[str, Json] = {"type": field.type}
    match field.type:
        case "enum":
            schema = {"type": "string", "enum": [*field.values]}
        case "object":
            schema = _object_schema(field.fields)
        case "objects":
            schema = {"type": "array", "items": _object_schema(field.fields)}
        case "strings":
            schema = {"type": "array", "items": {"type": "string"}}
    schema |= {
        "minItems": field.min_items,
        "maxItems": field.max_items,
        "minimum": field.minimum,
        "maximum": field.maximum,
        "description": field.about or None,
    }
    return {name: value for name, value in schema.items() if value is not None}


def number_text(number: float) -> str:
    """Return a number as requests write it: `60`, `0.5`, never `60.0`."""
    return str(int(number)) if number == int(number) else repr(float(number))


class Retraction(msgspec.Struct, frozen=True, kw_only=True):
    """A choice that a text states first and takes back later."""

    choice: Choice
    #: The first statement, as the text spells it.
    wrong: str
    #: The final one, as the text spells it; empty for a field and a count.
    final: str = ""
    #: The field whose limit it is.
    field: str = ""


class RowSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The choices of one row that are no columns of its file."""

    #: The words for the kind of thing: one, and several.
    label: str
    plural: str
    #: The purpose of the items, as an ending of a sentence: `for a spring catalogue`.
    context: str = ""
    #: A sentence on the manner of the values.
    manner: str = ""
    fields: tuple[Field, ...]
    #: Whether some text has to be escaped; then a field has a `stress`.
    escaping: bool = False
    #: Choices that a voice thinking aloud states first and takes back.
    retractions: tuple[Retraction, ...] = ()
    #: The mix that the choices were drawn from.
    mix: str = ""


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
    #: The whole request for a code block: `required`, `required:json`, `forbidden`, or
    #: `free`; empty in a published file, which has `require_code_block` only.
    fence: Annotated[
        str, msgspec.Meta(pattern="^(required(:.*)?|forbidden|free)?$")
    ] = ""
    #: The style in which fields are shown: `prose`, sentences; `bullets` with explicit
    #: paths (`poems[].poem_title`); `schema`, the raw JSON Schema; `annotated`, an
    #: example of the structure with types and limits in place of values; `glossary`, a
    #: list of paths with definitions; `table`.
    presentation: str = ""
    voice: str = ""
    #: All other choices drawn; None in a published file.
    spec: RowSpec | None = None

    @property
    def wrapper(self) -> str | None:
        """The one key of the object around the list; None for a bare list."""
        return self.top_level_key if self.require_wrapper_key else None

    @property
    def counts(self) -> tuple[int, int]:
        """The least and the largest number of items."""
        count = self.top_level_count
        return (count, count) if isinstance(count, int) else count

    @property
    def wish(self) -> str:
        """The request for a code block, as `fence` has it; never empty."""
        return self.fence or ("required" if self.require_code_block else "free")

    def answer_schema(self) -> dict[str, UntypedJson]:
        """Return the JSON Schema of the whole answer, the wrapper included.

        Constrained answers follow this schema. It includes the number of items, which
        is added if the schema of the list lacks it.
        """
        least, most = self.counts
        counts = {"minItems": least, "maxItems": most}
        listing = {"type": "array", **self.json_schema, **counts}
        if self.wrapper is None:
            return listing
        return _closed_object({self.wrapper: listing}, [self.wrapper])


def read_record(row: Mapping[str, UntypedJson]) -> IfstructRecord:
    """Return the row of a JSON object, in either published variant.

    The Hub's variant holds two columns as JSON text, `""` for a null, and `doc_id`
    in addition to `seed` or instead of it.

    Raises:
        ValueError: a column is missing, or holds a wrong value.
        msgspec.ValidationError: the same.
    """
    values = {name: value for name, value in row.items() if value is not None}
    values["top_level_key"] = row.get("top_level_key") or None
    if "doc_id" in values:
        values.setdefault("seed", msgspec.convert(values["doc_id"], int, strict=False))
    for name in ("json_schema", "top_level_count"):
        text = values.get(name)
        if isinstance(text, str):
            try:
                values[name] = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"`{name}` is no JSON text: {error}") from error
    record = msgspec.convert(values, IfstructRecord)
    least, most = record.counts
    if record.require_wrapper_key and record.wrapper is None:
        raise ValueError("a wrapper is required, and `top_level_key` names none")
    if not 0 <= least <= most:
        raise ValueError(f"`top_level_count` is no range: {record.top_level_count}")
    return record


#: A slice of a published row, which does not record the choice.
UNKNOWN: Final = "not recorded"
#: The slices of a row, in the order of a report.
SLICES: Final = (
    *("style", "voice", "format", "wrapper", "count", "fence", "commentary"),
    "escaping",
)


def row_slices(record: IfstructRecord) -> dict[str, Json]:
    """Return the alternative drawn for each choice of a row."""
    least, most = record.counts
    # A published row names its kind `test__escaping__...`.
    is_stressed = "escaping" in record.entity_type.split("__")
    if record.spec is not None:
        is_stressed = record.spec.escaping
    return {
        "style": record.presentation or UNKNOWN,
        "voice": record.voice or UNKNOWN,
        "format": record.output_format,
        "wrapper": "bare" if record.wrapper is None else "wrapped",
        "count": "exact" if least == most else "range",
        "fence": record.wish,
        "commentary": "banned" if record.require_no_commentary else "allowed",
        "escaping": "stressed" if is_stressed else "plain",
    }
