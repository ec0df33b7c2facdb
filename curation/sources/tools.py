"""Schemas of tools, from a file or a server of the Model Context Protocol.

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

from msgspec.structs import replace

from curation.core.documents import Rejected
from curation.core.json_types import Json
from curation.json import text as jsontext
from curation.json.pointer import Tokens, at, parse_tokens, pointer
from curation.schema.keywords import ANNOTATIONS, KNOWN_KEYWORDS
from curation.schema.roots import TYPES
from curation.sources.readers import NamedSchema, Role, is_one_schema
from curation.system.errors import (
    BadData,
    BadUsage,
    TemporarilyUnavailable,
    Unavailable,
    install_extra,
)
from curation.system.words import counted

#: Where a definition has the schema of its parameters, and of its result.
_PARAMETERS = (
    *("parameters", "parametersJsonSchema", "parameters_json_schema"),
    *("input_schema", "inputSchema"),
)
_RESULT = "outputSchema"
#: Both.
SCHEMA_MEMBERS = (*_PARAMETERS, _RESULT)
#: Members of which a tool has one.
_OF_TOOLS = frozenset({"name", "type", *SCHEMA_MEMBERS})
#: Members that hold the tools of a list.
LISTS = ("tools", "functions", "functionDeclarations", "function_declarations")
#: Members around one tool, or around a list of them.
_TOOL_WRAPPERS = ("result", "body", "toolConfig", "toolSpec", "function")
#: Members of a request, or of a part of one, that lead to a schema: the answer's
#: before tools'.
WRAPPERS = (
    *("text", "format", "response_format", "json_schema", "schema"),
    *("output_config", "output_format", "generationConfig", "generation_config"),
    *("responseSchema", "response_schema", "responseJsonSchema"),
    *("response_json_schema", "config", "structured_outputs", "json", "guided_json"),
    *("extra_body", "value", "grammar", "sampling_params"),
    *(*_TOOL_WRAPPERS, *LISTS, *SCHEMA_MEMBERS),
)
#: Members of which one leads to the next, at most.
MAX_LEVELS = 8
#: Keywords that no request has, other than `type`.
SCHEMA_KEYWORDS = KNOWN_KEYWORDS - ANNOTATIONS - {"type", "id"}
#: Types as Google writes them.
_SMALL = {name.upper(): name for name in sorted(TYPES)}
#: Seconds for the server to start and to list its tools.
DEADLINE = 30.0
#: Pages of a list of tools; an endless list is cut off.
_MAX_PAGES = 1_000


def requested_schemas(
    value: Json, path: str, log: Callable[[str], None]
) -> list[NamedSchema]:
    """Return the schemas of tools and of the answer in a request, or in a part of one.

    Args:
        value: The document.
        path: Its file, for messages.
        log: Prints skipped parts.
    """
    if is_one_schema(value):
        return []
    return [*tools_in(value, path, log), *answers_in(value)]


def tools_in(value: Json, path: str, log: Callable[[str], None]) -> list[NamedSchema]:
    """Return the schemas of the tools that a document defines, in its order.

    Args:
        value: A tool, a list of tools, a request, or an answer of a server.
        path: Its file, for messages.
        log: Prints of tools that have no schema, such as a service's built-in tools.

    Raises:
        BadData: no tool of a list has one.
    """
    schemas: list[NamedSchema] = []
    lacking: list[dict[str, Json]] = []
    for tokens, definition in definitions(value):
        own = list(tool_schemas(definition, pointer(tokens)))
        schemas += own
        if not own:
            lacking.append(definition)
    inner = unwrapped(value)[1] if isinstance(value, dict) else value
    is_list = isinstance(inner, list) or (
        isinstance(inner, dict) and any(name in inner for name in LISTS)
    )
    if lacking and not schemas and is_list:
        hint = "tools have their schema as parameters, input_schema or inputSchema"
        raise BadData(f"no tool with a schema among {len(lacking)}", path, hint)
    if schemas and lacking:
        count = counted(len(lacking), "tool")
        shown = [str(it.get("name") or it.get("type")) for it in lacking[:5]]
        log(f"{count} without a schema: {', '.join(shown)}")
    names = tuple(str(it.get("name") or "") for it in lacking)
    return [replace(schema, lacking=names) for schema in schemas]


def definitions(
    value: Json, tokens: Tokens = ()
) -> Iterator[tuple[Tokens, dict[str, Json]]]:
    """Yield the tools of a list, a request or a response, with their places."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict):
                yield from definitions(item, (*tokens, str(index)))
    elif isinstance(value, dict):
        inside, value = unwrapped(value)
        tokens = (*tokens, *inside)
        member = next((name for name in LISTS if name in value), None)
        if member and isinstance(value[member], list):
            yield from definitions(value[member], (*tokens, member))
        elif not _OF_TOOLS.isdisjoint(value) and not _may_be_schema(value):
            yield tokens, value


