"""F35 and F36 for fetching: killed or starved anywhere, the same command arrives."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from tests.archives_made import github_pin, github_tarball
from tests.loopback import body, serving
from tests.slow_cases import first_fast

ROOT = Path(__file__).parents[3]
SCRIPT = Path(__file__).with_name("fetch_kills.py")
PIN = github_pin()


def _steps(way: str, folder: Path, fault: str) -> int:
    with serving() as server:
        path = f"/{PIN.repository}/tar.gz/{PIN.commit}"
        server.on(path, body(github_tarball()))
        done = subprocess.run(
            [sys.executable, str(SCRIPT), way, str(folder), fault],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT),
                "CSBDATA_GITHUB_BASE": server.base,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize(
    ("way", "fault"),
    first_fast(1, product(("upstream", "mirror"), ("kill", "ENOSPC"))),
)
def test_f35_f36_whatever_ends_a_fetch_the_same_command_completes(
    way: str, fault: str, tmp_path: Path
) -> None:
    """SIGKILL or a full disk (73) at each write, flush and rename: whole or none."""
    assert _steps(way, tmp_path / "x", fault) >= 8
