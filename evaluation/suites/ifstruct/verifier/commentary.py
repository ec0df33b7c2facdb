"""Text around an answer, where the row wants none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.system.escaping import shortened
from evaluation.suites.ifstruct.verifier.findings import (
    Failure,
    RuleReading,
    StructureFinding,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.suites.ifstruct.verifier.fences import CodeBlock

#: Characters of a comment that a message shows.
_SHOWN: Final = 60
#: The fences of one code block.
_ONE_BLOCK: Final = 2


def check_around_block(block: CodeBlock) -> Iterator[StructureFinding]:
    """Yield the text before the first fence and after the last one.

    What stands between two code blocks the published verifier does not see; by the
    recommended reading a second block is commentary, too.
    """
    for text in (block.before, block.after):
        if text.strip():
            yield StructureFinding(Failure.COMMENTARY, shortened(text.strip(), _SHOWN))
    if block.fences > _ONE_BLOCK:
        yield StructureFinding(
            Failure.SEVERAL_FENCES,
            f"{block.fences} lines begin with a fence",
            reading=RuleReading.RECOMMENDED,
        )


def check_around_json(text: str, *, decoded: bool) -> Iterator[StructureFinding]:
    """Yield the text outside the outer brackets of JSON that stands in no block.

    There is commentary around raw YAML as well, but nothing tells the two apart.

    Args:
        text: The answer.
        decoded: Whether a JSON value was read at its beginning. Where none was, what
            follows the last bracket is rather a piece of broken JSON, and commentary
            by the published verifier only.
    """
    starts = [place for place in (text.find("["), text.find("{")) if place >= 0]
    end = max(text.rfind("]"), text.rfind("}"))
    if not starts or end < 0:
        return
    before, after = text[: min(starts)].strip("\ufeff \t\r\n"), text[end + 1 :].strip()
    if before:
        yield StructureFinding(Failure.COMMENTARY, shortened(before, _SHOWN))
    if after:
        reading = RuleReading.BOTH if decoded else RuleReading.PUBLISHED
        yield StructureFinding(
            Failure.COMMENTARY, shortened(after, _SHOWN), reading=reading
        )
