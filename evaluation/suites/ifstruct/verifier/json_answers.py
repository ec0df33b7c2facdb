"""JSON answers: one value, with nothing after it.

Python's reader is the published one: it takes NaN and infinities, the last of two
equal names counts, and a lone surrogate is a character.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from curation.json.text import depth
from curation.system.escaping import shortened
from evaluation.suites.ifstruct.verifier.findings import Failure, StructureFinding
from evaluation.suites.ifstruct.verifier.reading import DEEPEST, AnswerValue

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_MARK: Final = "\ufeff"
_BRACKETS: Final = ("[", "{")
_BRACKET: Final = re.compile(r"[\[{]")
#: The first line of YAML, as against that of prose.
_YAML: Final = re.compile(r"- [\w\"']+:(?: |$)|-$|\w+:$", re.MULTILINE)
#: Characters of an answer that a message shows.
_SHOWN: Final = 40


def read_as_json(
    text: str,
    *,
    fenced: bool,
    lenient: bool = False,
    notice_duplicates: bool = False,
) -> AnswerValue | StructureFinding:
    """Return the JSON value of an answer, or why it holds none.

    Args:
        text: The content of the code block, or the whole answer.
        fenced: Whether it is the content of a code block.
        lenient: Read the first JSON value wherever it begins, and pass over what
            stands around it.
        notice_duplicates: Look for names that stand twice in one object.
    """
    text = text.strip()
    start = 0
    if lenient and not fenced:
        found = _BRACKET.search(text)
        start = found.start() if found else 0
    elif not text.startswith(_BRACKETS) and not fenced:
        return _wrong_beginning(text)
    return _decoded(
        text,
        start,
        lenient=lenient and not fenced,
        notice_duplicates=notice_duplicates,
    )


def _wrong_beginning(text: str) -> StructureFinding:
    begins = shortened(text, _SHOWN)
    if text.startswith(_MARK):
        return StructureFinding(Failure.BYTE_ORDER_MARK)
    if _YAML.match(text):
        return StructureFinding(Failure.WRONG_FORMAT, f"YAML for JSON: {begins}")
    if _BRACKET.search(text):
        return StructureFinding(Failure.LEADING_TEXT, begins)
    detail = f"begins neither with [ nor {{: {begins}"
    return StructureFinding(Failure.INVALID_JSON, detail)


def _decoded(
    text: str, start: int, *, lenient: bool, notice_duplicates: bool
) -> AnswerValue | StructureFinding:
    duplicates: list[str] = []

    def members(pairs: list[tuple[str, UntypedJson]]) -> dict[str, UntypedJson]:
        found = dict(pairs)
        if len(found) < len(pairs):
            duplicates.extend(_repeated([name for name, _ in pairs]))
        return found

    hook = members if notice_duplicates else None
    try:
        value, end = json.JSONDecoder(object_pairs_hook=hook).raw_decode(text, start)
    except json.JSONDecodeError as error:
        if _YAML.match(text):
            return StructureFinding(Failure.WRONG_FORMAT, "YAML for JSON")
        detail = f"{error.msg} (line {error.lineno}, column {error.colno})"
        return StructureFinding(Failure.INVALID_JSON, detail)
    except RecursionError:
        return StructureFinding(Failure.TOO_DEEP, "deeper than Python's reader goes")
    except ValueError:
        return StructureFinding(Failure.NUMBER_TOO_LONG)
    # A level takes a bracket: with few of them there is nothing to walk for.
    if text.count("[") + text.count("{") > DEEPEST and depth(value) > DEEPEST:
        return StructureFinding(Failure.TOO_DEEP, f"over {DEEPEST} levels")
    rest = text[end:].strip()
    if rest and not lenient:
        return StructureFinding(Failure.TRAILING_TEXT, shortened(rest, _SHOWN))
    return AnswerValue(value=value, duplicates=tuple(duplicates))


def _repeated(names: list[str]) -> list[str]:
    seen: set[str] = set()
    repeated = []
    for name in names:
        if name in seen:
            repeated.append(name)
        seen.add(name)
    return repeated
