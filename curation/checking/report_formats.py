"""What a check found, in the formats of others: SARIF, and GitHub's annotations."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import quote

from curation.system.escaping import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from curation.checking.schema_check import SchemaProblem, SchemaReport
    from curation.core.json_types import Json

#: Characters of a message.
_SHOWN = 1_000
_SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas"


def as_sarif(found: Sequence[tuple[str, SchemaReport]]) -> dict[str, Json]:
    """Return a log of the Static Analysis Results Interchange Format, version 2.1.0.

    Args:
        found: The name of each file, relative to the working folder where it is below
            it, and what was found.
    """
    codes = {problem.code: None for _, report in found for problem in report.problems}
    rules: list[Json] = [{"id": code} for code in codes]
    results: list[Json] = [
        _result(name, problem) for name, report in found for problem in report.problems
    ]
    driver: Json = {"name": "csbdata", "version": version("csbdata"), "rules": rules}
    return {
        "$schema": f"{_SARIF}/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }


def _result(name: str, problem: SchemaProblem) -> dict[str, Json]:
    place: Json = {
        "artifactLocation": {"uri": quote(PurePath(name).as_posix())},
        "region": {"startLine": problem.line, "startColumn": problem.column},
    }
    return {
        "ruleId": problem.code,
        "level": problem.level,
        "message": {"text": shortened(problem.message, _SHOWN)},
        "locations": [
            {
                "physicalLocation": place,
                "logicalLocations": [{"fullyQualifiedName": problem.pointer}],
            }
        ],
    }


def as_annotations(found: Iterable[tuple[str, SchemaReport]]) -> Iterator[str]:
    """Yield GitHub's workflow commands, one line a problem.

    They are what GitHub shows beside the lines of a change.
    """
    for name, report in found:
        for problem in report.problems:
            properties = {
                "file": PurePath(name).as_posix(),
                "line": str(problem.line),
                "col": str(problem.column),
                "title": problem.code,
            }
            listed = ",".join(
                f"{key}={_escaped(text, ':,')}" for key, text in properties.items()
            )
            message = f"{problem.pointer}: {shortened(problem.message, _SHOWN)}"
            yield f"::{problem.level} {listed}::{_escaped(message.lstrip(': '))}"


def _escaped(text: str, more: str = "") -> str:
    """Return a text in which a workflow command ends nowhere."""
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
