"""The table of capabilities: what the project can, run as its users run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capabilities.runner import Output, Session, claims, failures, read_table

if TYPE_CHECKING:
    from pathlib import Path

_ROWS = read_table()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Return what runs a row once, and keeps its output for the others."""
    return Session(_ROWS, tmp_path_factory.mktemp("capabilities"))


def _marked(name: str) -> object:
    wrong = _ROWS[name].wrong
    marks = [pytest.mark.xfail(reason=wrong, strict=True)] if wrong else []
    return pytest.param(name, marks=marks, id=name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [_marked(name) for name in _ROWS])
def test_the_command_shows_what_the_row_says(name: str, session: Session) -> None:
    """Every claim of the row holds of what its command gives."""
    output = session.output(name)
    found = list(failures(_ROWS[name], output))
    assert not found, "\n".join([*found, output.stderr[-2000:]])


@pytest.mark.parametrize("name", list(_ROWS))
def test_an_emptied_output_turns_the_row_red(name: str, tmp_path: Path) -> None:
    """A row claims something, and no claim of it holds of nothing."""
    row = _ROWS[name]
    assert claims(row)
    nothing = Output(stdout="", folder=tmp_path)
    assert len(list(failures(row, nothing))) == claims(row)
