"""The generators that ours is measured against, installed beside the project.

They are no dependency of it: they go to `build/peers`, through pip and npm as their
user has configured them. The versions are pinned, so that figures can be compared.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.generators.generator_process import Command

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HYPOTHESIS = "hypothesis-jsonschema"
JSF = "jsf"
FAKER = "json-schema-faker"
# hypothesis-jsonschema 0.23.1 makes no object with Hypothesis 6.170 (it calls what
# was renamed there), so it gets the newest that it works with.
_PINS = {
    HYPOTHESIS: ("hypothesis-jsonschema==0.23.1", "hypothesis==6.169.4"),
    JSF: ("jsf==0.11.2",),
    FAKER: ("json-schema-faker@0.6.3",),
}
_MODULES = {
    HYPOTHESIS: "bench.generators.generate_hypothesis",
    JSF: "bench.generators.generate_jsf",
}
_SCRIPT = "generate_faker.mjs"
#: Seconds for one installation.
_PATIENCE = 300
_HEAP = "--max-old-space-size=2048"


@dataclass(frozen=True, slots=True)
class Absent:
    """Why a peer is not here."""

    reason: str


def installed(folder: Path, scripts: Path) -> dict[str, Command | Absent]:
    """Install every peer below a folder and return how to start it, or why not."""
    folder.mkdir(parents=True, exist_ok=True)
    return {
        HYPOTHESIS: _python(HYPOTHESIS, folder),
        JSF: _python(JSF, folder),
        FAKER: _node(FAKER, folder, scripts / _SCRIPT),
    }


def _python(name: str, folder: Path) -> Command | Absent:
    python = folder / ".venv" / "bin" / "python"
    if not python.exists():
        failed = _failure([sys.executable, "-m", "venv", str(folder / ".venv")])
        if failed:
            return Absent(failed)
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    failed = _failure([*pip, *_PINS[name]])
    return (
        Absent(failed) if failed else Command(words=(str(python), "-m", _MODULES[name]))
    )


def _node(name: str, folder: Path, script: Path) -> Command | Absent:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        return Absent("no npm" if npm is None else "no node")
    options = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
    failed = _failure([npm, "install", *options, "--prefix", str(folder), *_PINS[name]])
    if failed:
        return Absent(failed)
    # A script finds the packages that are installed beside it.
    copy = shutil.copy(script, folder / script.name)
    return Command(words=(node, _HEAP, str(copy)), bounded=False)


def _failure(command: Sequence[str]) -> str:
    """Run a command; return the last line of its complaint if it fails, else ''."""
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}: {error}"[:300]
    if not ended.returncode:
        return ""
    lines = ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"]
    return lines[-1][:300]
