"""Asking again, and programs of others run to their end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from curation.system.programs import environment_for_others, last_error, run_to_end
from curation.system.retry import retry_after, retry_call

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds that are waited, without waiting."""
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    monkeypatch.setattr("time.monotonic", lambda: sum(waited))
    return waited


def test_what_may_pass_is_tried_again_with_growing_pauses(pauses: list[float]) -> None:
    """The pause doubles, and the answer is returned."""
    troubles = [OSError("one"), OSError("two"), OSError("three")]

    def ask() -> str:
        if troubles:
            raise troubles.pop(0)
        return "answer"

    answer = retry_call(ask, lambda error: isinstance(error, OSError), 5, 1.0)
    assert answer == "answer"
    assert pauses == [1.0, 2.0, 4.0]


def test_only_the_number_of_tries_ends_them(pauses: list[float]) -> None:
    """Long pauses do not use up a time limit of the library's own."""

    def ask() -> None:
        raise OSError("busy")

    with pytest.raises(OSError, match="busy"):
        retry_call(ask, lambda _error: True, 5, 60.0)
    assert pauses == [60.0] * 4


@pytest.mark.parametrize(("may_pass", "tries"), [(True, 3), (False, 1), (7.5, 3)])
def test_the_last_failure_is_raised(
    pauses: list[float], may_pass: float, tries: int
) -> None:
    """After the last try, or the first that cannot pass; a wait asked for is kept."""
    tried = []

    def ask() -> None:
        tried.append(1)
        raise OSError(f"try {len(tried)}")

    with pytest.raises(OSError, match=f"try {tries}"):
        retry_call(ask, lambda _error: may_pass, 3, 1.0)
    asked = [7.5, 7.5] if may_pass == 7.5 else [1.0, 2.0]
    assert pauses == asked[: tries - 1]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        (" 40 ", 40.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("9" * 5_000, None),
        ("Wed, 21 Oct 99999 07:28:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    """What is past is no wait; what is neither says nothing."""
    assert retry_after({"Retry-After": value}) == seconds


def test_retry_after_may_be_a_date_to_come() -> None:
    """The wait is the time until then."""
    later = formatdate(time.time() + 100, usegmt=True)
    assert retry_after({"Retry-After": later}) == pytest.approx(100, abs=5)


def test_what_the_library_logs_of_a_retry_is_not_printed() -> None:
    """A message of ours says it, where it is worth a line."""
    code = "import logging, curation.system.retry; "
    code += "logging.getLogger('stamina').warning('again')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert done.stdout + done.stderr == ""


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
