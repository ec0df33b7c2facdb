"""The recipes of docs/scale.md are run, with the variables that schedulers set."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: Stands for `csbdata`: it writes down the options by which a part is told apart.
_STAND_IN = """#!/bin/sh
echo "$@" >> "$SAID"
while [ $# -gt 1 ]; do
  case "$1" in --run-dir | --out) mkdir -p "$2" ;; esac
  shift
done
"""


def _run(folder: Path, script: str, **variables: str) -> None:
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    said = str(folder / "said")
    subprocess.run(
        ["/bin/sh", "-eu", "-c", script],
        cwd=folder,
        env={"PATH": path, "SAID": said, **variables},
        check=True,
    )


@pytest.mark.parametrize(
    ("first", "option", "folder", "wanted"),
    [
        (0, "--run-dir", "runs", "results merge {parts} --out runs/whole"),
        (3, "--out", "build", "build --instances {parts} --out build/JSONSchemaBench"),
    ],
    ids=["runs", "builds"],
)
def test_every_part_is_asked_once_and_all_are_merged(
    first: int, option: str, folder: str, wanted: str, tmp_path: Path
) -> None:
    """Whichever scheduler counts, from 1 or from 0: parts 1/4 to 4/4, a folder each."""
    program = tmp_path / "bin" / "csbdata"
    program.parent.mkdir()
    program.write_text(_STAND_IN, encoding="utf-8")
    program.chmod(0o755)
    text = (_ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    blocks = _BLOCK.findall(text)
    assert len(blocks) == 6
    slurm, kubernetes, merge = blocks[first : first + 3]
    for index in range(4):
        _run(
            tmp_path,
            slurm,
            SLURM_ARRAY_TASK_ID=str(index + 1),
            SLURM_ARRAY_TASK_COUNT="4",
        )
        _run(tmp_path, kubernetes, JOB_COMPLETION_INDEX=str(index), PARTS="4")
    _run(tmp_path, merge)
    *parts, merged = (tmp_path / "said").read_text(encoding="utf-8").splitlines()
    found = [
        (line.split("--shard ")[1].split()[0], line.split(f"{option} ")[1])
        for line in parts
    ]
    places = [f"{folder}/part-{part}" for part in range(1, 5)]
    asked = [(f"{part}/4", place) for part, place in enumerate(places, start=1)]
    assert found == [part for part in asked for _ in range(2)]
    assert merged == wanted.format(parts=" ".join(places))
