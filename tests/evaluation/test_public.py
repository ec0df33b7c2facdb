"""What `evaluation` offers to those who import it, and nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

import evaluation

PUBLIC = [
    "Bounds",
    "Instance",
    "ModelOptions",
    "RecordedRun",
    "RunRequest",
    "RunResult",
    "Sample",
    "TaskSettings",
    "open_run",
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
