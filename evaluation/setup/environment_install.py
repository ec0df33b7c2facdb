"""Making an engine's environment: planned first, made aside, tried, then counted.

pip does what installing there is, as its user has configured it. What it would
download is asked with a dry run, so that the size is said before anything is.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import requests

from curation.system.atomic_files import atomic_write_bytes, cannot_write
from curation.system.errors import Unavailable
from evaluation.setup.engine_files import FAITHFUL, choose_options
from evaluation.setup.environments import (
    RECORD,
    Environment,
    environment_folder,
    environment_python,
    existing_environments,
    locked,
    version_to_install,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.setup.engine_files import EngineFile
    from evaluation.setup.environments import KnownVersion

#: Seconds for all that pip does at once; compiling takes minutes.
_DEADLINE = 3600.0
#: Seconds for the trial of an engine.
_TRIAL = 300.0
#: Seconds to wait for the size of one file.
_PATIENCE = 5.0
_SERVICE = "the package index"
_SECRETS = frozenset({"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"})
_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "install")
_TRIAL_FILE = Path(__file__).with_name("environment_smoke_test.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallPlan:
    """What making an environment would install."""

    row: KnownVersion
    #: Name and version of every package to install.
    packages: dict[str, str]
    #: Bytes to download; None where it cannot be told.
    download_bytes: int | None
    #: Whether that is the figure of the table, measured elsewhere.
    estimated: bool = False


def ready_environment(file: EngineFile) -> Environment | None:
    """Return the environment of a wanted version if it is there already."""
    row = version_to_install(file)
    same = [
        each for each in existing_environments(file.name) if each.version == row.version
    ]
    return same[0] if same else None


def make_environment(
    file: EngineFile,
    agreed: Callable[[InstallPlan], bool],
    say: Callable[[str], None],
) -> Environment | None:
    """Make an environment; None if the plan is not agreed to.

    Nothing is left of it if anything fails, and what a killed process left is
    removed by the next.

    Raises:
        Unavailable: pip cannot get or build something, or the engine does not run.
        TemporarilyUnavailable: another csbdata is making it.
        CannotCreate: the cache cannot be written.
        BadConfiguration: there is nothing to install.
    """
    row = version_to_install(file)
    folder = environment_folder(row.engine, row.version)
    try:
        with locked(folder), _aside(folder):
            _create(folder)
            plan = plan_install(row, folder)
            if not agreed(plan):
                return None
            _install(file, row, folder, say)
    except OSError as error:
        raise cannot_write(folder, error) from error
    return ready_environment(file)


def _install(
    file: EngineFile, row: KnownVersion, folder: Path, say: Callable[[str], None]
) -> None:
    """Fill an environment, try it, and write its record."""
    say(f"{row.engine} {row.version}: installing")
    for request in _requests(row):
        _pip(folder, *request)
    say(f"{row.engine} {row.version}: trying it")
    _try(file, folder)
    record = {
        "engine": row.engine,
        "version": row.version,
        "packages": _packages(folder),
        "csbdata": version_of("csbdata"),
    }
    atomic_write_bytes(folder / RECORD, json.dumps(record, indent=1).encode())


def plan_install(row: KnownVersion, folder: Path) -> InstallPlan:
    """Ask pip what it would install into an empty environment.

    Raises:
        Unavailable: pip finds no way.
    """
    items: dict[str, UntypedJson] = {}
    for request in _requests(row):
        with tempfile.TemporaryDirectory() as place:
            report = Path(place) / "report.json"
            _pip(folder, *request, "--dry-run", f"--report={report}")
            for each in json.loads(report.read_bytes())["install"]:
                items[each["metadata"]["name"]] = each
    sizes = [_size(each["download_info"]["url"]) for each in items.values()]
    known = None if None in sizes else sum(each or 0 for each in sizes)
    estimated = known is None and row.megabytes is not None
    return InstallPlan(
        row=row,
        packages={name: each["metadata"]["version"] for name, each in items.items()},
        download_bytes=(row.megabytes or 0) * 10**6 if estimated else known,
        estimated=estimated,
    )


def _requests(row: KnownVersion) -> Iterator[tuple[str, ...]]:
    """Yield what pip is asked for, call by call."""
    if row.together:
        yield row.together
    if row.alone:
        yield ("--no-deps", *row.alone)


@contextlib.contextmanager
def _aside(folder: Path) -> Iterator[None]:
    """Begin with no folder, and leave none without a record."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    finally:
        if not (folder / RECORD).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _create(folder: Path) -> None:
    """Make an empty environment whose pip has the settings of this Python's.

    Raises:
        Unavailable: this Python cannot make environments.
    """
    try:
        venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    except subprocess.CalledProcessError as error:
        what = "this Python cannot make an environment with pip in it"
        then = "install what your system calls python3-venv"
        raise Unavailable(what, sys.executable, then) from error
    name = "pip.ini" if os.name == "nt" else "pip.conf"
    own = Path(sys.prefix) / name
    if own.is_file():
        shutil.copy(own, folder / name)


def _pip(folder: Path, *arguments: str) -> None:
    """Run an environment's pip to its end.

    Raises:
        Unavailable: it ends with an error, whose last words are the reason.
    """
    said, code = _run(
        [str(environment_python(folder)), *_PIP, "--quiet", *arguments], _DEADLINE
    )
    if code:
        raise Unavailable(f"pip cannot install it ({_last_words(said)})", _SERVICE)


def _try(file: EngineFile, folder: Path) -> None:
    """Load the engine over a small vocabulary, compile, and compute one mask.

    Raises:
        Unavailable: it does not do that.
    """
    options = json.dumps(choose_options(file, FAITHFUL, {}))
    command = [str(environment_python(folder)), "-P", str(_TRIAL_FILE), str(file.path)]
    said, code = _run([*command, options], _TRIAL)
    if code:
        what = f"was installed and does not run ({_last_words(said)})"
        raise Unavailable(what, file.spec, "nothing was kept")


def _run(command: Sequence[str], seconds: float) -> tuple[str, int]:
    """Run a program in a session of its own; return what it said, and its code."""
    variables = {key: os.environ[key] for key in os.environ.keys() - _SECRETS}
    # A PYTHONPATH of ours would give the environment what is not in it.
    variables.pop("PYTHONPATH", None)
    with subprocess.Popen(
        command,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as child:
        try:
            return child.communicate(timeout=seconds)[0], child.returncode
        except BaseException as error:
            os.killpg(child.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return f"it did not end within {seconds:g} seconds", 1
            raise


def _packages(folder: Path) -> dict[str, str]:
    """Return name and version of everything in an environment."""
    command = [str(environment_python(folder)), "-m", "pip", "list", "--format=json"]
    said, _ = _run([*command, "--disable-pip-version-check"], _TRIAL)
    start = said.find("[")
    listed = json.loads(said[start : said.rfind("]") + 1] if start >= 0 else "[]")
    return {each["name"]: each["version"] for each in listed}


def _size(address: str) -> int | None:
    """Return the bytes of one file, without getting it; None where it is not told."""
    try:
        parts = urlsplit(address)
        if parts.scheme == "file":
            return Path(unquote(parts.path)).stat().st_size
        answer = requests.head(address, timeout=_PATIENCE, allow_redirects=True)
        return int(answer.headers["Content-Length"]) if answer.ok else None
    except (OSError, KeyError, ValueError):
        return None


def _last_words(said: str) -> str:
    lines = [each.strip() for each in said.splitlines() if each.strip()]
    errors = [each for each in lines if each.startswith("ERROR:")] or lines
    return errors[-1].removeprefix("ERROR: ")[:300] if errors else "it says nothing"
