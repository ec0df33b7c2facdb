"""Interrupts a scenario at each of its steps on the disk; run as a script.

    python kill_points.py SCENARIO FOLDER FAULT [STRIDE]

A step is a call that makes, renames, removes or flushes something below FOLDER.
The scenario runs in a forked child, which is killed (FAULT `kill`) or meets an
error of the system (`ENOSPC`, `EACCES`, `EROFS`) at its n-th step, for every n (or
every STRIDE-th) until it runs through. Behind each interruption the invariant must
hold, and the same scenario, run again, must arrive. Prints the number of steps.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.download.acquire import Acquired, acquire
from curation.download.cache import Cache, FetchSettings
from curation.download.packs import cached_pack
from curation.pipeline.build import BuildRequest, build
from curation.system import atomic_files
from curation.system.atomic_files import atomic_folder, atomic_write_bytes, sweep
from curation.system.errors import CannotCreate
from curation.system.progress import Quiet
from curation.workers.run_folder import RunFolder
from tests.curation.archives_made import github_pin

if TYPE_CHECKING:
    from collections.abc import Callable

EVENTS = {
    "open",
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "ctypes.call_function",
    "fsync",
}
PATHS = (str, bytes, os.PathLike)
#: A step that never comes.
NEVER = 10**9
#: Exit status of a child that met its fault and arrived all the same.
SURVIVED = 10
PIN = github_pin()
FILES = ("manifest.json", "a/rows", "b/rows")


def completions(folder: Path) -> None:
    """Make two completions, unless they are there."""
    with RunFolder.open(folder / "run", "f1") as run:
        for name in ("one", "two"):
            if run.done(name) is None:
                run.store(name, name.encode() * 1000)


def completions_hold(folder: Path) -> None:
    """A completion is whole or absent."""
    run = RunFolder(folder / "run", "f1")
    assert run.done("one") in (None, b"one" * 1000)
    assert run.done("two") in (None, b"two" * 1000)


def one_file(folder: Path) -> None:
    """Replace a file; what a killed run left of it goes first."""
    sweep(folder, "file")
    atomic_write_bytes(folder / "file", b"new" * 1000)


def one_file_holds(folder: Path) -> None:
    """The file is the old one or the new one."""
    assert (folder / "file").read_bytes() in (b"old" * 1000, b"new" * 1000)


def out(folder: Path) -> None:
    """Replace a folder."""
    with atomic_folder(folder / "out") as fresh:
        for name in FILES:
            (fresh / name).parent.mkdir(exist_ok=True)
            (fresh / name).write_text("new")


def out_slow(folder: Path) -> None:
    """Replace a folder where names cannot be swapped."""
    atomic_files._exchange = lambda *_: False
    out(folder)


def out_holds(folder: Path) -> None:
    """The folder is the old one or the new one, in one piece."""
    assert {(folder / "out" / each).read_text() for each in FILES} in ({"old"}, {"new"})


def out_slow_holds(folder: Path) -> None:
    """After the next start, which puts back what was moved aside, so it is."""
    atomic_files.recover(folder / "out")
    out_holds(folder)


def fetch(folder: Path) -> None:
    """Fetch an archive into a cache: from a mirror beside it, else from upstream.

    Upstream is a server at `CSBDATA_GITHUB_BASE`.
    """
    mirror = folder.with_name("mirror")
    environment = FetchSettings.from_environment(
        mirror=mirror if mirror.exists() else None
    )
    got = acquire(PIN, replace(environment, cache=folder / "cache"))
    assert isinstance(got, Acquired)
    assert cached_pack(Cache(folder / "cache").packs, PIN.digest) == got.pack


def fetch_holds(folder: Path) -> None:
    """The pack is whole or absent."""
    packs = list((folder / "cache" / "packs").glob("*.pack"))
    assert (
        not packs or cached_pack(Cache(folder / "cache").packs, PIN.digest) == packs[0]
    )


def tree(folder: Path) -> dict[str, str]:
    """Return every file's digest by its path; empty where there is no folder."""
    return {
        each.relative_to(folder).as_posix(): hashlib.sha256(
            each.read_bytes()
        ).hexdigest()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }


