"""The figures of part `gpu`; each is measured on any device, a CPU included.

Kinds that are compared take turns, in another order each round; `again` is the base a
second time: its ratio is the noise of all others.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import inf, nan
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from bench.model.gpu_correct import (
    Figures,
    drawn_masks,
    drawn_prompt,
    usable_functions,
    write,
)
from bench.model.shapes import load_shape, shapes
from bench.model.timing import endless, interleaved, library_texts, ratio
from curation.download.cache import FetchSettings
from evaluation.core.records import Message, Record
from evaluation.generation.local_model import LocalModel
from evaluation.generation.text_generation import GenerationRequest, LoopOptions
from evaluation.setup.selected_engines import select_engines
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import torch

    from evaluation.generation.text_generation import Generation
    from evaluation.models.transformers import TransformersModel

LOG: Final = logging.getLogger("bench")
AGAIN: Final = "again"
#: A text that satisfies it is longer than any that is written here.
_LONG_SCHEMA: Final = (
    '{"type": "array", "items": {"type": "integer"}, "minItems": 4000}'
)
_OPTIONS: Final = LoopOptions(run_seconds=3600.0)
#: Writes texts under one engine.
_Write: TypeAlias = "Callable[[Sequence[GenerationRequest]], list[Generation]]"
_REPEATS: Final = 20
#: About a millisecond of work, during which a whole step is queued.
_BUSY_CYCLES: Final = 2_000_000
#: Real schemas, each small, that come with the tree.
SAMPLE: Final = (
    Path(__file__)
    .parents[2]
    .joinpath("raw", "sample", "json-schema-corpus", "json_schema_corpus")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The sizes of all measurements."""

    #: Bytes.
    copied: int = 8 * 2**30
    #: Tokens of a prompt, and of a text.
    prompt: int = 512
    tokens: int = 64
    batches: tuple[int, ...] = (1, 32)
    #: The maximum number of rounds.
    rounds: int = 16
    #: Schemas of `coverage`.
    records: int = 50
    vocabulary: int = 128_000


def load(name: str, device: str = "cpu", dtype: str = "auto") -> TransformersModel:
    """Return a model, loaded; checks that its weights fit before it asks for memory.

    Args:
        name: A shape, whose weights are drawn; or a model as `--model` names it.
        device: Where it computes.
        dtype: The numbers in which it does.
    """
    from transformers.utils import logging as library  # noqa: PLC0415 - heavy

    from evaluation.models.loading import LoadOptions  # noqa: PLC0415 - heavy
    from evaluation.models.store import get_model  # noqa: PLC0415 - heavy

    loading = LoadOptions(device=device, dtype=dtype)
    settings = FetchSettings.from_environment()
    if shape := shapes().get(name):
        model = load_shape(shape, loading, settings)
    else:
        model = get_model(name, loading, settings)
    # Loading silences what a figure is to carry.
    library.set_verbosity_warning()
    return model


def check_memory(found: Figures, device: torch.device, needed: float) -> None:
    """Note an estimate of bytes and the free memory, before any is asked for.

    Raises:
        MemoryError: there is less.
    """
    from evaluation.models.hardware import free_memory  # noqa: PLC0415 - heavy

    free = free_memory(device)
    found["memory_gib"] = {"estimate": needed / 2**30, "free": free / 2**30}
    if needed > free:
        raise MemoryError(f"{needed:.3g} bytes are needed, {free:.3g} are free")


def device_seconds(device: torch.device, work: Callable[[], object]) -> float:
    """Return how long a device works: by CUDA events, on a CPU by `perf_counter`.

    A GPU is kept busy until all work is queued, as by the pass before it in the loop.
    """
    import torch  # noqa: PLC0415 - heavy

    if device.type != "cuda":
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]  # torch's own
    torch.cuda._sleep(_BUSY_CYCLES)  # type: ignore[no-untyped-call]  # noqa: SLF001 - nothing public does it
    begin.record()
    work()
    end.record()
    torch.cuda.synchronize(device)
    return float(begin.elapsed_time(end)) / 1e3


def bandwidth(found: Figures, device: torch.device, size: int) -> None:
    """Measure the bytes a second of a copy on the device: each is read and written."""
    import torch  # noqa: PLC0415 - heavy

    check_memory(found, device, 2 * size)
    source = torch.zeros(size, dtype=torch.uint8, device=device)
    copy = partial(torch.empty_like(source).copy_, source)
    seconds = [device_seconds(device, copy) for _ in range(_REPEATS)]
    found |= {"copied_bytes": size, "bytes_per_second": 2 * size / median(seconds)}


def weight_bytes(model: TransformersModel) -> int:
    """Return the bytes of the weights that a step multiplies, each once.

    An embedding that is looked up alone is not multiplied.
    """
    table = model.module.get_input_embeddings().weight
    tied = model.module.config.tie_word_embeddings
    parts = model.module.parameters()
    return sum(part.nbytes for part in parts if tied or part is not table)


