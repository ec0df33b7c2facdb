"""Problems of schemas by place, and as annotations of a workflow on GitHub."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from curation.checking.report import SchemaProblem
from curation.json.pointer import tokens_of
from curation.system.escaping import shortened
from curation.system.terminal import show_whole


def places_in_yaml(content: bytes) -> Callable[[str], tuple[int, int]]:
    """Return what gives the line and column of a pointer in a YAML text.

    A member stands where its name begins, as in JSON.
    """
    import yaml  # noqa: PLC0415 - takes time

    root: Any = yaml.compose(content, Loader=yaml.CSafeLoader)
    #: By the identity of a collection, which the root keeps alive: there may be a
    #: problem in each of thousands of members.
    members: dict[int, dict[str, tuple[Any, Any]]] = {}

    def inside(node: Any) -> dict[str, tuple[Any, Any]]:  # noqa: ANN401 - untyped library
        if id(node) not in members:
            if isinstance(node, yaml.MappingNode):
                pairs = {str(name.value): (name, item) for name, item in node.value}
            elif isinstance(node, yaml.SequenceNode):
                pairs = {str(at): (item, item) for at, item in enumerate(node.value)}
            else:
                pairs = {}
            members[id(node)] = pairs
        return members[id(node)]

    def place_of(pointer: str) -> tuple[int, int]:
        shown = node = root
        for token in tokens_of(pointer):
            if token not in inside(node):
                break
            shown, node = inside(node)[token]
        return shown.start_mark.line + 1, shown.start_mark.column + 1

    return place_of


#: The name of each file, and its problems.
NamedProblems: TypeAlias = Sequence[tuple[str, Sequence[SchemaProblem]]]


#: Characters of a message.
_SHOWN = 1_000


def print_annotations(files: NamedProblems) -> None:
    """Print GitHub's workflow commands, one line a problem.

    They are what GitHub shows beside the lines of a change.
    """
    here = Path.cwd()
    for name, problems in files:
        for problem in problems:
            path = Path(problem.file or name)
            if path.is_absolute() and path.is_relative_to(here):
                path = path.relative_to(here)
            properties = {
                "file": path.as_posix(),
                "line": str(problem.line),
                "col": str(problem.column),
                "title": problem.code,
            }
            fields = ",".join(
                f"{key}={_escaped(text, ':,')}" for key, text in properties.items()
            )
            message = f"{problem.pointer}: {shortened(problem.message, _SHOWN)}"
            level = "notice" if problem.level == "note" else problem.level
            show_whole(f"::{level} {fields}::{_escaped(message.lstrip(': '))}")


def _escaped(text: str, more: str = "") -> str:
    """Return a text in which a workflow command ends nowhere."""
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
