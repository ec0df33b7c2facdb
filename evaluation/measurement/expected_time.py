"""How long a model will take to write at most, by its speed on this machine."""

from __future__ import annotations

import time
from itertools import islice
from statistics import fmean
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evaluation.core.cases import Sample
    from evaluation.generation.requests import RequestBuilder
    from evaluation.models.base import LanguageModel

#: Samples whose prompts and budgets stand for all.
_LOOKED_AT: Final = 8
#: Tokens that are fed one by one.
_TRIED: Final = 4


def seconds_a_text(
    model: LanguageModel, questions: RequestBuilder, samples: Iterable[Sample]
) -> float:
    """Return the seconds of a text that uses its whole budget, written alone.

    Args:
        model: Reads one prompt and feeds a few tokens.
        questions: Give prompts and budgets.
        samples: The first of them are looked at.

    Returns:
        The mean over these samples; 0 where there are none. What an engine takes for
        its compile and masks is not in it.
    """
    requests = [
        request
        for sample in islice(samples, _LOOKED_AT)
        for request in questions.requests(sample)[:1]
    ]
    if not requests:
        return 0.0
    prompts = [model.prompt(request.messages) for request in requests]
    shortest = min(prompts, key=len)
    decoding = model.open()
    begun = time.perf_counter()
    logits = decoding.admit(shortest).logits
    read = time.perf_counter()
    for _ in range(_TRIED):
        logits = decoding.feed([[int(logits.argmax())]])[0]
    fed = time.perf_counter()
    reading = (read - begun) / len(shortest) * fmean(map(len, prompts))
    return reading + (fed - read) / _TRIED * fmean(ask.budget for ask in requests)
