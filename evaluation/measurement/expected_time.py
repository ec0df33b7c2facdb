"""How long a model will take to write at most, by its speed on this machine."""

from __future__ import annotations

import time
from itertools import islice
from statistics import fmean
from typing import TYPE_CHECKING, Final

from evaluation.models.base import RowLogits, TokenQuestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evaluation.core.messages import Message
    from evaluation.models.base import Decoding, LanguageModel

#: Prompts and budgets that stand for all.
LOOKED_AT: Final = 8
#: Tokens that are fed one by one.
_TRIED: Final = 4


def seconds_a_text(
    model: LanguageModel, asked: Iterable[tuple[Sequence[Message], int]]
) -> float:
    """Return the seconds of a text that uses its whole budget, written alone.

    Args:
        model: Reads one prompt and feeds a few tokens.
        asked: What is asked, and how many tokens an answer may have; the first of
            them are looked at.

    Returns:
        The mean over these; 0 where there are none. What an engine takes for its
        compile and masks is not in it.
    """
    looked_at = list(islice(asked, LOOKED_AT))
    if not looked_at:
        return 0.0
    prompts = [model.prompt(messages) for messages, _ in looked_at]
    shortest = min(prompts, key=len)
    decoding = model.open()
    begun = time.perf_counter()
    logits = decoding.admit(shortest).logits
    token = _likeliest(decoding, logits)
    read = time.perf_counter()
    for _ in range(_TRIED):
        logits = RowLogits(of=decoding.feed([[token]]).logits)
        token = _likeliest(decoding, logits)
    fed = time.perf_counter()
    reading = (read - begun) / len(shortest) * fmean(map(len, prompts))
    return reading + (fed - read) / _TRIED * fmean(budget for _, budget in looked_at)


def _likeliest(decoding: Decoding, logits: RowLogits) -> int:
    """Return the likeliest token, once the device has done what it was given."""
    return decoding.choose([TokenQuestion(logits=logits)]).tokens[0].token