def sample(rules: str, folder: Path) -> None:
    """Build the sample."""
    fetch = FetchSettings(cache=folder.with_name("cache"), offline=True)
    target = folder / "sample"
    request = BuildRequest(out=target, rules=rules, sample=True, jobs=2, fetch=fetch)
    build(request, Quiet())


def sample_holds(folder: Path) -> None:
    """The folder is absent, or that of a build that nobody disturbed."""
    whole = tree(folder.with_name("whole") / "sample")
    assert "manifest.json" in whole
    assert tree(folder / "sample") in ({}, whole), "neither absent nor whole"


def left_of(folder: Path) -> list[Path]:
    """Return what should not be there when all has arrived."""
    return [
        each
        for each in folder.rglob("*")
        if each.suffix != ".lock" and each.name != ".downloads"
        if each.name[0] == "." or (".downloads" in each.parts and each.is_file())
    ]


SCENARIOS: dict[str, tuple[Callable[[Path], None], Callable[[Path], None]]] = {
    "completions": (completions, completions_hold),
    "one_file": (one_file, one_file_holds),
    "out": (out, out_holds),
    "out_slow": (out_slow, out_slow_holds),
    "fetch": (fetch, fetch_holds),
    "sample clean": (partial(sample, "clean"), sample_holds),
    "sample paper": (partial(sample, "paper"), sample_holds),
}


def prepare(folder: Path) -> None:
    """Lay down the old state."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "file").write_bytes(b"old" * 1000)
    for name in FILES:
        (folder / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "out" / name).write_text("old")


class Fault:
    """A fault that waits for the n-th step."""

    def __init__(self, folder: Path, step: int, kind: str) -> None:
        """Watch the steps from now on."""
        self._folder = os.fsencode(folder)
        self.left = step
        self._kind = kind
        self._flush = os.fsync
        os.fsync = self._fsync  # type: ignore[assignment] # for as long as we live
        sys.addaudithook(self._at)

    @property
    def met(self) -> bool:
        """Whether the step has come."""
        return self.left < 0

    def _fsync(self, descriptor: int) -> None:
        self._at("fsync", (self._folder,))
        self._flush(descriptor)

    def _at(self, event: str, arguments: tuple[Any, ...]) -> None:
        reads = event == "open" and "r" in (arguments[1] or "")
        if event not in EVENTS or reads or not self._concerns(arguments):
            return
        self.left -= 1
        if self.left == -1:
            if self._kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            code = getattr(errno, self._kind)
            raise OSError(code, os.strerror(code))

    def _concerns(self, arguments: tuple[Any, ...]) -> bool:
        return any(
            self._folder
            in (os.fsencode(each) if isinstance(each, PATHS) else repr(each).encode())
            for each in arguments
        )


def attempt(name: str, folder: Path, step: int, fault: str) -> int:
    """Run the scenario in a child with a fault ahead; return its exit status."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    ahead = Fault(folder, step, fault)
    try:
        SCENARIOS[name][0](folder)
    except CannotCreate as error:
        os._exit(error.exit_code)
    except BaseException as error:  # noqa: BLE001 - told by the exit code
        sys.stderr.write(f"step {step}: {error!r}\n")
        os._exit(1)
    os._exit(SURVIVED if ahead.met else 0)


def main(name: str, folder: Path, fault: str, stride: int = 1) -> None:
    """Interrupt at one step after the other."""
    _, holds = SCENARIOS[name]
    fatal = -signal.SIGKILL if fault == "kill" else CannotCreate.exit_code
    whole = folder.with_name("whole")
    prepare(whole)
    assert attempt(name, whole, NEVER, fault) == 0
    for step in range(0, NEVER, stride):
        prepare(folder)
        status = attempt(name, folder, step, fault)
        holds(folder)
        assert status in (0, SURVIVED, fatal), f"step {step} ended with {status}"
        assert attempt(name, folder, NEVER, fault) == 0
        holds(folder)
        assert not left_of(folder), f"step {step} left {left_of(folder)}"
        if status == 0:
            sys.stdout.write(f"{step}\n")
            return


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3], *map(int, sys.argv[4:]))
