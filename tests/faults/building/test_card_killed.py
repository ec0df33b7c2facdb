"""`csbdata card`, ended by a signal."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from shutil import copytree
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_a_card_ended_by_sigterm_leaves_nothing_behind(
    sample_build: Path, tmp_path: Path
) -> None:
    """The folder is as it was, and what stood beside it is gone."""
    folder = copytree(sample_build, tmp_path / "built")
    command = [sys.executable, "-m", "curation", "card", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".built.*.unfinished")):
            assert child.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 128 + signal.SIGTERM
    assert not list(tmp_path.glob(".built.*.unfinished"))
    for path in sample_build.rglob("*"):
        if path.is_file():
            assert (folder / path.relative_to(sample_build)).read_bytes() == (
                path.read_bytes()
            )
