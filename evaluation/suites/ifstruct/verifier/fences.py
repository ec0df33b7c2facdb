"""The code block of an answer: found, and compared with what the row wishes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.answers.policies import strict_fence
from evaluation.suites.ifstruct.core.requirements import Fence, FenceWish
from evaluation.suites.ifstruct.verifier.findings import (
    Failure,
    RuleReading,
    StructureFinding,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBlock:
    """The first code block of a text."""

    #: The first word after the opening fence, in lower case; empty: there is none.
    language: str
    #: What is inside; None: the block is never closed.
    content: str | None
    before: str
    #: What follows the last fence of the whole text.
    after: str
    #: How many lines begin with a fence.
    fences: int


def find_code_block(text: str) -> CodeBlock | None:
    """Return the first code block of a text, None where no line begins with a fence.

    A fence is three backticks at the beginning of a line. The first one opens the
    block and the next one closes it, whatever else stands on its line.
    """
    found = strict_fence(text)
    if not found.fenced and not found.problem:
        return None
    words = found.language.split()
    # Behind the block there may be others: what counts as after is after the last.
    rest = found.after.split("\n") if found.fenced else []
    marks = [place for place, line in enumerate(rest) if line.startswith("```")]
    return CodeBlock(
        language=words[0].lower() if words else "",
        content=found.text,
        before=found.before,
        after="\n".join(rest[marks[-1] + 1 if marks else 0 :]),
        fences=len(marks) + (2 if found.fenced else 1),
    )


def check_fence(block: CodeBlock | None, wanted: Fence) -> Iterator[StructureFinding]:
    """Yield what is wrong with the code block, or with there being none.

    A published row only says whether a block is required, of any language; that one
    is forbidden or has to name its language counts by the recommended reading.
    """
    if block is not None and block.content is None:
        yield StructureFinding(Failure.UNCLOSED_FENCE)
    closed = block is not None and block.content is not None
    if wanted.wish is FenceWish.REQUIRED and not closed:
        yield StructureFinding(Failure.MISSING_FENCE)
    if block is None:
        return
    if wanted.wish is FenceWish.FORBIDDEN:
        yield StructureFinding(Failure.FORBIDDEN_FENCE, reading=RuleReading.RECOMMENDED)
    if wanted.language and block.language != wanted.language:
        said = block.language or "none"
        detail = f"{wanted.language} is required, {said} is named"
        yield StructureFinding(
            Failure.WRONG_FENCE_LANGUAGE, detail, reading=RuleReading.RECOMMENDED
        )
