"""The figures of part `gpu`; each is computed on any device, a processor included.

Kinds that are compared take turns, in another order each time, and the base is measured
twice: what it is beside itself (`again`) is the noise of every other ratio.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from itertools import count
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evaluation.core.records import Message, Record
from evaluation.generation.local_writer import LocalWriter
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import (
    GenerationRequest,
    LoopOptions,
    TokenizedRequest,
)
from evaluation.setup.selected_engines import select_engines
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import torch

    from curation.download.acquire import FetchSettings
    from evaluation.generation.text_generation import Generation
    from evaluation.models.base import LanguageModel
    from evaluation.models.transformers import TransformersModel

#: A text that satisfies it is longer than any that is written here.
_LONG_SCHEMA: Final = (
    '{"type": "array", "items": {"type": "integer"}, "minItems": 4000}'
)
_OPTIONS: Final = LoopOptions(run_seconds=3600.0)
_COPIES: Final = 5
_MASK_STEPS: Final = 105
#: About a millisecond, in which all of a step is queued.
_BUSY_CYCLES: Final = 2_000_000
#: What is measured twice, so that the noise is known.
AGAIN: Final = "again"
_FEWEST_ROUNDS: Final = 3
#: Of a bootstrap over rounds.
_DRAWS: Final = 2_000


def device_seconds(device: torch.device, work: Callable[[], object]) -> float:
    """Return how long the device works: CUDA events on a GPU, else `perf_counter`."""
    import torch  # noqa: PLC0415 - heavy

    if device.type != "cuda":
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    begun, over = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]  # torch's own
    torch.cuda.synchronize(device)
    begun.record()
    work()
    over.record()
    torch.cuda.synchronize(device)
    return float(begun.elapsed_time(over)) / 1e3


def bandwidth(device: torch.device, size: int) -> dict[str, Any]:
    """Return the bytes a second of a copy on the device: each is read and written."""
    import torch  # noqa: PLC0415 - heavy

    source = torch.zeros(size, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    target.copy_(source)
    took = median(
        device_seconds(device, lambda: target.copy_(source)) for _ in range(_COPIES)
    )
    return {"copied_bytes": size, "bytes_per_second": 2 * size / took}


def interleaved(
    kinds: Mapping[str, Callable[[int], float]], rounds: int, until: float
) -> dict[str, list[float]]:
    """Have every kind take its turn in every round; return their figures by round.

    Args:
        kinds: Given the number of the round, from 1; round 0 warms up.
        rounds: How many there are, where there is time.
        until: The moment (`time.monotonic`) at which no further round begins.
    """
    found: dict[str, list[float]] = {name: [] for name in kinds}
    names = list(kinds)
    for number in range(rounds + 1):
        if number > _FEWEST_ROUNDS and time.monotonic() > until:
            break
        turn = number % len(names)
        for name in [*names[turn:], *names[:turn]]:
            figure = kinds[name](number)
            if number:
                found[name].append(figure)
    return found


def beside(found: Mapping[str, Sequence[float]], base: str) -> dict[str, Any]:
    """Return each kind's figures as a share of those of the base."""
    return {
        name: _ratio(found[base], each) for name, each in found.items() if name != base
    }


def needed_bytes(model: TransformersModel, texts: int, tokens: float) -> float:
    """Return the bytes that a step of decoding cannot do without.

    Every weight that is multiplied, once; of an embedding that is only looked up the
    rows of these tokens; the keys and values that are there, and the new ones.
    """
    module = model.module
    table = module.get_input_embeddings().weight
    tied = module.get_output_embeddings().weight is table
    weights = sum(
        part.numel() * part.element_size()
        for part in module.parameters()
        if part is not table or tied
    )
    config = module.config.get_text_config(decoder=True)
    size = getattr(config, "head_dim", None)
    size = size or config.hidden_size // config.num_attention_heads
    heads = getattr(config, "num_key_value_heads", config.num_attention_heads)
    of_a_token = 2 * config.num_hidden_layers * heads * size * table.element_size()
    looked_up = texts * table.shape[1] * table.element_size()
    return float(weights + looked_up + texts * (tokens + 1) * of_a_token)


