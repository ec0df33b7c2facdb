"""Tool lists: the functions that a model is offered, as the programs have them.

Read are the forms of OpenAI (`{"type": "function", "function": {"parameters": ...}}`,
and flat as in its Responses interface), of Anthropic (`input_schema`) and of the Model
Context Protocol (`inputSchema`, `outputSchema`), alone, in a list, under `tools` or
`functions`, or as the answer to a request (`result`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.sources.own.documents import read_document
from curation.sources.own.schema import OwnSchema
from curation.system.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curation.core.json_types import Json

#: Where a definition has its schema, and what is put behind the tool's name.
_SCHEMAS = {
    "parameters": "",
    "input_schema": "",
    "inputSchema": "",
    "outputSchema": ".output",
}
_LISTS = ("tools", "functions")


def read_tool_list(path: Path, say: Callable[[str], None]) -> list[OwnSchema]:
    """Return the schemas of a file's tools, in their order.

    Args:
        path: A JSON or YAML file.
        say: Told of tools that have no schema, as a service's own have none.

    Raises:
        NoInput: it cannot be read (exit 66).
        BadData: it is no tool list, or no tool of it has a schema (exit 65).
    """
    definitions = list(_definitions(read_document(path)))
    found = [own for definition in definitions for own in tool_schemas(definition)]
    lacking = [
        str(definition.get("name") or definition.get("type"))
        for definition in definitions
        if not any(tool_schemas(definition))
    ]
    if not found:
        what = "no tool with a schema among " + f"{len(definitions)}"
        if not definitions:
            what = "no tool list: neither a list, nor `tools` or `functions`"
        then = "tools have their schema as parameters, input_schema or inputSchema"
        raise BadData(what, str(path), then)
    if lacking:
        say(f"{path}: {len(lacking)} tools have no schema: {', '.join(lacking[:5])}")
    return found


def _definitions(value: Json) -> Iterator[dict[str, Json]]:
    """Yield the definitions of tools, wherever one of the forms has them."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from _definitions(item)
    elif isinstance(value, dict):
        inner = value.get("result")
        listed = next((value[name] for name in _LISTS if name in value), None)
        function = value.get("function")
        if isinstance(listed, list):
            yield from _definitions(listed)
        elif isinstance(inner, dict):
            yield from _definitions(inner)
        elif isinstance(function, dict):
            yield function
        elif "name" in value or "type" in value:
            yield value


def tool_schemas(definition: dict[str, Json]) -> Iterator[OwnSchema]:
    """Yield the schemas of one tool: of what it is given, and of what it returns."""
    name = definition.get("name")
    for member, suffix in _SCHEMAS.items():
        if isinstance(definition.get(member), dict):
            title = name if isinstance(name, str) else "unnamed"
            yield OwnSchema(name=title + suffix, schema=definition[member])
