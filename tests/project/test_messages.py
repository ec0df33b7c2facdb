"""Texts of the program, read out of its source: numbers, nouns, commands to paste."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = Path(__file__).parents[2]
#: Things of ours of which there may be one.
_NOUNS = (
    "addresses|answers|cases|changes|characters|configs|documents|engines|fields|files"
    "|findings|instances|items|jobs|models|operations|packages|places|prices|prompts"
    "|records|requests|responses|rows|schemas|shots|states|tables|texts|tokens|tools"
    "|units|values"
)
_PLURAL = re.compile(rf" (?:[a-z]+ )?(?:{_NOUNS})\b")
#: A limit, or a part of a whole, is never one thing alone.
_MANY = re.compile(r"(?:over|than|of|to|among|least)\s*\Z")
_COMMAND = re.compile(r"\bcsbdata (?!is )[a-z]+ [^.;,()]*\Z")
#: Prompts of suites and messages to models are texts of their authors.
_NOT_OURS = ("suites/", "curation/fit/")
#: Interpolated words that a shell reads as they are.
_PLAIN = re.compile(r"command\(|quote\(|NAME\b|file\.name|ready\.|engines\b")


def _texts() -> Iterator[tuple[str, list[ast.expr]]]:
    for package in ("curation", "evaluation"):
        for path in sorted((_ROOT / package).rglob("*.py")):
            where = str(path.relative_to(_ROOT))
            if not any(part in where for part in _NOT_OURS):
                for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                    if isinstance(node, ast.JoinedStr):
                        yield f"{where}:{node.lineno}", node.values


def _is_number(part: ast.expr) -> bool:
    if not isinstance(part, ast.FormattedValue):
        return False
    form = ast.unparse(part.format_spec) if part.format_spec else ""
    return "," in form or ast.unparse(part.value).startswith("len(")


def _before(parts: list[ast.expr]) -> str:
    text = parts[-1].value if parts and isinstance(parts[-1], ast.Constant) else ""
    return str(text)


def test_a_number_and_its_noun_are_counted() -> None:
    """`counted` knows when there is one; a plural written out does not."""
    wrong = [
        where
        for where, parts in _texts()
        for at, part in enumerate(parts[:-1])
        if _is_number(part) and isinstance(noun := parts[at + 1], ast.Constant)
        if _PLURAL.match(str(noun.value)) and not _MANY.search(_before(parts[:at]))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_proposed_command_can_be_pasted() -> None:
    """Folders are quoted (`curation.system.words.command`)."""
    wrong = [
        f"{where}: {ast.unparse(part.value)}"
        for where, parts in _texts()
        for at, part in enumerate(parts)
        if isinstance(part, ast.FormattedValue)
        if _COMMAND.search(_before(parts[:at]))
        if not _PLAIN.search(ast.unparse(part.value))
    ]
    assert not wrong, "\n".join(wrong)
