"""Break one promise at a time, and see that its test goes red.

    python -m tests.mutants.run [--jobs N] [PART ...]

Each mutant of `*.toml` beside this file replaces one text in a copy of the tree, in
which its test is run. One that stays green survives: no test holds the promise. Exits
with 1 if one survives, if its text does not stand in the file exactly once, or if a
test is red without it. PART selects mutants by promise or file.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest

ROOT = Path(__file__).parents[2]
#: Seconds of one test.
_SECONDS = 600
_RED = re.compile(r"^\d+ (failed|error)", re.MULTILINE)
#: What pytest-timeout says: a limit says nothing of the promise.
_TIMEOUT = re.compile(r"Timeout \(?>?\d")
_COPIED = [
    "bench",
    "cards",
    "curation",
    "docs",
    "evaluation",
    "raw",
    "results",
    "tests",
]


class Mutant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way to break a promise."""

    #: `F1` to `F60`, or words of SECURITY.md.
    promise: str
    file: str
    #: The text that holds the promise; it stands in the file once.
    before: str
    after: str
    #: The test that has to go red, as pytest names it.
    test: str


def mutants(root: Path = ROOT) -> list[Mutant]:
    """Return all mutants, in the order of their files.

    Raises:
        msgspec.ValidationError: an entry has other fields than a mutant.
    """
    entries = [
        entry
        for path in sorted((root / "tests" / "mutants").glob("*.toml"))
        for entry in tomllib.loads(path.read_text("utf-8"))["mutant"]
    ]
    return msgspec.convert(entries, list[Mutant])


def mutated(mutant: Mutant, root: Path = ROOT) -> str:
    """Return the text of the mutant's file with the promise broken.

    Raises:
        ValueError: the text to replace does not stand there once.
    """
    text = (root / mutant.file).read_text("utf-8")
    times = text.count(mutant.before)
    if times != 1 or mutant.before == mutant.after:
        what = f"{mutant.file} has this {times} times, not once: {mutant.before!r}"
        raise ValueError(what)
    return text.replace(mutant.before, mutant.after)


def _copy(folder: Path) -> None:
    for name in _COPIED:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for path in ROOT.iterdir():
        if path.is_file() and path.name != ".git":
            shutil.copy(path, folder)


def _run_tests(folder: Path, *tests: str) -> tuple[int | None, str]:
    """Return pytest's exit code (None: no end in time), and what it printed."""
    options = ("-q", "-x", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider")
    environment = {**os.environ, "PYTHONPATH": str(folder), "CI": "1"}
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
            text=True,
            timeout=_SECONDS * len(tests),
        )
    except subprocess.TimeoutExpired:
        return None, "no end in time"
    return ended.returncode, ended.stdout + ended.stderr


def fault_of(mutant: Mutant) -> str:
    """Return why a mutant is not noticed as it has to be; empty if it is."""
    with TemporaryDirectory(prefix="csbdata-mutant-") as name:
        folder = Path(name)
        _copy(folder)
        try:
            (folder / mutant.file).write_text(mutated(mutant), "utf-8")
        except ValueError as error:
            return str(error)
        code, printed = _run_tests(folder, mutant.test)
    is_red = code == pytest.ExitCode.TESTS_FAILED and _RED.search(printed)
    if code is None or _TIMEOUT.search(printed):
        return "no end in time: the test has to see the fault itself"
    if is_red:
        return ""
    if code == pytest.ExitCode.OK:
        return "survives"
    return f"pytest ended with {code}: {printed[-500:]}"


def main(arguments: list[str]) -> int:
    """Try the selected mutants, print those that survive and the score."""
    parser = argparse.ArgumentParser(description="Break promises, one at a time.")
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    selected = [
        mutant
        for mutant in mutants()
        if not options.parts
        or any(part in {mutant.promise, mutant.file} for part in options.parts)
    ]
    code, printed = _run_tests(ROOT, *sorted({mutant.test for mutant in selected}))
    if code != pytest.ExitCode.OK:
        sys.stdout.write(f"red without a mutant:\n{printed[-3000:]}\n")
        return 1
    dead = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for mutant, fault in zip(selected, pool.map(fault_of, selected), strict=True):
            dead += not fault
            how = fault or "dies"
            sys.stdout.write(f"{mutant.promise}: {mutant.file}: {how}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{dead} of {len(selected)} mutants die\n")
    return int(dead != len(selected))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