def decode_steps(  # noqa: PLR0913 - the sizes of a measurement
    model: TransformersModel,
    batches: Sequence[int],
    *,
    prompt: int,
    new: int,
    rounds: int,
    until: float,
    bytes_per_second: float,
) -> dict[str, Any]:
    """Return seconds of a decoding step of our loop at each batch, prefill apart.

    All prompts are read before the first step; a step gives a token to each text.
    """
    texts: dict[int, list[Generation]] = {size: [] for size in batches}
    numbers = count()

    def step_of(size: int) -> float:
        prompts = [drawn_prompt(model, prompt, next(numbers)) for _ in range(size)]
        made = write(model, prompts, new)
        texts[size] += made
        return median(map(_seconds_a_token, made))

    first = batches[0]

    def kind_of(size: int) -> Callable[[int], float]:
        return lambda _number: step_of(size)

    kinds = {str(size): kind_of(size) for size in batches}
    kinds[AGAIN] = kind_of(first)
    ends, model.end_tokens = model.end_tokens, frozenset()
    try:
        seconds = interleaved(kinds, rounds, until)
    finally:
        model.end_tokens = ends
    found: dict[str, Any] = {"rounds": len(seconds[AGAIN])}
    for size in batches:
        took = median(seconds[str(size)])
        needed = needed_bytes(model, size, prompt + new / 2)
        found[f"batch_{size}"] = {
            "ms_per_step": 1e3 * took,
            "pass_ms": 1e-6 * median(_passes(texts[size])),
            "prefill_ms": 1e-6 * median(one.prefill_ns or 0 for one in texts[size]),
            "decoded_tokens_per_second": size / took,
            "needed_bytes": needed,
            "bandwidth_share": needed / (took * bytes_per_second),
        }
    sizes = {**{str(size): size for size in batches}, AGAIN: first}
    rates = {
        name: [size / each for each in seconds[name]] for name, size in sizes.items()
    }
    found["tokens_per_second_beside_first"] = beside(rates, str(first))
    return found


def beside_generate(
    model: TransformersModel, *, prompt: int, new: int, rounds: int, until: float
) -> dict[str, Any]:
    """Return time per token of our loop and of `generate`, each in its turn.

    Args:
        model: What writes; nothing ends a text before its time.
        prompt: Tokens of a prompt.
        new: Tokens that are written.
        rounds: Texts of each kind; a first one of each warms up.
        until: No further round begins then.
    """

    def ours(number: int) -> float:
        (made,) = write(model, [drawn_prompt(model, prompt, number)], new)
        return _seconds_a_token(made)

    def theirs(number: int) -> float:
        return _their_token(model, drawn_prompt(model, prompt, number), new)

    kinds: dict[str, Callable[[int], float]] = {
        "generate": theirs,
        AGAIN: theirs,
        "ours": ours,
    }
    ends, model.end_tokens = model.end_tokens, frozenset()
    try:
        seconds = interleaved(kinds, rounds, until)
    finally:
        model.end_tokens = ends
    return {
        "texts": len(seconds["ours"]),
        "ms_per_token": {name: 1e3 * median(each) for name, each in seconds.items()},
        "beside_generate": beside(seconds, "generate"),
    }


def _keep_busy() -> None:
    """Give the current GPU work of about a millisecond."""
    import torch  # noqa: PLC0415 - heavy

    torch.cuda._sleep(_BUSY_CYCLES)  # type: ignore[no-untyped-call]  # noqa: SLF001 - torch's own; nothing public does it


