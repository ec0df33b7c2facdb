"""The same build elsewhere has the same bytes, plots included."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

#: Locale, time zone, hash seed and jobs; none of them may show.
PLACES = [
    pytest.param(
        {"LC_ALL": "C", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "1"},
        "2",
        id="c",
    ),
    pytest.param(
        {
            "LC_ALL": "tr_TR.UTF-8",
            "LANG": "tr_TR.UTF-8",
            "PYTHONHASHSEED": "4294967295",
            "MPLBACKEND": "svg",
            "MATPLOTLIBRC": "matplotlibrc",
            "COLUMNS": "40",
        },
        "3",
        id="turkish",
    ),
]


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return the content of every file of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.parametrize(("variables", "jobs"), PLACES)
def test_the_whole_folder_has_the_same_bytes(
    sample: Path, tmp_path: Path, variables: dict[str, str], jobs: str
) -> None:
    """Path, locale, time zone, hash seed, jobs and matplotlibrc do not show."""
    out = tmp_path / "o" / "İıâ place" / "name"
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.grid: True\n")
    subprocess.run(
        [
            *(sys.executable, "-m", "curation", "build", "--sample", "--offline"),
            *("--jobs", jobs, "--out", str(out), "--format", "json"),
        ],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **variables},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    assert bytes_of(out) == bytes_of(sample)
