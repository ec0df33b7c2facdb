"""The figures of part `gpu`; each is computed on any device, a processor included."""

from __future__ import annotations

import time
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from evaluation.core.records import Message, Record
from evaluation.generation.local_writer import LocalWriter
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import (
    GenerationRequest,
    LoopOptions,
    TokenizedRequest,
)
from evaluation.reporting.bootstrap import geometric_ratio
from evaluation.setup.selected_engines import select_engines
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch

    from curation.download.acquire import FetchSettings
    from evaluation.generation.text_generation import Generation
    from evaluation.models.base import LanguageModel
    from evaluation.models.transformers import TransformersModel
    from evaluation.tokenizers import TokenizerFiles

#: A text that satisfies it is longer than any that is written here.
_LONG_SCHEMA: Final = (
    '{"type": "array", "items": {"type": "integer"}, "minItems": 4000}'
)
_OPTIONS: Final = LoopOptions(run_seconds=3600.0)
_COPIES: Final = 5
_MASK_STEPS: Final = 105
#: About a millisecond, in which all of a step is queued.
_BUSY_CYCLES: Final = 2_000_000


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


def beside_generate(  # noqa: PLR0913 - the sizes of a measurement
    model: TransformersModel,
    *,
    prompt: int,
    new: int,
    rounds: int,
    bytes_per_second: float,
    static: bool = True,
) -> dict[str, Any]:
    """Return time per token of our loop and of `generate`, each in its turn.

    Args:
        model: What writes; nothing ends a text before its time.
        prompt: Tokens of a prompt.
        new: Tokens that are written.
        rounds: Texts of each kind; a first one of each warms up.
        bytes_per_second: What the device's memory allows.
        static: Whether `generate` with its static cache, compiled, is a kind.
    """
    kinds: dict[str, Callable[[Sequence[int]], float]] = {
        "ours": lambda tokens: _our_token(model, tokens, new),
        "generate": lambda tokens: _their_token(model, tokens, new),
    }
    if static:
        kinds["generate_static"] = lambda tokens: _their_token(
            model, tokens, new, cache_implementation="static"
        )
    ends, model.end_tokens = model.end_tokens, frozenset()
    seconds: dict[str, list[float]] = {name: [] for name in kinds}
    try:
        for number in range(rounds + 1):
            tokens = _drawn_prompt(model, prompt, number)
            order = list(kinds) if number % 2 else list(reversed(kinds))
            for name in order:
                took = kinds[name](tokens)
                if number:
                    seconds[name].append(took)
    finally:
        model.end_tokens = ends
    weights = sum(
        part.numel() * part.element_size() for part in model.module.parameters()
    )
    ours = median(seconds["ours"])
    return {
        "weight_bytes": weights,
        "ms_per_token": {name: 1e3 * median(each) for name, each in seconds.items()},
        "bandwidth_share": weights / (ours * bytes_per_second),
        "beside": {
            name: _ratio(each, seconds["ours"])
            for name, each in seconds.items()
            if name != "ours"
        },
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

    from evaluation.models.base import RowLogits, TokenQuestion  # noqa: PLC0415 - heavy
    from evaluation.models.hardware import DeviceClock  # noqa: PLC0415 - heavy
    from evaluation.models.token_choice import TokenChooser  # noqa: PLC0415 - heavy

    drawn = torch.Generator().manual_seed(0)
    logits = torch.randn(texts, vocabulary, generator=drawn).to(device)
    bits = torch.randint(0, 256, (texts, vocabulary // 8), generator=drawn)
    masks = bits.to(torch.uint8).numpy()
    clock = DeviceClock(device)
    chooser = TokenChooser(device, frozenset({0}), clock, tie=0.0)
    asked = [
        TokenQuestion(logits=RowLogits(of=logits, row=row), allowed=masks[row])
        for row in range(texts)
    ]
    took = []
    for _ in range(_MASK_STEPS):
        packed = chooser.packed_masks(asked, vocabulary)
        if device.type == "cuda":
            _keep_busy()
        begun = clock.moment()
        with torch.inference_mode():
            chooser.masked(packed, logits)
        took.append(clock.since(begun).ns() / 1e3)
    return {"texts": texts, "vocabulary": vocabulary, "us": median(took[_COPIES:])}


def under_engines(
    model: LanguageModel,
    engines: Sequence[str],
    settings: FetchSettings,
    batches: Sequence[int],
    *,
    new: int,
) -> dict[str, Any]:
    """Return time per token under engines beside none, in turn, at each batch.

    An engine that cannot be had is named in the place of its figures.
    """
    files = get_tokenizer(str(model.tokenizer_folder), settings, print)
    size = max(files.vocab_size, model.vocab_size)
    files = replace(files, vocab_size=size)
    # Nothing ends a text before its time.
    ends, model.end_tokens = model.end_tokens, frozenset()
    try:
        return _under_engines(model, engines, files, settings, batches, new)
    finally:
        model.end_tokens = ends


def _under_engines(  # noqa: PLR0913, PLR0917 - as above
    model: LanguageModel,
    engines: Sequence[str],
    files: TokenizerFiles,
    settings: FetchSettings,
    batches: Sequence[int],
    new: int,
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    speeds: dict[int, float] = {}
    for batch in batches:
        texts: dict[str, list[Generation]] = {}
        for name in ("none", *engines):
            (engine,) = select_engines(settings.cache, [name], "faithful", [])
            if engine.unavailable:
                found[f"{name}_batch_{batch}"] = {"not_run": engine.unavailable}
                continue
            writer = LocalWriter(model, engine, files, _OPTIONS, batch=batch)
            try:
                writer.write(_requests(batch, 4))
                start = time.perf_counter()
                texts[name] = writer.write(_requests(batch, new))
                took = time.perf_counter() - start
            finally:
                writer.close()
            if name == "none":
                written = sum(len(text.tokens) for text in texts[name])
                speeds[batch] = written / took
        free = [_seconds_a_token(text) for text in texts["none"]]
        for name, made in texts.items():
            if name != "none":
                own = [_seconds_a_token(text) for text in made]
                found[f"{name}_batch_{batch}"] = _ratio(free, own)
    found["tokens_per_second"] = {str(size): speed for size, speed in speeds.items()}
    found["last_batch_beside_first"] = speeds[batches[-1]] / speeds[batches[0]]
    return found


def same_texts(
    settings: FetchSettings, device: torch.device, cases: int, new: int
) -> dict[str, Any]:
    """Return how many greedy texts of SmolLM2 are the same on two devices."""
    from evaluation.models.loading import LoadOptions  # noqa: PLC0415 - heavy
    from evaluation.models.store import get_model  # noqa: PLC0415 - heavy

    here, there = (
        get_model("smollm2", LoadOptions(device=name, dtype="fp32"), settings, print)
        for name in ("cpu", device.type)
    )
    return differing_texts(here, there, cases, new)


def differing_texts(
    here: LanguageModel, there: LanguageModel, cases: int, new: int
) -> dict[str, Any]:
    """Return how many texts of two models are the same, and why the others are not."""
    causes = {"same": 0, "numeric tie": 0, "other": 0}
    for number in range(cases):
        message = Message(role="user", content=f"Write {number + 2} facts on ferries.")
        prompt = here.prompt([message])
        ours, theirs = (_write(model, prompt, new).tokens for model in (here, there))
        causes[_cause(here, prompt, ours, theirs)] += 1
    return {"cases": cases, **causes, "share": causes["same"] / cases}


def _cause(
    model: LanguageModel,
    prompt: Sequence[int],
    ours: Sequence[int],
    theirs: Sequence[int],
) -> str:
    """Return why two texts differ: whether their first two tokens that do were tied."""
    if ours == theirs:
        return "same"
    place = next(
        (at for at, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
        min(len(ours), len(theirs)),
    )
    logits = model.open().admit([*prompt, *ours[:place]]).logits.tensor()
    best = float(logits.max())
    other = theirs[place] if place < len(theirs) else min(model.end_tokens)
    near = float(logits[other]) >= best - model.tie * abs(best)
    return "numeric tie" if near else "other"


def _write(model: LanguageModel, prompt: Sequence[int], new: int) -> Generation:
    request = TokenizedRequest(id="text", schema="{}", prompt=tuple(prompt), budget=new)
    (made,) = generate(model, [request], [None], _OPTIONS)
    return made


def _our_token(model: TransformersModel, tokens: Sequence[int], new: int) -> float:
    return _seconds_a_token(_write(model, tokens, new))


def _seconds_a_token(text: Generation) -> float:
    """Return the seconds of each token after the first, the loop's own among them."""
    if text.total_ns is None or text.ttft_ns is None or len(text.tokens) <= 1:
        raise SystemExit(f"a text has no times: {text.ending}, {text.detail}")
    return (text.total_ns - text.ttft_ns) / (len(text.tokens) - 1) / 1e9


def _their_token(
    model: TransformersModel, tokens: Sequence[int], new: int, **how: str
) -> float:
    """Return the seconds of each token after the first, of `generate`."""
    import torch  # noqa: PLC0415 - heavy

    device = model.module.device
    inputs = torch.tensor([list(tokens)], device=device)

    def write(count: int) -> float:
        start = time.perf_counter()
        model.module.generate(
            inputs,
            attention_mask=torch.ones_like(inputs),
            max_new_tokens=count,
            min_new_tokens=count,
            do_sample=False,
            **how,
        ).cpu()
        return time.perf_counter() - start

    # The first token's time is taken off with the prompt's.
    return (write(new) - write(1)) / (new - 1)


def _drawn_prompt(model: LanguageModel, length: int, seed: int) -> list[int]:
    import torch  # noqa: PLC0415 - heavy

    drawn = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, model.vocab_size, (length,), generator=drawn)
    return [int(token) for token in tokens]


def _requests(count: int, budget: int) -> list[GenerationRequest]:
    return [
        GenerationRequest(
            record=Record(
                id=str(number),
                group="made",
                schema=_LONG_SCHEMA,
                dialect="2020-12",
            ),
            messages=(Message(role="user", content=f"List {number} numbers."),),
            budget=budget,
        )
        for number in range(count)
    ]


def _ratio(a: Sequence[float], b: Sequence[float]) -> dict[str, Any] | None:
    """Return b / a with its interval; None where there are no pairs."""
    found = geometric_ratio(a, b)
    if found is None:
        return {"value": median(b) / median(a), "low": None, "high": None}
    between = found.interval
    return {
        "value": found.value,
        "low": between.low if between else None,
        "high": between.high if between else None,
    }
