"""Kills a build of the sample again and again; run as a script.

    python build_kills.py RULES FOLDER SEED KILLS

A whole build in FOLDER/whole gives the expected bytes. Then the same build, in
FOLDER/killed, is killed KILLS times, in turn at a random step on the disk and at a
random moment, and each time started again over what the last one left. Behind
every kill the output folder is absent or whole; at the end it has the expected
bytes, and nothing else is left. Prints the number of steps of a whole build.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from curation.download.acquire import FetchSettings
from curation.pipeline.build import build
from curation.pipeline.request import BuildRequest
from curation.system.progress import Quiet
from tests.faults.kill_points import Fault

#: A step that never comes.
NEVER = 10**9
#: Seconds for a build on a busy machine.
PATIENCE = 120.0


def tree(folder: Path) -> dict[str, str]:
    """Return every file's digest by its path; empty where there is no folder."""
    return {
        each.relative_to(folder).as_posix(): hashlib.sha256(
            each.read_bytes()
        ).hexdigest()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }


def start(rules: str, folder: Path, step: int) -> int:
    """Start a build in a child that dies at a step; return its process id."""
    child = os.fork()
    if child:
        return child
    os.setpgid(0, 0)
    fault = Fault(folder, step, "kill")
    fetch = FetchSettings(cache=folder.parent / "cache", offline=True)
    try:
        build(
            BuildRequest(
                out=folder / "out", rules=rules, sample=True, jobs=2, fetch=fetch
            ),
            Quiet(),
        )
        (folder.parent / "steps").write_text(str(NEVER - fault.left))
    except BaseException as error:  # noqa: BLE001 - told by the exit status
        sys.stderr.write(f"{error!r}\n")
        os._exit(1)
    os._exit(0)


def ended(child: int) -> int:
    """Wait for a child; return its exit status, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill(rules: str, folder: Path, step: int, seconds: float) -> None:
    """Kill a build at a step or after some seconds; it may be done before."""
    child = start(rules, folder, step)
    deadline = time.monotonic() + seconds
    while not os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
    status = ended(child)
    assert status in (0, -signal.SIGKILL), f"step {step} ended with {status}"


def main(rules: str, root: Path, seed: int, kills: int) -> None:
    """Build once undisturbed, then against all odds."""
    source = random.Random(seed)
    for name in ("whole", "killed"):
        (root / name).mkdir(parents=True)
    started = time.monotonic()
    assert ended(start(rules, root / "whole", NEVER)) == 0
    limit = time.monotonic() - started
    steps = int((root / "steps").read_text())
    expected = tree(root / "whole" / "out")
    assert "manifest.json" in expected
    folder = root / "killed"
    for turn in range(kills):
        if turn % 2:
            kill(rules, folder, NEVER, source.random() * limit)
        else:
            kill(rules, folder, source.randrange(steps), PATIENCE)
        found = tree(folder / "out")
        assert found in ({}, expected), "neither old nor new"
        if found:
            # It has to be built again, over the old one.
            shutil.rmtree(folder / "out.run", ignore_errors=True)
    assert ended(start(rules, folder, NEVER)) == 0
    assert tree(folder / "out") == expected
    left = {each.name for each in folder.iterdir()}
    assert left == {"out", "out.run"}, left
    torsos = [str(each) for each in folder.rglob("*.unfinished")]
    assert not torsos, torsos
    sys.stdout.write(f"{steps}\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), int(sys.argv[3]), int(sys.argv[4]))
