"""The official MCP servers, started for real: every tool is accepted, not strict."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.nightly
_NPM = "@modelcontextprotocol/server-"
#: The packages, with what they are started with.
_NODE = {
    "everything": [],
    "filesystem": ["{folder}"],
    "memory": [],
    "sequential-thinking": [],
}
_PYTHON: dict[str, list[str]] = {"fetch": [], "git": [], "time": []}


def _verdicts(command: list[str], folder: Path) -> dict[str, dict[str, str]]:
    """Return the verdicts of `csbdata fit` on the tools of a server, by tool."""
    source = f"mcp:{shlex.join(command)}"
    words = ["fit", source, "--for", "anthropic,openai", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "curation", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return {
        tool["name"]: {name: it["verdict"] for name, it in tool["targets"].items()}
        for tool in json.loads(done.stdout)["schemas"]
    }


def _assert_accepted(verdicts: dict[str, dict[str, str]]) -> None:
    assert verdicts
    bad = {
        name: by_target
        for name, by_target in verdicts.items()
        if {*by_target.values()} != {"accepted"}
    }
    assert not bad, bad


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
@pytest.mark.parametrize("name", _NODE)
def test_tools_of_servers_on_npm_are_accepted(tmp_path: Path, name: str) -> None:
    """By Anthropic and by OpenAI, which Claude's users show every day."""
    arguments = [it.format(folder=tmp_path) for it in _NODE[name]]
    command = ["npx", "--yes", f"{_NPM}{name}", *arguments]
    _assert_accepted(_verdicts(command, tmp_path))


@pytest.mark.parametrize("name", _PYTHON)
def test_tools_of_servers_on_pypi_are_accepted(tmp_path: Path, name: str) -> None:
    """Each in an environment of its own."""
    subprocess.run([sys.executable, "-m", "venv", "env"], cwd=tmp_path, check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    package = f"mcp-server-{name}"
    subprocess.run([python, "-m", "pip", "install", "-q", package], check=True)
    command = [python, "-m", package.replace("-", "_"), *_PYTHON[name]]
    _assert_accepted(_verdicts(command, tmp_path))
