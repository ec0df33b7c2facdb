"""Tool lists in the forms of those who have them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel

from curation.sources.tools import read_tool_list
from curation.system.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson

SCHEMA: UntypedJson = {"type": "object", "properties": {"city": {"type": "string"}}}
CHAT = {"type": "function", "function": {"name": "chat", "parameters": SCHEMA}}
FLAT = {"type": "function", "name": "flat", "strict": True, "parameters": SCHEMA}
ANTHROPIC = {"name": "anthropic", "input_schema": SCHEMA}
MCP = {"name": "mcp", "inputSchema": SCHEMA, "outputSchema": {"type": "object"}}
SERVICE = {"type": "web_search_20250305", "name": "web_search"}
ALL: list[UntypedJson] = [CHAT, FLAT, ANTHROPIC, MCP, SERVICE]


def read(tmp_path: Path, document: UntypedJson) -> tuple[list[str], list[str]]:
    """Return the names of a list's schemas, and what was said."""
    file, told = tmp_path / "tools.json", list[str]()
    file.write_text(json.dumps(document))
    return [own.name for own in read_tool_list(file, told.append)], told


@pytest.mark.parametrize(
    "document",
    [
        ALL,
        {"tools": ALL},
        {"functions": ALL},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": ALL}},
        [{"tools": ALL[:2]}, {"model": "m", "tools": ALL[2:]}],
    ],
)
def test_every_form_is_read(tmp_path: Path, document: UntypedJson) -> None:
    """Alone, in requests or as an answer; a service's own tools are named."""
    names, told = read(tmp_path, document)
    assert names == ["chat", "flat", "anthropic", "mcp", "mcp.output"]
    assert told == [f"{tmp_path / 'tools.json'}: 1 tool without a schema: web_search"]


def test_one_tool_is_a_list(tmp_path: Path) -> None:
    """A single definition needs no brackets."""
    assert read(tmp_path, ANTHROPIC) == (["anthropic"], [])


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([SERVICE], "no tool with a schema among 1"),
        ([], "no tool list"),
        ({"tools": 1}, "no tool list"),
        (3, "no tool list"),
        ([[CHAT]], "no tool list"),
    ],
)
def test_what_is_no_list_is_told_so(
    tmp_path: Path, document: UntypedJson, said: str
) -> None:
    """With what a list is."""
    with pytest.raises(BadData, match=said):
        read(tmp_path, document)


@pytest.mark.slow
def test_what_openais_library_makes_is_read(tmp_path: Path) -> None:
    """The real helper's tools, for both of its interfaces."""
    openai = pytest.importorskip("openai")

    class Forecast(BaseModel):
        """Say the weather."""

        city: str
        days: int = 1

    names, told = read(tmp_path, [openai.pydantic_function_tool(Forecast)])
    assert (names, told) == (["Forecast"], [])
