"""Rolling back and forking: does a matcher stand where it stood before?

Loaded beside `walk_session.py` in the engine's own environment. A text is walked
straight, and every mask kept. Then a second matcher walks it and turns on the way: it
rolls back and comes again, or a fork of it goes ahead, and after each such turn the
masks must be those that were kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evaluation.core.engine_protocol import (
        ForkingMatcher,
        Matcher,
        RollingBackMatcher,
    )

#: Tokens between two turns.
_STRIDE = 8
#: How many tokens are rolled back, one after the other, each being taken again.
_BACK = (1, 3, 8)
#: How far a fork goes ahead.
_AHEAD = 4


class WrongStateError(Exception):
    """A matcher that does not stand where it stood before."""


def check_states(
    start: Callable[[], Matcher], tokens: Sequence[int], check: str
) -> str | None:
    """Turn on the way through a text, and find back.

    Args:
        start: Makes a matcher before the first token.
        tokens: The text; all of them are in their masks when it is walked straight.
        check: `rollback` or `fork`.

    Returns:
        None where every mask was that of before; a word if the matcher has no such
        method.

    Raises:
        WrongStateError: a mask differs, or a token that was taken is refused.
    """
    if not hasattr(start(), check):
        return f"it offers no {check}"
    straight, matcher = start(), start()
    masks = [_mask(straight)]
    for token in tokens:
        straight.commit(token)
        masks.append(_mask(straight))
    for index, token in enumerate(tokens, start=1):
        _take(matcher, token, f"token {index - 1}")
        if index % _STRIDE == 0 or index == len(tokens):
            if check == "rollback":
                _roll_back(cast("RollingBackMatcher", matcher), tokens, index, masks)
            else:
                _fork(cast("ForkingMatcher", matcher), tokens, index, masks)
    return None


def _roll_back(
    matcher: RollingBackMatcher,
    tokens: Sequence[int],
    index: int,
    masks: Sequence[bytes],
) -> None:
    for count in _BACK:
        if count > index:
            break
        after = f"after a rollback of {count} at token {index}"
        if matcher.rollback(count) is False:
            raise WrongStateError(f"{after}: it says that it cannot")
        _compare(matcher, masks[index - count], after)
        for place in range(index - count, index):
            _take(matcher, tokens[place], f"{after}: token {place}")
        _compare(matcher, masks[index], f"{after} and the same tokens again")


def _fork(
    matcher: ForkingMatcher, tokens: Sequence[int], index: int, masks: Sequence[bytes]
) -> None:
    copy = matcher.fork()
    after = f"after a fork at token {index}"
    _compare(copy, masks[index], f"{after}, of the fork")
    ahead = min(index + _AHEAD, len(tokens))
    for place in range(index, ahead):
        _take(copy, tokens[place], f"{after}, in the fork: token {place}")
    _compare(copy, masks[ahead], f"{after}, of the fork {ahead - index} tokens on")
    _compare(matcher, masks[index], f"{after}, of the matcher that was forked")


def _take(matcher: Matcher, token: int, where: str) -> None:
    _mask(matcher)
    if not matcher.commit(token):
        raise WrongStateError(f"{where} was taken before and is refused")


def _mask(matcher: Matcher) -> bytes:
    return bytes(memoryview(matcher.mask()).cast("B"))


def _compare(matcher: Matcher, before: bytes, where: str) -> None:
    now = _mask(matcher)
    if now == before:
        return
    size = max(len(now), len(before))
    pairs = zip(now.ljust(size, b"\0"), before.ljust(size, b"\0"), strict=True)
    bits = sum((one ^ other).bit_count() for one, other in pairs)
    raise WrongStateError(f"{where}: the mask differs in {bits} tokens")
