"""Programs of others: run to their end, without our credentials."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from curation.system.programs import environment_for_others, last_error, run_to_end

if TYPE_CHECKING:
    from pathlib import Path

#: What `npm view --json` prints where it finds no network.
_NPM = """{
  "error": {
    "code": "ENOTFOUND",
    "summary": "request to https://r.test failed",
    "detail": "This is a problem related to network connectivity."
  }
}
"""
PRINTS = "import sys; print('out'); sys.stdout.flush(); print('error', file=sys.stderr)"


def test_what_it_prints_and_its_code_are_returned(tmp_path: Path) -> None:
    """Both streams in order, or what stands on stderr alone."""
    command = [sys.executable, "-c", f"{PRINTS}; sys.exit(3)"]
    both = run_to_end(command, 60, environment=os.environ, folder=tmp_path)
    assert (both.printed.split(), both.code) == (["out", "error"], 3)
    alone = run_to_end(command, 60, environment=os.environ, errors_only=True)
    assert alone.printed.split() == ["error"]


def test_what_takes_too_long_is_killed_with_all_that_it_started() -> None:
    """A grandchild that holds the pipe does not hold us."""
    child = "import time; time.sleep(600)"
    program = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    )
    with pytest.raises(subprocess.TimeoutExpired):
        run_to_end([sys.executable, "-c", program], 0.5, environment=os.environ)


def test_a_program_of_others_gets_what_it_needs_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Known names are handed on; whatever else there is, a secret or not, is not."""
    wanted = {"HTTPS_PROXY": "p", "https_proxy": "p", "PIP_INDEX_URL": "i", "LANG": "C"}
    kept = {
        "HF_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "OPENAI_API_KEY",
        "MY_OWN",
        "PYTHONPATH",
    }
    for name, value in (wanted | dict.fromkeys(kept, "secret")).items():
        monkeypatch.setenv(name, value)
    environment = environment_for_others()
    assert wanted.items() <= environment.items()
    assert not kept & environment.keys()
    assert environment["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("a\nERROR: first\nERROR: second\nnote\n", "second"),
        ("a\nb\n\n", "b"),
        (_NPM, "request to https://r.test failed"),
        ("", "it says nothing"),
    ],
)
def test_the_last_error_is_the_reason(printed: str, said: str) -> None:
    """Of a program that names none, its last line."""
    assert last_error(printed) == said
