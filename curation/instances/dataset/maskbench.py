"""MaskBench's test format: one file a schema, with instances to accept or refuse.

`{description, meta{full_size, stripped_size, features, raw_features}, schema,
tests[{description, valid, data}]}`, in a file `{Split}---{file}.json`, where a
split is what a config is here (specification: guidance-ai/jsonschemabench,
maskbench). Its runner reads only `schema` and `tests`; the rest is for people.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import quote, unquote

import msgspec

from curation.core.json_types import Json, UntypedJson
from curation.dataset.features import used
from curation.schema.dialects import ANY_DIALECT
from curation.schema.keywords import ANNOTATIONS, KNOWN_KEYWORDS
from curation.schema.subschemas import subschemas
from curation.system.atomic_files import cannot_write
from curation.system.errors import BadData, NoInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path


_MARK = "---"
# What a file's name can hold as it is, beside letters, digits and `_.-~`.
_KEPT = " ()+,;=@[]!$&"
#: Names of ours that the format does not know, or calls raw.
_NOT_FEATURES = frozenset({"required", "@recursiveSchemas"})
#: Keywords that are raw features under their own name.
_RAW = frozenset(
    {
        "$schema", "$id", "id", "type", "properties", "required", "definitions",
        "$defs", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "minLength", "maxLength", "minItems", "maxItems", "minProperties",
        "maxProperties", "minContains", "maxContains",
    }
)  # fmt: skip
#: Annotations that say nothing of what is accepted.
_DROPPED = ANNOTATIONS - {"format", "$schema"}
_COMBINING = ("allOf", "anyOf", "oneOf")


class MaskMeta(TypedDict):
    """The `meta` of a schema."""

    #: Bytes of its text, written without spaces.
    full_size: int
    #: The same without annotations and unknown keywords.
    stripped_size: int
    features: list[str]
    raw_features: list[str]


class _TestContent(msgspec.Struct, frozen=True, kw_only=True):
    """A test in a file; members that are not listed are ignored."""

    valid: bool
    data: UntypedJson
    description: UntypedJson = ""


class _FileContent(msgspec.Struct, frozen=True, kw_only=True):
    """The members of a file that are read; numbers are as `json` parses them."""

    schema: UntypedJson
    tests: tuple[_TestContent, ...]
    description: UntypedJson = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskTest:
    """One instance, and whether an engine has to accept it."""

    description: str
    valid: bool
    data: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskFile:
    """One schema with its tests."""

    #: The config, and the schema's id in it.
    split: str
    unique_id: str
    description: str
    schema: Json
    tests: tuple[MaskTest, ...]

    @property
    def name(self) -> str:
        """The file's name; characters that a name cannot hold are percent-encoded."""
        return f"{quote(self.split, _KEPT)}{_MARK}{quote(self.unique_id, _KEPT)}.json"


def meta_of(schema: Json) -> MaskMeta:
    """Return the `meta` of a schema: sizes in bytes, features as the format counts.

    `stripped_size` is without annotations and unknown keywords. Keywords count in the
    places that some dialect reads as a schema.
    """
    asked = used(schema, ANY_DIALECT)
    features = set(asked.features) - _NOT_FEATURES
    features.update(f"format:{name}" for name in asked.formats)
    raw: set[str] = set()
    for subschema in subschemas(schema, ANY_DIALECT):
        raw.update(_raw(subschema))
        if "multipleOf" in subschema:
            features.add(f"multipleOf:{json.dumps(subschema['multipleOf'])}")
    return {
        "full_size": _size(schema),
        "stripped_size": _size(_stripped(schema)),
        "features": sorted(features),
        "raw_features": sorted(raw),
    }


def _raw(schema: dict[str, Json]) -> Iterator[str]:
    yield from _RAW.intersection(schema)
    stated = schema.get("type")
    if isinstance(stated, list):
        yield "type:[]"
    for name in stated if isinstance(stated, list) else [stated]:
        if isinstance(name, str):
            yield f"type:{name}"
    if schema.get("required") == []:
        yield "_requiredEmpty"
    for keyword in _COMBINING:
        branches = schema.get(keyword)
        if isinstance(branches, list) and len(branches) == 1:
            yield f"{keyword}:trivial"
    if any(isinstance(member, bool) for member in _members(schema)):
        yield "_boolSchema"


def _members(schema: dict[str, Json]) -> Iterator[Json]:
    """Yield the values of keywords that may hold a schema, and schemas in them."""
    for keyword, value in schema.items():
        shape = ANY_DIALECT.applicators.get(keyword)
        if shape is None:
            continue
        if isinstance(value, list):
            yield from value
        elif isinstance(value, dict) and "object" in shape.value:
            yield from value.values()
        else:
            yield value


def _size(value: Json) -> int:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "surrogatepass"))


def _stripped(schema: Json) -> Json:
    """Return a schema without annotations and unknown keywords."""
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword not in KNOWN_KEYWORDS or keyword in _DROPPED:
            continue
        shape = ANY_DIALECT.applicators.get(keyword)
        if shape is None:
            kept[keyword] = value
        elif isinstance(value, list):
            kept[keyword] = [_stripped(member) for member in value]
        elif isinstance(value, dict) and "object" in shape.value:
            kept[keyword] = {name: _stripped(member) for name, member in value.items()}
        else:
            kept[keyword] = _stripped(value)
    return kept


def text_of(file: MaskFile) -> str:
    """Return the text of a file; schema and instances keep their keys and numbers."""
    return json.dumps(
        {
            "description": file.description,
            "meta": meta_of(file.schema),
            "schema": file.schema,
            "tests": [
                {
                    "description": test.description,
                    "valid": test.valid,
                    "data": test.data,
                }
                for test in file.tests
            ],
        },
        indent=2,
        ensure_ascii=True,
    )


def write_files(
    files: Iterable[MaskFile],
    folder: Path,
    progress: Callable[[int], None] = lambda _done: None,
) -> int:
    """Write files into a folder; return how many. `progress` is called after each.

    Raises:
        CannotCreate: a file cannot be written.
    """
    count = 0
    for file in files:
        path = folder / file.name
        try:
            path.write_text(text_of(file) + "\n", encoding="ascii", newline="\n")
        except OSError as error:
            raise cannot_write(path, error) from error
        count += 1
        progress(1)
    return count


def read_file(path: Path) -> MaskFile:
    """Read one file.

    Raises:
        NoInput: it cannot be read.
        BadData: it is not of this format.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise NoInput(error.strerror or type(error).__name__, str(path)) from error
    try:
        content = msgspec.convert(json.loads(text), _FileContent)
    except (ValueError, RecursionError) as error:
        raise BadData(f"not MaskBench's format ({error!r})", str(path)) from error
    split, unique_id = name_of(path)
    return MaskFile(
        split=split,
        unique_id=unique_id,
        description=str(content.description),
        schema=content.schema,
        tests=tuple(
            MaskTest(
                description=str(test.description), valid=test.valid, data=test.data
            )
            for test in content.tests
        ),
    )


def name_of(path: Path) -> tuple[str, str]:
    """Return a file's split (empty where its name has none) and its schema's id."""
    split, _, unique_id = path.stem.partition(_MARK)
    return (unquote(split), unquote(unique_id)) if unique_id else ("", unquote(split))


def paths_of(path: Path) -> Sequence[Path]:
    """Return the file itself, or a folder's `*.json` in order.

    Raises:
        NoInput: there is none.
    """
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.json"))
    if not found:
        raise NoInput("no *.json in it", str(path))
    return found
