"""Tests of what continuous integration does with skipped tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PROGRAM = """
import pytest

def test_starts():
    pytest.skip({reason!r})
"""


@pytest.mark.parametrize(
    ("reason", "ci", "exit_code"),
    [
        ("not run: Ray's own nodes ended", "true", pytest.ExitCode.TESTS_FAILED),
        ("not run: Ray's own nodes ended", None, pytest.ExitCode.OK),
        ("CSBDATA_MIRROR is not set", "true", pytest.ExitCode.OK),
    ],
)
def test_an_unexpected_skip_fails_continuous_integration_alone(
    tmp_path: Path, reason: str, ci: str | None, exit_code: pytest.ExitCode
) -> None:
    """The run ends with the code of failed tests, and names the reason."""
    (tmp_path / "test_it.py").write_text(_PROGRAM.format(reason=reason))
    environment = {key: value for key, value in os.environ.items() if key != "CI"}
    environment |= {"PYTHONPATH": str(_ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "tests.expected_skips"]
    ended = subprocess.run(
        [*command, "-c", os.devnull, "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=environment | ({"CI": ci} if ci else {}),
        timeout=120,
    )
    assert ended.returncode == exit_code, ended.stdout
    named = f"UNEXPECTED SKIP (1): Skipped: {reason}" in ended.stdout
    assert named == (exit_code is pytest.ExitCode.TESTS_FAILED)
