"""Problems of schemas by place, and as annotations of a workflow on GitHub."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from curation.checking.report import NOTE, SchemaProblem
from curation.json.pointer import tokens_of
from curation.json.positions import TextPosition, TextPositions
from curation.system.terminal import show_whole
from curation.system.words import shortened


def places_in_yaml(content: bytes) -> Callable[[str], TextPosition]:
    """Return what gives the line and column of a pointer in a YAML text.

    A member is located where its name begins, as in JSON.
    """
    import yaml  # noqa: PLC0415 - takes time

    root: Any = yaml.compose(content, Loader=yaml.CSafeLoader)

    # There may be a problem in each of thousands of members.
    @cache
    def inside(node: Any) -> dict[str, tuple[Any, Any]]:  # noqa: ANN401 - untyped library
        if isinstance(node, yaml.MappingNode):
            return {str(name.value): (name, item) for name, item in node.value}
        if isinstance(node, yaml.SequenceNode):
            return {str(at): (item, item) for at, item in enumerate(node.value)}
        return {}

    def position(pointer: str) -> TextPosition:
        name = node = root
        for token in tokens_of(pointer):
            if token not in inside(node):
                break
            name, node = inside(node)[token]
        return TextPosition(name.start_mark.line + 1, name.start_mark.column + 1)

    return position


def placed_in_text(
    problems: Sequence[SchemaProblem], content: bytes
) -> tuple[SchemaProblem, ...]:
    """Return problems with their lines and columns, if any has a pointer."""
    if not any(problem.pointer for problem in problems):
        return tuple(problems)
    positions = TextPositions(content.decode("utf-8-sig", "replace"))
    return tuple(
        replace(problem, **positions.of(problem.pointer)._asdict())
        for problem in problems
    )


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