def cache_bytes(model: TransformersModel, tokens: float) -> float:
    """Return the bytes of the keys and values of some tokens."""
    config: Any = model.module.config
    width = config.num_key_value_heads * config.head_dim * model.module.dtype.itemsize
    return float(2 * config.num_hidden_layers * width * tokens)


def _attention(work: Callable[[], object]) -> list[str]:
    """Return the attention that torch chooses while some work is done."""
    from torch.profiler import ProfilerActivity, profile  # noqa: PLC0415 - heavy

    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        work()
    names = {event.key for event in profiled.key_averages()}
    return sorted(name for name in names if "_scaled_dot_product_" in name)


def seconds_a_token(text: Generation) -> float:
    """Return (TGT - TTFT) / (n - 1), the paper's TPOT: the loop's own time is in it.

    Raises:
        RuntimeError: the text has no times.
    """
    if text.total_ns is None or text.ttft_ns is None or len(text.tokens) <= 1:
        raise RuntimeError(f"a text has no times: {text.ending}, {text.detail}")
    return (text.total_ns - text.ttft_ns) / (len(text.tokens) - 1) / 1e9


def decode_steps(  # noqa: PLR0913 - what, on what, for how long
    found: Figures,
    model: TransformersModel,
    sizes: Sizes,
    *,
    compiled: bool = False,
    until: float = inf,
    bytes_per_second: float = nan,
) -> None:
    """Measure the seconds of a decoding step at each batch, without its prompt.

    Our loop, or `generate` compiled over a static cache, beside `generate`. The share
    of the bandwidth counts the bytes that a step needs: multiplied weights, and the
    keys and values that are there.
    """
    name = "compiled" if compiled else "loop"

    def time_step(kind: str, batch: int, number: int) -> float:
        seeds = range(number * batch, (number + 1) * batch)
        prompts = [drawn_prompt(model, sizes.prompt, seed) for seed in seeds]
        if kind == "loop":
            return seconds_a_token(write(model, prompts, sizes.tokens)[0])
        _, moments = library_texts(model, prompts, sizes.tokens, kind)
        return (moments[-1] - moments[0]) / (len(moments) - 1)

    found |= {"model": model.name, "facts": dict(model.facts())}
    with endless(model):
        for place, batch in enumerate(sizes.batches):
            names = (name, "generate", AGAIN)
            kinds = {kind: partial(time_step, kind, batch) for kind in names}
            share = (until - time.monotonic()) / (len(sizes.batches) - place)
            seconds = interleaved(kinds, sizes.rounds, time.monotonic() + share)
            read = batch * (sizes.prompt + sizes.tokens / 2)
            needed = weight_bytes(model) + cache_bytes(model, read)
            took = median(seconds[name])
            found[f"batch_{batch}"] = {
                "rounds": len(seconds[name]),
                "ms_per_step": {kind: 1e3 * median(s) for kind, s in seconds.items()},
                "tokens_per_second": batch / took,
                "needed_bytes": needed,
                "bandwidth_share": needed / took / bytes_per_second,
                "beside_generate": _beside(seconds, "generate"),
                "attention": _attention(partial(kinds[name], 0)),
            }


def _beside(seconds: Mapping[str, Sequence[float]], base: str) -> Figures:
    """Return the ratio of each kind to the base, with its interval."""
    kinds = [name for name in seconds if name != base]
    return {name: ratio(seconds[base], seconds[name]) for name in kinds}


def mask_cost(
    found: Figures, device: torch.device, texts: int, vocabulary: int
) -> None:
    """Measure the microseconds in which masks are transferred and applied."""
    bits, logits = drawn_masks(device, texts, vocabulary)
    found |= {"texts": texts, "vocabulary": vocabulary}
    for name, apply in usable_functions(found, device, bits).items():
        work = partial(apply, logits)
        work()
        seconds = [device_seconds(device, work) for _ in range(_REPEATS)]
        found[name] = {"us": 1e6 * median(seconds)}


@contextmanager
def engine_writers(
    found: Figures,
    model: TransformersModel,
    engines: Sequence[str],
    batch: int = 1,
) -> Iterator[dict[str, _Write]]:
    """Yield what writes texts under each engine; an absent one is noted.

    No token ends a text.
    """
    settings = FetchSettings.from_environment()
    files = get_tokenizer(str(model.tokenizer_folder), settings)
    files = replace(files, vocab_size=max(files.vocab_size, model.vocab_size))
    local = LocalModel(model, lambda: files, _OPTIONS, batch=batch)
    writers: dict[str, _Write] = {}
    with closing(local), endless(model):
        for name in engines:
            (engine,) = select_engines(settings.cache, [name], "faithful", [])
            if engine.unavailable:
                found[name] = {"not_run": engine.unavailable}
                continue
            writers[name] = partial(local.generate, constraint=engine)
        yield writers


def asked(
    number: int, words: int, budget: int, schema: str = _LONG_SCHEMA
) -> GenerationRequest:
    """Return the request of a text for a schema, by a prompt of about so many words."""
    prompt = f"List {number} numbers." + " again" * words
    return GenerationRequest(
        record=Record(id=str(number), group="made", schema=schema, dialect="2020-12"),
        messages=(Message(role="user", content=prompt),),
        budget=budget,
    )


