"""The schemas that a file holds: itself, or an API's, tools', a request's."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.core.documents import Reason
from curation.core.problems import SchemaProblem
from curation.json.pointer import (
    Tokens,
    at,
    parse_tokens,
    pointer,
    to_fragment,
    tokens_of_fragment,
    upwards,
)
from curation.schema.dialects import DRAFT_04
from curation.schema.subschemas import edited, edited_objects
from curation.sources.openapi_bodies import (
    OPENAPI_ONLY,
    dialect_in,
    in_json_schema,
    is_description,
    walk,
)
from curation.sources.tools import (
    answers_in,
    definitions,
    schema_place,
    tool_schemas,
)

if TYPE_CHECKING:
    from curation.core.json_types import Json

_MCP: Final = ("inputSchema", "outputSchema")
#: What OpenAI, Anthropic and Gemini all accept.
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
#: Places of schema objects of OpenAPI 3.0 in a request to Gemini.
_GOOGLE: Final = re.compile(
    r"/function_?[dD]eclarations/\d+/parameters$|/response_?[sS]chema$"
)
#: Keywords for which a schema of a description is written otherwise.
_CHANGED: Final = OPENAPI_ONLY | {"$ref", "nullable"}


class Part(NamedTuple):
    """A schema inside a file; for an OpenAPI description, all of them."""

    tokens: Tokens
    schema: Json
    #: The member of the schema in which each definition is named by its pointer in the
    #: file; empty for a schema written there unchanged.
    holder: str = ""

    def pointer_in_file(self, inside: str) -> str:
        """Return the pointer in the file of a pointer in the schema."""
        if not self.holder:
            return pointer(self.tokens) + inside
        tokens = parse_tokens(inside)
        is_moved = tokens[:1] == (self.holder,) and len(tokens) > 1
        return tokens[1] + pointer(tokens[2:]) if is_moved else inside


def find_parts(value: Json) -> tuple[list[Part], list[SchemaProblem]]:
    """Return the schemas that a file's value holds, and the problems around them."""
    if is_description(value):
        return _description(value)
    if schema_place(value) == "":
        return [Part((), value)], []
    parts, problems, names = list[Part](), list[SchemaProblem](), set[str]()
    for tokens, tool in definitions(value):
        schemas = [*tool_schemas(tool, pointer(tokens))]
        name = tool.get("name")
        if schemas and isinstance(name, str):
            if message := _name_fault(name, names):
                problems.append(_error((*tokens, "name"), "tool-name", message))
            names.add(name)
        for named in schemas:
            schema, root = named.schema, parse_tokens(named.place)
            if not isinstance(schema, dict):
                continue
            parts.append(_part(root, schema))
            kind, member = schema.get("type"), root[len(tokens)]
            if kind != "object" and (kind is not None or member in _MCP):
                message = f"`{member}` must have `type: object`"
                wrong = (*root, "type") if "type" in schema else root
                problems.append(_error(wrong, "tool-root", message))
    for answer in answers_in(value):
        parts.append(_part(parse_tokens(answer.place), answer.schema))
    return parts or [Part((), value)], problems


def _part(tokens: Tokens, schema: Json) -> Part:
    """Return a schema of a request; one of Gemini's older form may be `nullable`."""
    if _GOOGLE.search(pointer(tokens)):
        schema = edited_objects(
            schema, DRAFT_04, partial(in_json_schema, move=str, is_old=True)
        )
    return Part(tokens, schema)


def _name_fault(name: str, names: Collection[str]) -> str:
    if name in names:
        return f"another tool has the name {name!r}: a request is refused"
    if _NAME.fullmatch(name):
        return ""
    return (
        f"{name!r} is refused as a name: at most 64 letters, digits, `_` and `-`, no "
        "digit first"
    )


def _error(tokens: Tokens, code: str, message: str) -> SchemaProblem:
    return SchemaProblem(pointer(tokens), code, message, "error")


def _target(
    document: Json, schemas: Collection[Tokens], holder: str, path: Tokens
) -> str | None:
    """Return a place in the library; None if there is nothing, empty if no schema."""
    try:
        at(document, path)
    except LookupError:
        return None
    for above in upwards(path):
        if above in schemas:
            return to_fragment((holder, pointer(above), *path[len(above) :]))
    return ""


def _description(document: dict[str, Json]) -> tuple[list[Part], list[SchemaProblem]]:
    """Return one library of all schemas of an OpenAPI description."""
    dialect = dialect_in(document)
    is_old, holder = dialect is DRAFT_04, dialect.definitions_keyword
    # "its root type value may also be `file`" (Swagger 2.0, Response Object).
    files = ("file",) if "swagger" in document else ()
    walked = [
        found
        for found in walk(document)
        if not (isinstance(found[1], dict) and found[1].get("type") in files)
    ]
    schemas = {tokens for tokens, _, reference in walked if not reference}
    targets: dict[str, str | None] = {}
    problems: list[SchemaProblem] = []

    def moved(tokens: Tokens, reference: str, *, to_schema: bool = True) -> str:
        """Return a reference in the library; empty, with a problem, if it is lost."""
        if not reference.startswith("#"):
            if not (to_schema or "://" in reference):
                code, message = Reason.REMOTE_REFERENCE, f"{reference!r} cannot be read"
                problems.append(_error((*tokens, "$ref"), code, message))
            return reference
        if reference not in targets:
            path = tokens_of_fragment(reference)
            targets[reference] = _target(document, schemas, holder, path)
        target = targets[reference]
        if target is None or (to_schema and not target):
            lost = "leads nowhere" if target is None else "leads to no schema"
            code, message = Reason.UNRESOLVED_REFERENCE, f"{reference!r} {lost}"
            problems.append(_error((*tokens, "$ref"), code, message))
        return target or ""

    def converted(start: Tokens, tokens: Tokens, schema: Json) -> Json:
        if not isinstance(schema, dict) or _CHANGED.isdisjoint(schema):
            return schema
        return in_json_schema(schema, partial(moved, start + tokens), is_old=is_old)

    library: dict[str, Json] = {}
    for start, inner, reference in walked:
        if not reference:
            library[pointer(start)] = edited(inner, dialect, partial(converted, start))
        else:
            moved(start, reference, to_schema=False)
    return [Part((), {"$schema": dialect.uri, holder: library}, holder)], problems
