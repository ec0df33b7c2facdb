"""The schemas that a file holds: itself, or those of an API, of tools, of a request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.checking.report import SchemaProblem
from curation.core.documents import Reason
from curation.json.pointer import (
    Tokens,
    at,
    fragment_of,
    pointer,
    tokens_of,
    tokens_of_fragment,
)
from curation.schema.dialects import DRAFT_04, DRAFT_2020_12
from curation.schema.subschemas import edited
from curation.sources.openapi_bodies import OPENAPI_ONLY, is_description
from curation.sources.tools import SCHEMA_MEMBERS, WRAPPERS, schema_place

if TYPE_CHECKING:
    from curation.core.json_types import Json

TOOL_NAME: Final = "tool-name"
TOOL_ROOT: Final = "tool-root"
CODES: Final[Mapping[str, str]] = {
    TOOL_NAME: "the name of a tool that providers refuse, or that two tools bear",
    TOOL_ROOT: "what a tool takes and returns is an object",
}
_MCP: Final = ("inputSchema", "outputSchema")
#: What OpenAI, Anthropic and Gemini all accept.
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
#: Members of a description that hold no schemas, though they look so.
_DATA: Final = frozenset({"example", "examples", "enum"})
#: Keywords for which a schema of a description is written otherwise.
_CHANGED: Final = OPENAPI_ONLY | {"$ref", "nullable"}


class Part(NamedTuple):
    """A schema inside a file; of an OpenAPI description, all of them."""

    tokens: Tokens
    schema: Json
    #: The member of the schema in which each definition is named by its pointer in the
    #: file; empty for a schema that is written there as it is.
    holder: str = ""

    def pointer_in_file(self, place: str) -> str:
        """Return the pointer in the file of a pointer in the schema."""
        if not self.holder:
            return pointer(self.tokens) + place
        tokens = tokens_of(place)
        moved = tokens[:1] == (self.holder,) and len(tokens) > 1
        return tokens[1] + pointer(tokens[2:]) if moved else place


def parts_of(value: Json) -> tuple[list[Part], list[SchemaProblem]]:
    """Return the schemas that a file's value holds, and what is wrong around them."""
    if isinstance(value, dict) and is_description(value):
        return _description(value)
    place = schema_place(value)
    tools = [] if place == "" else list(_tools(value))
    parts, problems = _tool_parts(tools)
    inside = place and all(tokens_of(place)[: len(it)] != it for it, _ in tools)
    if place and inside:
        tokens = tokens_of(place)
        parts.append(Part(tokens, at(value, tokens)))
    return parts or [Part((), value)], problems


def _tools(
    value: Json, tokens: Tokens = ()
) -> Iterator[tuple[Tokens, dict[str, Json]]]:
    """Yield the tools of a list, a request or a response, with their places."""
    inner: list[tuple[str, Json]] = []
    if isinstance(value, list):
        inner = [(str(index), item) for index, item in enumerate(value)]
    elif isinstance(value, dict):
        named = isinstance(value.get("name"), str)
        if named and not set(SCHEMA_MEMBERS).isdisjoint(value):
            yield tokens, value
            return
        inner = [(name, value[name]) for name in WRAPPERS if name in value]
    for name, item in inner:
        yield from _tools(item, (*tokens, name))


def _tool_parts(
    tools: list[tuple[Tokens, dict[str, Json]]],
) -> tuple[list[Part], list[SchemaProblem]]:
    parts, problems, names = list[Part](), list[SchemaProblem](), set[str]()
    for tokens, tool in tools:
        name = str(tool["name"])
        message = ""
        if name in names:
            message = f"another tool has the name {name!r}: a request is refused"
        elif not _NAME.fullmatch(name):
            message = (
                f"{name!r} is refused as a name: at most 64 letters, digits, `_` and "
                f"`-`, no digit first; it has {len(name)} characters"
            )
        if message:
            problems.append(_problem((*tokens, "name"), TOOL_NAME, message))
        names.add(name)
        for member in SCHEMA_MEMBERS:
            place, schema = (*tokens, member), tool.get(member)
            if isinstance(schema, dict) and [*schema] == ["json"]:  # of Bedrock
                place, schema = (*place, "json"), schema["json"]
            if not isinstance(schema, dict):
                continue
            parts.append(Part(place, schema))
            kind = schema.get("type")
            if kind != "object" and (kind is not None or member in _MCP):
                message = f"`{member}` must have `type: object`"
                root = (*place, "type") if "type" in schema else place
                problems.append(_problem(root, TOOL_ROOT, message))
    return sorted(parts), problems