def under_engines(  # noqa: PLR0913, PLR0917 - what, on what, for how long
    found: Figures,
    model: TransformersModel,
    engines: Sequence[str],
    sizes: Sizes,
    batch: int,
    until: float = inf,
) -> None:
    """Measure the time per token under engines beside none, in turn, at one batch.

    `loop_us` is for booking a token, `mask_us` the engine's own time, and
    `wait_us` how long the logits waited for its mask.
    """
    with engine_writers(found, model, ("none", *engines), batch) as writers:
        made: dict[str, list[Generation]] = {name: [] for name in (*writers, AGAIN)}

        def write_round(name: str, number: int) -> float:
            numbers = range(number * batch, (number + 1) * batch)
            requests = [asked(each, sizes.prompt, sizes.tokens) for each in numbers]
            texts = writers["none" if name == AGAIN else name](requests)
            for warning in {each for text in texts for each in text.warnings}:
                LOG.warning("%s: %s", name, warning)
            made[name] += texts if number else []
            return median(map(seconds_a_token, texts))

        kinds = {name: partial(write_round, name) for name in made}
        seconds = interleaved(kinds, sizes.rounds, until)
    found |= {"rounds": len(seconds["none"]), "beside_none": _beside(seconds, "none")}
    for name, texts in made.items():
        steps = [step for text in texts for step in text.steps[1:]]
        found[name] = {
            "ms_per_token": 1e3 * median(seconds[name]),
            "loop_us": fmean(step.loop_ns for step in steps) / 1e3,
            "sampling_us": fmean(step.sampling_ns or 0 for step in steps) / 1e3,
            "apply_us": fmean(step.apply_ns or 0 for step in steps) / 1e3,
            "mask_us": fmean(step.mask_ns or 0 for step in steps) / 1e3,
            "wait_us": fmean(step.wait_ns or 0 for step in steps) / 1e3,
        }


def sample_schemas(number: int) -> list[Path]:
    """Return schemas of the tree's own sample, spread over its files."""
    files = sorted(SAMPLE.glob("*.json"))
    return files[:: max(1, len(files) // number)][:number]


def paper_times(
    found: Figures,
    model: TransformersModel,
    engines: Sequence[str],
    sizes: Sizes,
    until: float,
) -> None:
    """Measure GCT, TTFT and TPOT as arXiv 2501.10868 defines them, batch 1.

    TTFT has the compile in it, as Table 2 has; TPOT is (TGT - TTFT) / (n - 1). Medians
    over the texts of real schemas that all engines wrote.
    """
    made: list[dict[str, Generation]] = []
    with engine_writers(found, model, ("none", *engines)) as writers:
        for writer in writers.values():
            writer([asked(0, 1, 2)])
        for number, file in enumerate(sample_schemas(sizes.records)):
            if time.monotonic() > until:
                break
            request = asked(number, 100, sizes.tokens, file.read_text("utf-8"))
            texts = {name: each([request])[0] for name, each in writers.items()}
            if all(len(text.tokens) > 1 for text in texts.values()):
                made.append(texts)
    for name in writers:
        written = [texts[name] for texts in made]
        found[name] = {
            "texts": len(written),
            "gct_ms": median(text.compile_ns or 0 for text in written) / 1e6,
            "ttft_ms": median(text.ttft_ns or 0 for text in written) / 1e6,
            "tpot_ms": 1e3 * median(map(seconds_a_token, written)),
        }


def coverage(  # noqa: PLR0913, PLR0917 - what, on what, for how long
    found: Figures,
    device: torch.device,
    model: Path,
    sizes: Sizes,
    out: Path,
    until: float,
) -> None:
    """Have `csbdata eval` write the texts of records on the device and on the CPU.

    Both at once, as neither is timed. Their rows are kept beside the figures, and
    counted here: tables need polars, whose wheel is too large to be carried.
    """

    def run(name: str, where: str) -> dict[str, str]:
        folder = model.parent / name
        command = [
            *(sys.executable, "-m", "curation", "eval", "--task", "coverage"),
            *("--engine", "llguidance", "--model", str(model), "--device", where),
            *("--data", str(SAMPLE), "--limit", str(sizes.records)),
            *("--run-dir", str(folder)),
            *("--set", "dtype=fp32", "--set", f"budget={sizes.tokens // 4}"),
        ]
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=until - time.monotonic(),
        )
        if ended.returncode:
            LOG.warning("%s: exit %d: %s", name, ended.returncode, ended.stderr[-400:])
        rows = (folder / "attempts.jsonl").read_text("utf-8")
        (out / f"coverage_{name}.jsonl").write_text(rows, "utf-8")
        attempts = [json.loads(row) for row in rows.splitlines()]
        found[name] = Counter(each["outcome"] for each in attempts)
        return {each["id"]: each["label"]["writing"]["text"] for each in attempts}

    with ThreadPoolExecutor() as pool:
        here, there = pool.map(run, ("cpu", "device"), ("cpu", device.type))
    found["texts"] = len(there)
    found["equal_texts"] = sum(here.get(key) == there[key] for key in there)
