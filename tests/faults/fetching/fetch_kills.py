"""Interrupts an acquisition at each of its steps on the disk; run as a script.

    python fetch_kills.py WAY FOLDER FAULT

WAY is `mirror` or `upstream` (a server at `CSBDATA_GITHUB_BASE`), FAULT as in
`kill_points`. Behind each interruption there is either no pack or the whole one,
and the same command, run again, arrives and leaves nothing behind. Prints the
number of steps.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path

from curation.download.acquire import Acquired, FetchSettings, acquire
from curation.download.cache import Cache
from curation.system.errors import CannotCreate
from tests.archives_made import github_pin, github_tarball, save
from tests.faults.kill_points import SURVIVED, Fault

PIN = github_pin()


def settings(way: str, folder: Path) -> FetchSettings:
    """Return settings for one way, with the cache below the folder."""
    mirror = folder.with_name("mirror") if way == "mirror" else None
    environment = FetchSettings.from_environment(mirror=mirror)
    return replace(environment, cache=folder / "cache")


def attempt(way: str, folder: Path, step: int, fault: str) -> int:
    """Acquire in a child with a fault ahead; return its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    ahead = Fault(folder, step, fault)
    try:
        acquire(PIN, settings(way, folder))
    except CannotCreate as error:
        os._exit(error.exit_code)
    except BaseException as error:  # noqa: BLE001 - told by the exit code
        sys.stderr.write(f"step {step}: {error!r}\n")
        os._exit(1)
    os._exit(SURVIVED if ahead.met else 0)


def check(way: str, folder: Path) -> None:
    """The pack is whole or absent; the same command completes and tidies up."""
    packs = list((folder / "cache" / "packs").glob("*.pack"))
    assert not packs or Cache(folder / "cache").pack(PIN.digest) == packs[0]
    got = acquire(PIN, settings(way, folder))
    assert isinstance(got, Acquired)
    assert Cache(folder / "cache").pack(PIN.digest) == got.pack


def left(folder: Path) -> list[Path]:
    """Return what should not be there."""
    return [
        each
        for each in folder.rglob("*")
        if each.is_file() and each.suffix not in {".pack", ".json", ".lock"}
    ]


def main(way: str, folder: Path, fault: str) -> None:
    """Interrupt at every step in turn."""
    save(folder.with_name("mirror"), PIN.file_names[0], github_tarball())
    fatal = -signal.SIGKILL if fault == "kill" else CannotCreate.exit_code
    for step in range(1000):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        status = attempt(way, folder, step, fault)
        assert status in {0, SURVIVED, fatal}, f"step {step} ended with {status}"
        check(way, folder)
        assert not left(folder), f"step {step} left {left(folder)}"
        if status == 0:
            sys.stdout.write(f"{step}\n")
            return


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3])