def mask_cost(device: torch.device, texts: int, vocabulary: int) -> dict[str, Any]:
    """Return microseconds of a step: masks to the device, and applied to the logits.

    The logits are there already, and half of all tokens are allowed. By the device's
    clock, which stands still while nothing is queued: as in the loop, where the forward
    pass is still under way, the device has other work until all of it is queued.
    """
    import torch  # noqa: PLC0415 - heavy

    from evaluation.models.base import RowMask  # noqa: PLC0415 - heavy
    from evaluation.models.hardware import DeviceClock  # noqa: PLC0415 - heavy
    from evaluation.models.token_choice import TokenChooser  # noqa: PLC0415 - heavy

    drawn = torch.Generator().manual_seed(0)
    logits = torch.randn(texts, vocabulary, generator=drawn).to(device)
    bits = torch.randint(0, 256, (texts, vocabulary // 8), generator=drawn)
    held = bits.to(torch.uint8).numpy()
    masks = [RowMask(of=held, row=row) for row in range(texts)]
    clock = DeviceClock(device)
    chooser = TokenChooser(device, clock, 0.0)
    took = []
    for _ in range(_MASK_STEPS):
        if device.type == "cuda":
            _keep_busy()
        begun = clock.moment()
        with torch.inference_mode():
            chooser.masked(masks, logits)
        took.append(clock.since(begun).ns() / 1e3)
    return {"texts": texts, "vocabulary": vocabulary, "us": median(took[_COPIES:])}


def under_engines(  # noqa: PLR0913 - the sizes of a measurement
    model: TransformersModel,
    engines: Sequence[str],
    settings: FetchSettings,
    batch: int,
    *,
    words: int,
    new: int,
    rounds: int,
    until: float,
) -> dict[str, Any]:
    """Return time per token under engines beside none, in turn, at one batch.

    One round of one kind is one figure: the texts of a batch share their clock. `none`
    takes part twice. An engine that cannot be had is named in the place of its figures.
    """
    files = get_tokenizer(str(model.tokenizer_folder), settings, print)
    files = replace(files, vocab_size=max(files.vocab_size, model.vocab_size))
    found: dict[str, Any] = {"not_run": {}}
    writers: dict[str, LocalWriter] = {}
    # Nothing ends a text before its time.
    ends, model.end_tokens = model.end_tokens, frozenset()
    try:
        for name in ("none", *engines):
            (engine,) = select_engines(settings.cache, [name], "faithful", [])
            if engine.unavailable:
                found["not_run"][name] = engine.unavailable
                continue
            writers[name] = LocalWriter(model, engine, files, _OPTIONS, batch=batch)
        writers[AGAIN] = writers["none"]
        made: dict[str, list[Generation]] = {name: [] for name in writers}

        def write_round(name: str, number: int) -> float:
            texts = writers[name].write(_requests(number, batch, words, new))
            if number:
                made[name] += texts
            return median(map(_seconds_a_token, texts))

        kinds = {name: partial(write_round, name) for name in writers}
        seconds = interleaved(kinds, rounds, until)
    finally:
        for writer in writers.values():
            writer.close()
        model.end_tokens = ends
    found["rounds"] = len(seconds["none"])
    found["texts"] = batch * len(seconds["none"])
    found["ms_per_token"] = {n: 1e3 * median(each) for n, each in seconds.items()}
    found["beside_none"] = beside(seconds, "none")
    found["idle"] = _idle(made)
    return found


def _idle(made: Mapping[str, Sequence[Generation]]) -> dict[str, Any]:
    """Return microseconds of a step: what of it is no pass, and what the grammar adds.

    `idle` is the step less its pass: choosing, booking, launching, and waiting for the
    mask. What it is under an engine beyond what it is without is the grammar's.
    """
    parts: dict[str, dict[str, float]] = {}
    for name, texts in made.items():
        steps = [step for text in texts for step in text.steps[1:]]
        pass_us = fmean(step.forward_ns for step in steps) / 1e3
        parts[name] = {
            "pass": pass_us,
            "mask": fmean(step.mask_ns or 0 for step in steps) / 1e3,
            "wait": fmean(step.wait_ns or 0 for step in steps) / 1e3,
            "idle": 1e6 * fmean(map(_seconds_a_token, texts)) - pass_us,
        }
    for part in parts.values():
        part["idle_by_grammar"] = part["idle"] - parts["none"]["idle"]
    return parts


def write(
    model: LanguageModel, prompts: Sequence[Sequence[int]], new: int
) -> list[Generation]:
    """Have texts of so many tokens written beside each other, without an engine."""
    asked = [
        TokenizedRequest(id=str(n), schema="{}", prompt=tuple(prompt), budget=new)
        for n, prompt in enumerate(prompts)
    ]
    return generate(model, asked, [None] * len(asked), _OPTIONS)


def _seconds_a_token(text: Generation) -> float:
    """Return the seconds of each token after the first, the loop's own among them."""
    if text.total_ns is None or text.ttft_ns is None or len(text.tokens) <= 1:
        raise SystemExit(f"a text has no times: {text.ending}, {text.detail}")
    return (text.total_ns - text.ttft_ns) / (len(text.tokens) - 1) / 1e9


def _passes(texts: Sequence[Generation]) -> list[int]:
    return [step.forward_ns for text in texts for step in text.steps[1:]]


def _their_token(model: TransformersModel, tokens: Sequence[int], new: int) -> float:
    """Return the seconds of each token after the first, of `generate`."""
    import torch  # noqa: PLC0415 - heavy

    device = model.module.device
    inputs = torch.tensor([list(tokens)], device=device)

    def write(number: int) -> float:
        start = time.perf_counter()
        model.module.generate(
            inputs,
            attention_mask=torch.ones_like(inputs),
            max_new_tokens=number,
            min_new_tokens=number,
            do_sample=False,
        ).cpu()
        return time.perf_counter() - start

    # The first token's time is taken off with the prompt's.
    return (write(new) - write(1)) / (new - 1)


def drawn_prompt(model: LanguageModel, length: int, seed: int) -> list[int]:
    """Return a prompt of drawn tokens."""
    import torch  # noqa: PLC0415 - heavy

    drawn = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, model.vocab_size, (length,), generator=drawn)
    return [int(token) for token in tokens]


def _requests(
    first: int, texts: int, words: int, budget: int
) -> list[GenerationRequest]:
    return [
        GenerationRequest(
            record=Record(
                id=str(number), group="made", schema=_LONG_SCHEMA, dialect="2020-12"
            ),
            messages=(
                Message(
                    role="user", content=f"List {number} numbers." + " again" * words
                ),
            ),
            budget=budget,
        )
        for number in range(first * texts, (first + 1) * texts)
    ]


def _ratio(a: Sequence[float], b: Sequence[float]) -> dict[str, Any]:
    """Return b / a over pairs with its interval."""
    logs = np.log(np.divide(b, a))
    draws = np.random.default_rng(0).choice(logs, (_DRAWS, len(logs))).mean(axis=1)
    low, high = np.exp(np.quantile(draws, (0.025, 0.975)))
    return {"value": float(np.exp(logs.mean())), "low": float(low), "high": float(high)}