def tool_schemas(definition: dict[str, Json], place: str = "") -> Iterator[NamedSchema]:
    """Yield the schemas of one tool: its parameters and its result.

    Args:
        definition: The tool.
        place: A pointer to it.
    """
    name = definition.get("name")
    title = name if isinstance(name, str) else "unnamed"
    for member in (*_PARAMETERS, _RESULT):
        # An invalid schema is refused by its reader, and not skipped here.
        schema, inside = definition.get(member), f"{place}/{member}"
        if schema is None:
            continue
        if isinstance(schema, dict) and [*schema] == ["json"]:  # of Bedrock
            schema, inside = schema["json"], f"{inside}/json"
        is_result = member == _RESULT
        yield NamedSchema(
            name=f"{title}.output" if is_result else title,
            schema=jsontext.write(schema)
            if isinstance(schema, str)
            else _with_small_types(schema),
            place=inside,
            role=Role.RESULT if is_result else Role.TOOL,
            strict=definition.get("strict") is True,
        )


def answers_in(value: Json) -> list[NamedSchema]:
    """Return the schema of the answer that a request asks for, if it has one."""
    place = schema_place(value)
    if not place or any(f"/{name}" in place for name in (*LISTS, *SCHEMA_MEMBERS)):
        return []
    tokens = parse_tokens(place)
    around = at(value, tokens[:-1])
    is_strict = isinstance(around, dict) and around.get("strict") is True
    named = around.get("name") if isinstance(around, dict) else None
    name = named if isinstance(named, str) else "answer"
    schema = _with_small_types(at(value, tokens))
    return [NamedSchema(name=name, schema=schema, place=place, strict=is_strict)]


def _with_small_types(schema: Json) -> Json:
    """Return a schema of Google's, whose types are `OBJECT` and the like, as others."""
    if isinstance(schema, list):
        return [_with_small_types(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _SMALL[str(value)]
        if name == "type" and str(value) in _SMALL
        else _with_small_types(value)
        for name, value in schema.items()
    }


def unwrapped(value: dict[str, Json]) -> tuple[Tokens, dict[str, Json]]:
    """Return a tool, or the holder of a list of them, without its wrappers."""
    tokens: Tokens = ()
    strict = value.get("strict")
    while not _may_be_schema(value):
        names = [it for it in _TOOL_WRAPPERS if isinstance(value.get(it), dict)]
        inner = value[names[0]] if names else None
        if not isinstance(inner, dict):
            break
        tokens, value = (*tokens, names[0]), inner
    return tokens, value if strict is None else {"strict": strict, **value}


def schema_place(value: Json | Rejected, most: int = MAX_LEVELS) -> str | None:
    """Return the pointer of the first schema in a request; None without one.

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


def _may_be_schema(value: dict[str, Json]) -> bool:
    kind = value.get("type")
    is_type = kind in TYPES if isinstance(kind, str) else isinstance(kind, list)
    return is_type or bool(SCHEMA_KEYWORDS & value.keys())


def read_mcp_server(
    command: str, log: Callable[[str], None], seconds: float = DEADLINE
) -> list[NamedSchema]:
    """Return the schemas of a server's tools, in its order.

    Args:
        command: The program with its arguments, as a shell would split it; no shell
            reads it.
        log: Prints the command before it runs.
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
        raise BadUsage("no command is given", "mcp:COMMAND")
    import asyncio  # noqa: PLC0415 (slow)

    try:
        import mcp  # noqa: F401, PLC0415 (an extra)
    except ImportError as error:
        hint = install_extra("mcp")
        raise Unavailable("needs the library mcp", f"mcp:{command}", hint) from error
    foreign = 0

    def drop(_: logging.LogRecord) -> bool:
        nonlocal foreign
        foreign += 1
        return False

    # The library logs a traceback for each line that is not of the protocol, such as
    # a banner's, and reads on.
    logger = logging.getLogger("mcp.client.stdio")
    logger.addFilter(drop)
    log(f"Running {shlex.join(words)}, for at most {seconds:g} s, without credentials")
    try:
        tools = asyncio.run(asyncio.wait_for(_listed(words), seconds))
    except TimeoutError as error:
        message = f"did not list its tools within {seconds:g} seconds"
        raise TemporarilyUnavailable(message, words[0]) from error
    except Exception as error:
        fault: BaseException = error
        while isinstance(fault, BaseExceptionGroup):
            fault = fault.exceptions[0]
        why = " ".join(str(fault).split()) or type(fault).__name__
        hint = "the command must speak the Model Context Protocol over stdio"
        raise Unavailable(
            f"cannot be asked for its tools ({why})", words[0], hint
        ) from (error)
    finally:
        logger.removeFilter(drop)
        if foreign:
            log(f"{words[0]}: skipped {counted(foreign, 'line')} that are not JSON-RPC")
    if not tools:
        raise BadData("lists no tool", words[0])
    return tools_in({"tools": [*tools]}, words[0], log)


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
        for _ in range(_MAX_PAGES):
            page = await session.list_tools(params=page_request)
            tools += [
                tool.model_dump(mode="json", by_alias=True, exclude_none=True)
                for tool in page.tools
            ]
            if not page.next_cursor:
                break
            page_request = PaginatedRequestParams(cursor=page.next_cursor)
    return tools