def _problem(tokens: Tokens, code: str, message: str) -> SchemaProblem:
    return SchemaProblem(
        level="error", pointer=pointer(tokens), code=code, message=message
    )


def _walk(value: Json, tokens: Tokens = ()) -> Iterator[tuple[Tokens, Json, str]]:
    """Yield the schemas of a description, and the objects around them that refer.

    Only the latter come with a reference.
    """
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, (*tokens, str(index)))
    if not isinstance(value, dict):
        return
    if isinstance(reference := value.get("$ref"), str):
        yield tokens, value, reference
    holds = tokens in (("components", "schemas"), ("definitions",))
    for name, inner in value.items():
        if (holds or name == "schema") and isinstance(inner, dict | bool):
            yield (*tokens, name), inner, ""
        elif name not in _DATA and not name.startswith("x-"):
            yield from _walk(inner, (*tokens, name))


def _description(document: dict[str, Json]) -> tuple[list[Part], list[SchemaProblem]]:
    """Return one library of all schemas of an OpenAPI description."""
    version = str(document.get("openapi"))
    is_old = not version.startswith("3.") or version.startswith("3.0")
    dialect = DRAFT_04 if is_old else DRAFT_2020_12
    holder = dialect.definitions_keyword
    found = list(_walk(document))
    references = _References(
        document, holder, {tokens for tokens, _, reference in found if not reference}
    )
    library: dict[str, Json] = {}
    for start, inner, reference in found:
        if not reference:
            move = partial(_moved, references, start, is_old=is_old)
            library[pointer(start)] = edited(inner, dialect, move)
        elif reference.startswith("#"):
            references.moved(start, reference, to_schema=False)
    part = Part((), {"$schema": dialect.uri, holder: library}, holder)
    return [part], references.problems


class _References:
    """The references of a description, as they are in its library of schemas."""

    def __init__(
        self, document: dict[str, Json], holder: str, schemas: set[Tokens]
    ) -> None:
        """Take the description, the library's member, and where schemas are."""
        self._document, self._holder, self._schemas = document, holder, schemas
        #: To what leads nowhere None, to what is no schema an empty text.
        self._targets: dict[str, str | None] = {}
        self.problems: list[SchemaProblem] = []

    def moved(self, tokens: Tokens, reference: str, *, to_schema: bool = True) -> str:
        """Return a reference in the library; empty, with a problem, if it is lost."""
        if reference not in self._targets:
            self._targets[reference] = self._target(tokens_of_fragment(reference))
        target = self._targets[reference]
        if target is None or (to_schema and not target):
            lost = "leads nowhere" if target is None else "leads to no schema"
            code, message = Reason.UNRESOLVED_REFERENCE, f"{reference!r} {lost}"
            self.problems.append(_problem((*tokens, "$ref"), code, message))
        return target or ""

    def _target(self, path: Tokens) -> str | None:
        try:
            at(self._document, path)
        except LookupError:
            return None
        for end in range(len(path), 0, -1):
            if path[:end] in self._schemas:
                return fragment_of((self._holder, pointer(path[:end]), *path[end:]))
        return ""


def _moved(
    references: _References,
    start: Tokens,
    tokens: Tokens,
    schema: Json,
    *,
    is_old: bool,
) -> Json:
    """Return a schema of a description in JSON Schema, its references moved."""
    if not isinstance(schema, dict) or _CHANGED.isdisjoint(schema):
        return schema
    changed = {it: schema[it] for it in schema if it not in OPENAPI_ONLY}
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        changed["$ref"] = references.moved(start + tokens, reference)
        if not changed["$ref"]:
            del changed["$ref"]
    if is_old and changed.pop("nullable", None) is True:
        kind = changed.get("type")
        if isinstance(kind, str):
            changed["type"] = [kind, "null"]
    return changed
