"""Schemas of tools: of a file, or of a server of the Model Context Protocol.

A file has the forms of OpenAI (`{"type": "function", "function": {"parameters": ...}}`,
and flat), of Anthropic (`input_schema`), of Gemini (`functionDeclarations`), of
Bedrock (`toolSpec`) or of the Model Context Protocol (`inputSchema`, `outputSchema`),
alone, in a list, in a request, or as the response to one (`result`).

A server is a program that speaks over stdio. Its command is printed before it runs; it
gets few environment variables, no credentials, and a deadline. It needs the extra
`mcp`.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from curation.core.documents import Rejected
from curation.core.json_types import Json
from curation.json import text as jsontext
from curation.schema.keywords import ANNOTATIONS, KNOWN_KEYWORDS
from curation.schema.roots import TYPES
from curation.sources.readers import NamedSchema, read_document
from curation.system.errors import (
    BadData,
    BadUsage,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.system.extras import install_extra
from curation.system.words import counted

#: Where a definition has its schema, and what is put behind the tool's name.
SCHEMA_MEMBERS = {
    "parameters": "",
    "parametersJsonSchema": "",
    "parameters_json_schema": "",
    "input_schema": "",
    "inputSchema": "",
    "outputSchema": ".output",
}
#: Members that hold the tools of a list.
LISTS = ("tools", "functions", "functionDeclarations", "function_declarations")
#: Members around one tool, or around a list of them.
_TOOL_WRAPPERS = ("result", "body", "toolConfig", "toolSpec", "function")
#: Members of a request, or of a part of one, that lead to a schema: that of its answer
#: before those of tools.
WRAPPERS: Final = (
    *("text", "format", "response_format", "json_schema", "schema"),
    *("output_config", "output_format", "generationConfig", "generation_config"),
    *("responseSchema", "response_schema", "responseJsonSchema"),
    *("response_json_schema", "config", "structured_outputs", "json", "guided_json"),
    *("extra_body", "value", "grammar", "sampling_params"),
    *(*_TOOL_WRAPPERS, *LISTS, *SCHEMA_MEMBERS),
)
#: Members of which one leads to the next, at most.
MOST_LEVELS: Final = 8
#: Keywords that no request has, other than `type`.
SCHEMA_KEYWORDS: Final = KNOWN_KEYWORDS - ANNOTATIONS - {"type", "id"}
#: What source expressions of tools begin with: all tools of one are one request.
TOOL_FORMS = ("tools:", "mcp:")
#: Seconds for the server to start and to list its tools.
DEADLINE = 30.0
#: Pages of a list of tools; a server that goes on and on is cut off.
_MOST_PAGES = 1_000


def read_tool_list(path: Path, say: Callable[[str], None]) -> list[NamedSchema]:
    """Return the schemas of a file's tools, in their order.

    Args:
        path: A JSON or YAML file.
        say: Prints of tools that have no schema, as a service's own have none.

    Raises:
        NoInput: it cannot be read.
        BadData: it is no tool list, or no tool of it has a schema.
    """
    definitions = list(_definitions(read_document(path)))
    schemas = [own for definition in definitions for own in tool_schemas(definition)]
    lacking = [
        str(definition.get("name") or definition.get("type"))
        for definition in definitions
        if not any(tool_schemas(definition))
    ]
    if not schemas:
        what = f"no tool with a schema among {len(definitions)}"
        if not definitions:
            what = "no tool list: neither a list, nor `tools` or `functions`"
        then = "tools have their schema as parameters, input_schema or inputSchema"
        raise BadData(what, str(path), then)
    if lacking:
        count = counted(len(lacking), "tool")
        say(f"{path}: {count} without a schema: {', '.join(lacking[:5])}")
    return schemas


def _definitions(value: Json) -> Iterator[dict[str, Json]]:
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from _definitions(item)
    elif isinstance(value, dict):
        value = unwrapped(value)
        tools = next((value[name] for name in LISTS if name in value), None)
        if isinstance(tools, list):
            yield from _definitions(tools)
        elif "name" in value or "type" in value:
            yield value


def tool_schemas(definition: dict[str, Json]) -> Iterator[NamedSchema]:
    """Yield the schemas of one tool: of what it is given, and of what it returns."""
    name = definition.get("name")
    for member, suffix in SCHEMA_MEMBERS.items():
        # What is no schema is refused where it is read, and not passed over here.
        if definition.get(member) is not None:
            title = name if isinstance(name, str) else "unnamed"
            schema = definition[member]
            if isinstance(schema, dict) and [*schema] == ["json"]:  # of Bedrock
                schema = schema["json"]
            text = jsontext.write(schema) if isinstance(schema, str) else schema
            yield NamedSchema(name=title + suffix, schema=text)


def is_tool(value: dict[str, Json]) -> bool:
    """Return whether a value defines one tool, and is no schema itself.

    Example:
        >>> is_tool({"name": "add", "parameters": {"type": "object"}})
        True
    """
    own = unwrapped(value)
    return (
        isinstance(own.get("name"), str)
        and any(isinstance(own.get(member), dict) for member in SCHEMA_MEMBERS)
        and not _may_be_schema(own)
    )


def unwrapped(value: dict[str, Json]) -> dict[str, Json]:
    """Return a tool, or what holds a list of them, without what stands around it."""
    while not _may_be_schema(value):
        found = (value.get(name) for name in _TOOL_WRAPPERS)
        inner = next((it for it in found if isinstance(it, dict)), None)
        if inner is None:
            break
        value = inner
    return value


def schema_place(value: Json | Rejected, most: int = MOST_LEVELS) -> str | None:
    """Return the pointer of the first schema in a request; None if there is none.

    It is empty if the value may be a schema itself.

    Args:
        value: A request, a part of one, or a schema.
        most: Levels to look into.

    Example:
        >>> schema_place({"response_format": {"schema": {"type": "object"}}})
        '/response_format/schema'
    """
    inner: list[tuple[str, Json]] = []
    if isinstance(value, list):
        inner = [(str(index), item) for index, item in enumerate(value)]
    elif isinstance(value, dict):
        if _may_be_schema(value):
            return ""
        inner = [(name, value[name]) for name in WRAPPERS if name in value]
    for name, part in inner if most else ():
        place = schema_place(part, most - 1)
        if place is not None:
            return f"/{name}{place}"
    return None


def request_of(value: Json | Rejected) -> str:
    """Return a sentence: where in a request a schema may stand; empty for none."""
    if place := schema_place(value):
        return f"a request is no schema; what stands at {place} may be one"
    return ""


def _may_be_schema(value: dict[str, Json]) -> bool:
    kind = value.get("type")
    is_type = kind in TYPES if isinstance(kind, str) else isinstance(kind, list)
    return is_type or bool(SCHEMA_KEYWORDS & value.keys())


def read_mcp_server(
    command: str, say: Callable[[str], None], seconds: float = DEADLINE
) -> list[NamedSchema]:
    """Return the schemas of a server's tools, in its order.

    Args:
        command: The program with its arguments, as a shell would split it; no shell
            reads it.
        say: Prints what is run, before it is.
        seconds: Deadline in seconds.

    Raises:
        BadUsage: the command cannot be split, or is empty.
        Unavailable: the program cannot be run or breaks off, or the library is not
            there.
        TemporarilyUnavailable: it does not answer in time.
        BadData: it has no tool with a schema.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadUsage(f"cannot be split ({error})", f"mcp:{command}") from error
    if not words:
        raise BadUsage("no command is given", "--with mcp:COMMAND")
    import asyncio  # noqa: PLC0415 (slow)

    try:
        import mcp  # noqa: F401, PLC0415 (an extra)
    except ImportError as error:
        hint = install_extra("mcp")
        raise Unavailable(
            "needs the library mcp", "--with mcp:COMMAND", hint
        ) from error
    foreign = 0

    def drop(_: logging.LogRecord) -> bool:
        nonlocal foreign
        foreign += 1
        return False

    # The library logs a traceback for each line that is not of the protocol, such as
    # those of a banner, and reads on.
    log = logging.getLogger("mcp.client.stdio")
    log.addFilter(drop)
    say(f"Running {shlex.join(words)}, for at most {seconds:g} s, without credentials")
    try:
        tools = asyncio.run(asyncio.wait_for(_listed(words), seconds))
    except TimeoutError as error:
        what = f"did not list its tools within {seconds:g} seconds"
        raise TemporarilyUnavailable(what, words[0]) from error
    except Exception as error:
        fault: BaseException = error
        while isinstance(fault, BaseExceptionGroup):
            fault = fault.exceptions[0]
        why = " ".join(str(fault).split()) or type(fault).__name__
        then = "the command must speak the Model Context Protocol over stdio"
        raise Unavailable(
            f"cannot be asked for its tools ({why})", words[0], then
        ) from (error)
    finally:
        log.removeFilter(drop)
        if foreign:
            say(f"{words[0]}: skipped {counted(foreign, 'line')} that are not JSON-RPC")
    schemas = [own for tool in tools for own in tool_schemas(tool)]
    if not schemas:
        raise BadData("lists no tool with a schema", words[0])
    return schemas


async def _listed(words: list[str]) -> list[dict[str, Json]]:
    """Start the server, ask for every page of its list, and stop it."""
    from mcp import ClientSession, StdioServerParameters  # noqa: PLC0415 (an extra)
    from mcp.client.stdio import stdio_client  # noqa: PLC0415 (as above)
    from mcp.types import PaginatedRequestParams  # noqa: PLC0415 (as above)

    server = StdioServerParameters(command=words[0], args=words[1:])
    tools: list[dict[str, Json]] = []
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        page_request = PaginatedRequestParams()
        for _ in range(_MOST_PAGES):
            page = await session.list_tools(params=page_request)
            tools += [
                tool.model_dump(mode="json", by_alias=True, exclude_none=True)
                for tool in page.tools
            ]
            if not page.next_cursor:
                break
            page_request = PaginatedRequestParams(cursor=page.next_cursor)
    return tools
