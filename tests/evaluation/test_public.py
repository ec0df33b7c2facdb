"""What `evaluation` offers to those who import it, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import evaluation
from tests.evaluation.data.written_tables import write_tables

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC = [
    "Bounds",
    "Instance",
    "ModelOptions",
    "Record",
    "RecordedRun",
    "RunRequest",
    "RunResult",
    "TaskSettings",
    "TextJudgement",
    "judge",
    "open_run",
    "reward",
    "run",
]


def test_exactly_these_names_are_public() -> None:
    """A name more or less is a decision: it changes this list."""
    assert evaluation.__all__ == PUBLIC
    assert dir(evaluation) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name: str) -> None:
    """Each can be had, and says what it is."""
    assert getattr(evaluation, name).__doc__


def test_no_other_name_is_there() -> None:
    """A name that is misspelled is an error at once."""
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        _ = evaluation.rum


def test_importing_it_loads_nothing_heavy() -> None:
    """The names are imported when they are first asked for."""
    script = "import sys, evaluation; print('polars' in sys.modules)"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.slow
@pytest.mark.parametrize("what", ["a schema", "a build"])
def test_measuring_loads_no_library_of_data_frames(tmp_path: Path, what: str) -> None:
    """Every run would pay for polars or pandas, which only reports of frames need."""
    if what == "a build":
        write_tables(tmp_path, {"Snowplow": {"test": ["x"]}})
    else:
        (tmp_path / "a.json").write_text('{"type": "object"}')
    script = (
        "import sys, curation.cli, evaluation.asking.run, evaluation.data\n"
        "import evaluation.analysis.run_report, evaluation.commands.eval\n"
        "from curation.download.acquire import FetchSettings\n"
        f"found = evaluation.data.open_data({str(tmp_path)!r}, instances=False,"
        "    settings=FetchSettings.from_environment())\n"
        "print(len(list(found.records())), {'polars', 'pandas'} & sys.modules.keys())"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "set()"]
