"""Time what is compared in turn, and `generate` of transformers beside our loop."""

from __future__ import annotations

import time
from contextlib import contextmanager
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any

from evaluation.reporting.bootstrap import geometric_ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evaluation.models.transformers import TransformersModel


def interleaved(
    kinds: Mapping[str, Callable[[int], float]], rounds: int, until: float = inf
) -> dict[str, list[float]]:
    """Return the figures of each kind by round; kinds take turns in another order.

    Args:
        kinds: Each is given the number of the round; round 0 warms up.
        rounds: The maximum number of rounds that count.
        until: The moment (`time.monotonic`) after which no round begins.
    """
    figures: dict[str, list[float]] = {name: [] for name in kinds}
    names = list(kinds)
    for number in range(rounds + 1):
        if time.monotonic() > until:
            break
        turn = number % len(names)
        for name in [*names[turn:], *names[:turn]]:
            figure = kinds[name](number)
            if number:
                figures[name].append(figure)
    return figures


def ratio(a: Sequence[float], b: Sequence[float]) -> dict[str, Any]:
    """Return b / a over pairs as a geometric mean, with its 95 % interval."""
    figure = geometric_ratio(zip(count(), a, b, strict=False))
    if figure is None or figure.interval is None:
        return {"value": figure and figure.value}
    low, high = figure.interval.low, figure.interval.high
    return {"value": figure.value, "low": low, "high": high}


@contextmanager
def endless(model: TransformersModel) -> Iterator[None]:
    """Let no token end a text, neither of our loop nor of `generate`."""
    settings = model.module.generation_config
    ends, end = model.end_tokens, settings.eos_token_id
    model.end_tokens, settings.eos_token_id = frozenset(), None
    try:
        yield
    finally:
        model.end_tokens, settings.eos_token_id = ends, end


def library_texts(
    model: TransformersModel,
    prompts: Sequence[Sequence[int]],
    tokens: int,
    variant: str = "eager",
) -> tuple[list[list[int]], list[float]]:
    """Return the texts that `generate` writes, and the moment of each of its tokens.

    Args:
        model: What writes, greedily.
        prompts: Share every pass, padded on the left.
        tokens: The maximum number of tokens of a text.
        variant: `static` uses a cache of fixed size, `compiled` compiles a step over
            one, and any other name a cache that grows.
    """
    import torch  # noqa: PLC0415 - heavy
    from transformers import CompileConfig, StoppingCriteria, StoppingCriteriaList  # noqa: PLC0415 - heavy

    moments: list[float] = []

    class Clock(StoppingCriteria):
        """Notes when a token of all texts is there."""

        def __call__(
            self, input_ids: torch.Tensor, _scores: object, **_: object
        ) -> torch.Tensor:
            input_ids[:, -1].tolist()
            moments.append(time.perf_counter())
            return input_ids.new_zeros(len(input_ids), dtype=torch.bool)

    options: dict[str, Any] = {}
    if variant in ("static", "compiled"):
        compiling = CompileConfig()
        # Of a CPU it is skipped otherwise, with a warning alone.
        compiling._compile_all_devices = True  # type: ignore[assignment]  # noqa: SLF001 - nothing public does it
        options = {
            "cache_implementation": "static",
            "disable_compile": variant == "static",
            "compile_config": compiling,
        }
    width = max(map(len, prompts))
    padded = [[0] * (width - len(prompt)) + list(prompt) for prompt in prompts]
    visible = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    written = model.module.generate(
        torch.tensor(padded, device=model.module.device),
        attention_mask=torch.tensor(visible, device=model.module.device),
        max_new_tokens=tokens,
        do_sample=False,
        stopping_criteria=StoppingCriteriaList([Clock()]),
        **options,
    )
    return written[:, width:].tolist(), moments
