"""One beginning, two answers: an engine that contradicts itself from text to text.

After the same tokens a grammar allows the same tokens, whatever was walked before. So
if a token was let through in one text of a case and is blocked in another text after
the same tokens, one of the two answers is wrong. That is found here from tokens and
verdicts alone, with no trust in what an engine or its adapter says of itself.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from evaluation.core.cases import WalkVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.execution.worker_messages import WalkedText

#: Stands for the end of a text; no token has this id.
_END: Final = -1


def find_contradictions(
    tokens: Sequence[Sequence[int] | None], walked: Sequence[WalkedText]
) -> Mapping[int, int]:
    """Return each walk that is contradicted, with one that contradicts it.

    Args:
        tokens: The tokens of each text of a case; None where none spell it.
        walked: What came of the walks, in order; it may be shorter.

    Returns:
        Index of a walk that was blocked, or that was not allowed to end, to the index
        of one in which the same token, or the end, was let through after the same
        tokens.

    Example:
        >>> from evaluation.execution.worker_messages import WalkedText
        >>> whole = WalkedText(WalkVerdict.ACCEPTED, None, (), (), None, "")
        >>> blocked = WalkedText(WalkVerdict.BLOCKED, 1, (), (), None, "")
        >>> find_contradictions([[5, 6, 7], [5, 6]], [whole, blocked])
        {1: 0}
    """
    pairs = [
        (index, list(ids), text)
        for index, (ids, text) in enumerate(zip(tokens, walked, strict=False))
        if ids is not None
    ]
    refused = {
        index: _refused_beginning(ids, text)
        for index, ids, text in pairs
        if text.verdict in {WalkVerdict.BLOCKED, WalkVerdict.UNFINISHED}
    }
    if not refused:
        return {}
    let_through = sorted(
        (_beginning_let_through(ids, text), index) for index, ids, text in pairs
    )
    beginnings = [beginning for beginning, _ in let_through]
    found: dict[int, int] = {}
    for index, beginning in refused.items():
        # What begins like it stands right behind it, if there is any.
        place = bisect_left(beginnings, beginning)
        if beginnings[place : place + 1]:
            other, number = let_through[place]
            if other[: len(beginning)] == beginning:
                found[index] = number
    return found


def _refused_beginning(tokens: list[int], walked: WalkedText) -> list[int]:
    """Return the tokens up to and with the one that was blocked, or the end."""
    if walked.verdict is WalkVerdict.UNFINISHED or walked.at is None:
        return [*tokens, _END]
    return tokens[: walked.at + 1]


def _beginning_let_through(tokens: list[int], walked: WalkedText) -> list[int]:
    """Return the tokens that were in their masks, and the end where it was allowed."""
    if walked.verdict is WalkVerdict.ACCEPTED:
        return [*tokens, _END]
    if walked.verdict is WalkVerdict.UNFINISHED:
        return tokens
    return tokens[: walked.at or 0]
