"""Servers of the Model Context Protocol, asked over stdio: real ones."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from curation.sources.tools import read_mcp_server
from curation.system.errors import (
    BadData,
    BadUsage,
    TemporarilyUnavailable,
    Unavailable,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    find_spec("mcp") is None, reason="pip install 'csbdata[mcp]'"
)
PYTHON = shlex.quote(sys.executable)
#: A server by the protocol's own library, which says what it finds around itself.
SERVER = """
import os
from mcp.server.mcpserver import MCPServer
server = MCPServer("weather")
@server.tool()
def forecast(city: str, days: int = 3) -> dict[str, float]:
    return {}
@server.tool(name="seen-" + "-".join(sorted(set(os.environ) & {"HF_TOKEN", "PATH"})))
def seen() -> None:
    return None
server.run("stdio")
"""
EMPTY = """
from mcp.server.mcpserver import MCPServer
MCPServer("empty").run("stdio")
"""


def command(tmp_path: Path, program: str) -> str:
    """Return the command that runs a program."""
    file = tmp_path / "a server.py"
    file.write_text(program)
    return f"{PYTHON} {shlex.quote(str(file))}"


@pytest.mark.slow
def test_a_real_server_lists_its_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said before it is run, and sees no credential of ours."""
    monkeypatch.setenv("HF_TOKEN", "made-up")
    told: list[str] = []
    line = command(tmp_path, SERVER)
    found = read_mcp_server(line, told.append)
    assert told == [f"Running {line}, for at most 30 s, without credentials"]
    names = [own.name for own in found if not own.name.endswith(".output")]
    assert names == ["forecast", "seen-PATH"]
    assert isinstance(found[0].schema, dict)
    assert found[0].schema["required"] == ["city"]


@pytest.mark.slow
def test_a_banner_before_the_protocol_is_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Many servers greet on standard output; their tools are listed all the same."""
    told: list[str] = []
    banner = 'print("Weather 1.0\\n\\nready\\n", flush=True)\n'
    assert read_mcp_server(command(tmp_path, banner + SERVER), told.append)
    assert told[1:] == [f"{sys.executable}: skipped 4 lines that are not JSON-RPC"]
    assert not caplog.records


@pytest.mark.slow
def test_a_server_without_tools_is_told_so(tmp_path: Path) -> None:
    """Nothing to build is no success."""
    with pytest.raises(BadData, match="lists no tool"):
        read_mcp_server(command(tmp_path, EMPTY), print)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "fault", "said"),
    [
        ("import time; time.sleep(60)", TemporarilyUnavailable, "within 2 seconds"),
        ("raise SystemExit(3)", Unavailable, "cannot be asked for its tools"),
    ],
)
def test_what_is_no_server_ends_in_time(
    tmp_path: Path, program: str, fault: type[Exception], said: str
) -> None:
    """One that says nothing, and one that ends: each is told what it did."""
    with pytest.raises(fault, match=said):
        read_mcp_server(command(tmp_path, program), print, seconds=2)


@pytest.mark.parametrize("line", ["", "  ", "a 'b"])
def test_a_command_that_cannot_be_run_is_not_run(line: str) -> None:
    """Empty, or with a quotation mark that stays open."""
    with pytest.raises(BadUsage):
        read_mcp_server(line, print)


@pytest.mark.slow
def test_a_program_that_is_not_there_is_named() -> None:
    """With what the command must be."""
    with pytest.raises(Unavailable, match="no-such-program"):
        read_mcp_server("no-such-program --stdio", print)
