"""Problems of schemas as annotations of a workflow on GitHub."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from curation.core.problems import NOTE, SchemaProblem
from curation.system.terminal import show_whole
from curation.system.words import shortened

#: Characters of a message.
_SHOWN = 1_000


def print_annotations(files: Iterable[tuple[str, Sequence[SchemaProblem]]]) -> None:
    """Print GitHub's workflow commands, one line a problem.

    GitHub shows them next to the lines of a change.

    Args:
        files: The name of each file, and its problems.
    """
    cwd = Path.cwd()
    for name, problems in files:
        for problem in problems:
            path = Path(problem.file or name)
            if path.is_absolute() and path.is_relative_to(cwd):
                path = path.relative_to(cwd)
            file, code = _escaped(path.as_posix(), ":,"), _escaped(problem.code, ":,")
            position = f"line={problem.line},col={problem.column}"
            message = f"{problem.pointer}: {shortened(problem.message, _SHOWN)}"
            message = _escaped(message.lstrip(": "))
            level = "notice" if problem.level == NOTE else problem.level
            show_whole(f"::{level} file={file},{position},title={code}::{message}")


def _escaped(text: str, separators: str = "") -> str:
    """Return a text in which a workflow command ends nowhere."""
    for character in f"%\r\n{separators}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
