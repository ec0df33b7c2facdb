"""Fail a continuous-integration run in which a test was skipped for a new reason.

A machine that cannot start Ray, an object store or a browser would else pass without
having tried them. Loaded by `-p tests.expected_skips`; it acts where `CI` is set.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Reasons that continuous integration accepts, as regular expressions: what it has not
#: (archives, a GPU, other people's programs) and cases that do not apply.
EXPECTED = (
    r"CSBDATA_(MIRROR|REFERENCE|BUILD|MASKBENCH)\b",
    r"root may write anywhere",
    r"it is in no extra",
    r"`paper` has fewer reasons",
    r"there is no Python 3\.\d+ here",
    # The package index or the Hub does not answer, or has no such file.
    r"csbdata eval .*fetches it",
    r"pip cannot install",
    # A browser, and what drives it.
    r"(node|npm|chromium) is not installed",
    r"npm cannot install",
    # Engines that the development environment leaves to environments of their own.
    r"csbdata engines add ",
    r"pip install 'csbdata\[",
    r"could not import '(xgrammar|outlines_core|triton)'",
)
_EXPECTED = re.compile("|".join(EXPECTED))
_REPORTS = pytest.StashKey[Counter[str]]()


def unexpected_reasons(reasons: Iterable[str]) -> Counter[str]:
    """Count the reasons that continuous integration does not accept."""
    return Counter(reason for reason in reasons if not _EXPECTED.search(reason))


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> object:
    """Turn unexpected skips into the exit code of failed tests."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if "CI" in os.environ and reporter is not None:
        skipped = reporter.stats.get("skipped", ())
        reasons = unexpected_reasons(str(report.longrepr[2]) for report in skipped)
        session.config.stash[_REPORTS] = reasons
        if reasons and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
    return (yield)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name the reasons and what to do about them."""
    for reason, count in sorted(config.stash.get(_REPORTS, Counter()).items()):
        terminalreporter.write_line(
            f"UNEXPECTED SKIP ({count}): {reason}: mend it, or accept it in"
            " tests/expected_skips.py",
            red=True,
        )
