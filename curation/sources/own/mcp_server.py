"""A server of the Model Context Protocol, asked for its tools over stdio.

The server is a program that the user names: it is said before it is run, it gets a
short list of environment variables and no credentials, and has a deadline. The
protocol is spoken by its own library (extra `mcp`).
"""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING

from curation.sources.own.tool_lists import tool_schemas
from curation.system.errors import (
    BadData,
    BadUsage,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.system.extras import install_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import Json
    from curation.sources.own.schema import OwnSchema

#: Seconds for the server to start and to list its tools.
DEADLINE = 30.0
#: Pages of a list of tools; a server that goes on and on is cut off.
_MOST_PAGES = 1_000


def read_mcp_server(
    command: str, say: Callable[[str], None], seconds: float = DEADLINE
) -> list[OwnSchema]:
    """Return the schemas of a server's tools, in its order.

    Args:
        command: The program with its arguments, as a shell would split it; no shell
            reads it.
        say: Told what is run, before it is.
        seconds: How long it may take.

    Raises:
        BadUsage: the command cannot be split, or is empty (exit 2).
        Unavailable: the program cannot be run or breaks off, or the library is not
            there (exit 69).
        TemporarilyUnavailable: it does not answer in time (exit 75).
        BadData: it has no tool with a schema (exit 65).
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadUsage(f"cannot be split ({error})", f"mcp:{command}") from error
    if not words:
        raise BadUsage("no command is given", "--with mcp:COMMAND")
    _require_library()
    say(f"Running {shlex.join(words)}, for at most {seconds:g} s, without credentials")
    try:
        tools = asyncio.run(asyncio.wait_for(_listed(words), seconds))
    except TimeoutError as error:
        what = f"did not list its tools within {seconds:g} seconds"
        raise TemporarilyUnavailable(what, words[0]) from error
    except Exception as error:
        why = _innermost(error)
        then = "the command must speak the Model Context Protocol over stdio"
        raise Unavailable(
            f"cannot be asked for its tools ({why})", words[0], then
        ) from (error)
    found = [own for tool in tools for own in tool_schemas(tool)]
    if not found:
        raise BadData("lists no tool with a schema", words[0])
    return found


def _require_library() -> None:
    try:
        import mcp  # noqa: F401, PLC0415 (an extra)
    except ImportError as error:
        raise Unavailable("needs the library mcp", "mcp:", install_extra("mcp")) from (
            error
        )


async def _listed(words: list[str]) -> list[dict[str, Json]]:
    """Start the server, ask for every page of its list, and stop it."""
    from mcp import ClientSession, StdioServerParameters  # noqa: PLC0415 (an extra)
    from mcp.client.stdio import stdio_client  # noqa: PLC0415 (as above)
    from mcp.types import PaginatedRequestParams  # noqa: PLC0415 (as above)

    server = StdioServerParameters(command=words[0], args=words[1:])
    tools: list[dict[str, Json]] = []
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        wanted = PaginatedRequestParams()
        for _ in range(_MOST_PAGES):
            page = await session.list_tools(params=wanted)
            tools += [
                tool.model_dump(mode="json", by_alias=True, exclude_none=True)
                for tool in page.tools
            ]
            if not page.next_cursor:
                break
            wanted = PaginatedRequestParams(cursor=page.next_cursor)
    return tools


def _innermost(error: BaseException) -> str:
    """Return the text of the first cause inside groups of exceptions."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(str(error).split()) or type(error).__name__
