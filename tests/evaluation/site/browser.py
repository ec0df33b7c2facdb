"""Chromium, driven by Playwright: what pages say, and what axe finds in them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from tests.programs import ended

_HERE: Final = Path(__file__).parent
_TOOLS: Final = Path("build/browser").absolute()
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_CHROMIUM: Final = next(filter(None, map(shutil.which, _NAMES)), None)


def _tools() -> Path:
    """Return the folder with the tools of `package.json`, installed once.

    Raises:
        pytest.skip.Exception: there is no browser, or npm cannot install them.
    """
    npm = shutil.which("npm")
    if _CHROMIUM is None or npm is None:
        lacking = "npm" if _CHROMIUM else "chromium"
        pytest.skip(f"{lacking} is not installed to drive a browser")
    wanted = _TOOLS / "node_modules" / "axe-core"
    if not wanted.is_dir():
        _TOOLS.mkdir(parents=True, exist_ok=True)
        shutil.copy(_HERE / "package.json", _TOOLS)
        install = [npm, "install", "--no-audit", "--no-fund"]
        subprocess.run(install, cwd=_TOOLS, check=False)
        if not wanted.is_dir():
            pytest.skip("npm cannot install axe-core to drive a browser")
    return _TOOLS


def visited(visits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what `visit.cjs` says of each visit."""
    given = json.dumps({"chromium": _CHROMIUM, "visits": visits})
    done = ended("node", _HERE / "visit.cjs", cwd=_tools(), input=given)
    assert done.returncode == 0, done.stderr
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results
