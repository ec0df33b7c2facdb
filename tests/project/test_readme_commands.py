"""Every command of the README, in its order, as a stranger runs them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?:\$ )?((?:make|csbdata|pip|mkdir|echo|\.) .+)")
#: Codes beside 0: 1 where `check` or `fit` finds something, 69 or 75 where the Hub is
#: needed and does not answer, 65 where a partial build is not pushed.
_ALLOWED = {
    "csbdata check": {1},
    "csbdata fit": {1},
    "csbdata release": {69, 75},
    "csbdata push": {65, 69, 75},
}


def commands(readme: str) -> list[str]:
    """Return the command lines of a README, in order."""
    lines = [
        line
        for kind, block in _BLOCK.findall(readme)
        if kind in {"", "console"}
        for line in block.splitlines()
    ]
    found = filter(None, map(_COMMAND.fullmatch, lines))
    return [re.sub(r"\s{2,}#.*", "", command[1]) for command in found]


@pytest.mark.nightly
def test_the_readme_runs_from_an_empty_folder(tmp_path: Path) -> None:
    """In a clone, without a mirror and a cache; each ends as it says, and in order."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", _ROOT, clone], check=True)  # noqa: S607 (as the user has it)
    environment = {**os.environ, "CSBDATA_CACHE": str(tmp_path / "cache")}
    environment.pop("CSBDATA_MIRROR", None)
    environment["PATH"] = f"{clone}/.venv/bin{os.pathsep}{os.environ['PATH']}"
    lines = commands((clone / "README.md").read_text("utf-8"))
    assert len(lines) > len(_ALLOWED)
    for line in lines:
        ended = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],  # noqa: S607 (bash as it is here)
            cwd=clone,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        allowed = [codes for start, codes in _ALLOWED.items() if line.startswith(start)]
        assert ended.returncode in {0}.union(*allowed), (
            f"{line}: {ended.stderr[-2000:]}"
        )
        assert "Traceback" not in ended.stderr, line
