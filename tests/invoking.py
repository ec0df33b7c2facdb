"""The command line, called in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from curation.cli import application
from curation.system.terminal import set_command_line

if TYPE_CHECKING:
    from typer.testing import Result


def invoke(*words: object, **options: Any) -> Result:  # noqa: ANN401 (options of the runner)
    """Return what `csbdata WORDS` does; a fault is its `exception`."""
    arguments = [str(word) for word in words]
    with set_command_line(arguments):
        return CliRunner().invoke(application(arguments), arguments, **options)
