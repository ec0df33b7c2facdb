"""The Berkeley Function Calling Leaderboard: the functions that its questions offer.

A line of a file is one question with the definitions of functions, and a document is
what one of them has as `parameters`; `multi_turn_func_doc` holds one definition a
line. The types are those of programming languages; here they are said in JSON Schema,
as the leaderboard itself does for models that are told JSON Schema
(`bfcl_eval.constants.type_mappings`), but `any`: there a string, here anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from curation.core.benchmark import natural_key
from curation.core.documents import Rejected
from curation.json import text as jsontext
from curation.sources.base import Reading, Source
from curation.sources.readers import document
from curation.system.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.documents import RawDocument
    from curation.core.json_types import Json

_NAME = "bfcl"
_CONFIG = "BFCL"
_ANSWERS = "/possible_answer/"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_NAME = 80
# A `tuple` is an array; what may be of any type has no `type`.
_TYPES = {
    "dict": "object",
    "HashMap": "object",
    "Hashtable": "object",
    "float": "number",
    "double": "number",
    "long": "integer",
    "short": "integer",
    "byte": "integer",
    "Bigint": "integer",
    "tuple": "array",
    "Array": "array",
    "ArrayList": "array",
    "Queue": "array",
    "Stack": "array",
    "Set": "array",
    "String": "string",
    "char": "string",
    "Boolean": "boolean",
}
_ANY = frozenset({"any", "Any", ""})


def in_json_schema(schema: Json) -> Json:
    """Return a definition's parameters with the types of JSON Schema.

    Types under `properties`, `items` and `additionalProperties` are mapped; nothing
    else is changed, and a type that is not known stays for the rules to judge.

    Example:
        >>> in_json_schema({"type": "tuple", "items": {"type": "any"}})
        {'type': 'array', 'items': {}}
    """
    if not isinstance(schema, dict):
        return schema
    mapped: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword == "type" and isinstance(value, str):
            if value not in _ANY:
                mapped[keyword] = _TYPES.get(value, value)
        elif keyword == "properties" and isinstance(value, dict):
            mapped[keyword] = {
                name: in_json_schema(member) for name, member in value.items()
            }
        elif keyword in {"items", "additionalProperties"}:
            mapped[keyword] = in_json_schema(value)
        else:
            mapped[keyword] = value
    return mapped


def _definitions(value: Json, place: str) -> Iterator[tuple[str, Json]]:
    """Yield the definitions of a line, each with its place."""
    if not isinstance(value, dict):
        return
    if "parameters" in value:
        yield place, value
    functions = value.get("function")
    for index, function in enumerate(functions if isinstance(functions, list) else ()):
        yield f"{place}/function/{index}", function


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield number, line


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield `<name>_<8 hex digits of the digest>` for each name and canonical form.

    Of definitions that differ in their description alone, the first in the files
    counts, in the order of their names.

    Raises:
        BadData: a line is no JSON.
    """
    found: dict[tuple[str, str], RawDocument] = {}
    paths = (path for path in reading.files.paths if _ANSWERS not in path)
    for path in paths:
        for number, line in _lines(reading.files.read(path)):
            value = jsontext.parse(line)
            if isinstance(value, Rejected):
                raise BadData(value.detail, f"{path}, line {number}")
            for place, definition in _definitions(value, f"{path}#{number}"):
                name, schema = _named(definition)
                digest = jsontext.digest(schema)
                if (name, digest) not in found:
                    found[name, digest] = document(
                        reading,
                        source=_NAME,
                        config=_CONFIG,
                        unique_id=f"{name}_{digest[:8]}",
                        path=place,
                        content=jsontext.write(schema).encode(),
                    )
    yield from sorted(found.values(), key=lambda raw: natural_key(raw.unique_id))


def _named(definition: Json) -> tuple[str, Json]:
    """Return a function's name, fit for an id, and the schema of its parameters."""
    if not isinstance(definition, dict):
        return "unnamed", None
    name = definition.get("name")
    plain = (
        _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME] if isinstance(name, str) else ""
    )
    return plain or "unnamed", in_json_schema(definition.get("parameters"))


SOURCE = Source(
    name=_NAME,
    title="Berkeley Function Calling Leaderboard (bfcl-eval)",
    configs=(_CONFIG,),
    archives={"paper": ("bfcl-eval",), "clean": ("bfcl-eval",)},
    read=read,
    extra=True,
)
