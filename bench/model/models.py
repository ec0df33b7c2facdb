"""Measure what a constraint costs while a model writes: our loop beside the others.

- `token`: the loop's own processor time a token, at 128,000 tokens: choosing it, and
  booking it.
- `loop`: the same greedy text without any engine, by `model.generate` and by our loop,
  in turn; time per token after the first, the loop's own in it.
- `batch`: the same at `--batch-size` texts a pass, prefill in it: tokens a second.
- `constrained`: llguidance without forced tokens beside no engine, in turn, on the same
  schemas; time per token after the first. Schemas are taken until half the interval of
  the ratio is at most 0.02, or there are no more.
- `start`: from the command to its first row, with everything in the cache.
- `forced`: llguidance with compact separators, with and without forced tokens, in turn:
  tokens per forward pass, generation time, and in fp32 how many texts stay the same.
  A text that differs is a `retokenisation` where other tokens spell the same text up
  to where it differs, else a `numeric tie`: several tokens are fed in one pass, whose
  sums are added up in another order.

Ratios are geometric means over texts with a 95 % interval by bootstrap. The dtype is
what `eval` takes by itself on this machine; the texts of `forced` are compared in fp32.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from itertools import takewhile
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.builds import clean_build
from bench.model.models_loop import batch_beside_generate, token_cost
from bench.model.models_samples import published_glaive
from bench.model.models_start import seconds_to_first_row
from curation.download.acquire import FetchSettings
from evaluation.data import RecordSelection, open_data
from evaluation.generation.local_writer import LocalWriter
from evaluation.generation.text_generation import (
    Generation,
    GenerationRequest,
    LoopOptions,
    TextEnding,
)
from evaluation.prompts import read_template, worked_examples
from evaluation.reporting.bootstrap import geometric_ratio
from evaluation.setup.selected_engines import select_engines
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    import torch

    from bench.builds import Build
    from evaluation.core.records import Record
    from evaluation.models.transformers import TransformersModel

#: What the figures are to reach.
TARGETS = {
    "choosing_ms": 0.15,
    "booking_ms": 0.1,
    "loop": 1.03,
    "batch": 0.97,
    "constrained": 1.03,
    "start_seconds": 20,
    "forced_tokens_per_pass": 1.10,
    "forced_same_text": 0.9,
}
_TASKS = ("token", "loop", "batch", "constrained", "forced", "start")
#: Half the width of an interval that is narrow enough.
_NARROW = 0.02
_COMPACT = ("whitespace_flexible=false", "item_separator=,", "key_separator=:")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--texts", type=int, default=24, help="schemas to write for")
    parser.add_argument("--tokens", type=int, default=64, help="most tokens of a text")
    parser.add_argument(
        "--model-tasks", nargs="*", default=list(_TASKS), help=", ".join(_TASKS)
    )
    parser.add_argument("--batch-size", type=int, default=8, help="texts a pass")
    parser.add_argument(
        "--most-texts", type=int, default=200, help="schemas for `constrained`"
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of this part."""
    with clean_build(options.build, "--instances") as build:
        bench = _Bench(options, build)
        found: dict[str, Any] = {"targets": TARGETS, "subjects": bench.told}
        for task in options.model_tasks:
            start = time.perf_counter()
            found[task] = getattr(bench, task)()
            found[task]["seconds"] = round(time.perf_counter() - start, 1)
    return found


class _Bench:
    """The model, and what is asked of it."""

    def __init__(self, options: argparse.Namespace, build: Build) -> None:
        self.options = options
        self.folder = build.folder
        data = open_data(
            str(build.folder),
            settings=FetchSettings.from_environment(),
            selection=RecordSelection(configs=("Github_easy",), limit=options.texts),
        )
        self.samples = list(data.records())
        self.told: dict[str, int | str] = {
            f"Github_easy of the {build.name}": len(self.samples)
        }
        reference = os.environ.get("CSBDATA_REFERENCE")
        if reference:
            glaive = published_glaive(reference, options.texts)
            self.told["Glaiveai2K of CSBDATA_REFERENCE"] = len(glaive)
            self.samples += glaive
        else:
            self.told["Glaiveai2K"] = "not run: CSBDATA_REFERENCE is not set"

    def model(self, dtype: str = "auto") -> TransformersModel:
        from evaluation.models.loading import LoadOptions  # noqa: PLC0415 - heavy
        from evaluation.models.store import get_model  # noqa: PLC0415 - heavy
        from evaluation.models.transformers import TransformersModel  # noqa: PLC0415 - heavy

        found = get_model(
            "smollm2",
            LoadOptions(device="cpu", dtype=dtype),
            FetchSettings.from_environment(),
        )
        if not isinstance(found, TransformersModel):
            raise TypeError(found)
        return found

    def asked(self, most: int | None = None) -> list[GenerationRequest]:
        template, shots = read_template("sections"), worked_examples(2)
        samples = self.samples if most is None else self.more_samples(most)
        return [
            GenerationRequest(
                record=sample,
                messages=template.fill(sample.constraint, shots),
                budget=self.options.tokens,
            )
            for sample in samples
        ]

    def more_samples(self, most: int) -> list[Record]:
        data = open_data(
            str(self.folder),
            settings=FetchSettings.from_environment(),
            selection=RecordSelection(configs=("Github_easy",), limit=most),
        )
        return list(data.records())

    def loop(self) -> dict[str, Any]:
        import torch  # noqa: PLC0415 - heavy

        model = self.model()
        writer = _writer(model, "none", LoopOptions())
        ours, theirs, same = [], [], 0
        for asked in self.asked():
            made = writer.write([asked])[0]
            inputs = torch.tensor([model.prompt(asked.messages)])
            times, tokens = _generated(model, inputs, len(made.tokens))
            same += list(made.tokens) == tokens
            whole = _with_the_loop(made)
            if whole:
                ours.append(whole)
                theirs.append(times)
        return {
            "texts": len(ours),
            "same_text": same,
            "ms_per_token": {"generate": _ms(theirs), "ours": _ms(ours)},
            "ratio": _ratio(theirs, ours),
        }

    def token(self) -> dict[str, Any]:
        return token_cost()

    def batch(self) -> dict[str, Any]:
        model = self.model()
        prompts = [model.prompt(asked.messages) for asked in self.asked()]
        tokens, size = self.options.tokens, self.options.batch_size
        return batch_beside_generate(model, prompts, tokens, size)

    def start(self) -> dict[str, Any]:
        return seconds_to_first_row(self.samples[0])

    def constrained(self) -> dict[str, Any]:
        model = self.model()
        free = _writer(model, "none", LoopOptions())
        engine = _writer(model, "llguidance", LoopOptions())
        asked = self.asked(self.options.most_texts)
        pairs: list[tuple[Generation, Generation]] = []
        for start in range(0, len(asked), self.options.texts):
            pairs += _in_turn(free, engine, asked[start : start + self.options.texts])
            found = _ratio([a.tpot_ns for a, _ in pairs], [b.tpot_ns for _, b in pairs])
            if found and (found["high"] - found["low"]) / 2 <= _NARROW:
                break
        engine.close()
        masks = [step.mask_ns for _, made in pairs for step in made.steps[1:]]
        waits = [step.wait_ns for _, made in pairs for step in made.steps[1:]]
        return {
            "texts": len(pairs),
            "ms_per_token": {
                "none": _ms([a.tpot_ns for a, _ in pairs]),
                "llguidance": _ms([b.tpot_ns for _, b in pairs]),
            },
            "mask_ms": _ms(masks),
            "wait_ms": _ms(waits),
            "loop_ms": _ms([step.loop_ns for _, b in pairs for step in b.steps[1:]]),
            "ratio_of_medians": _median_ratio(pairs),
            "ratio": _ratio(
                [a.tpot_ns for a, _ in pairs], [b.tpot_ns for _, b in pairs]
            ),
        }

    def forced(self) -> dict[str, Any]:
        timed = self._forced(self.model())
        exact = self.model("fp32")
        return {**_speed(timed), "text_fp32": _sameness(exact, self._forced(exact))}

    def _forced(self, model: TransformersModel) -> list[tuple[Generation, Generation]]:
        one = _writer(model, "llguidance", LoopOptions(), _COMPACT)
        many = _writer(model, "llguidance", LoopOptions(forced=True), _COMPACT)
        pairs = _in_turn(one, many, self.asked())
        one.close()
        many.close()
        return pairs


def _writer(
    model: TransformersModel,
    engine: str,
    options: LoopOptions,
    assignments: Sequence[str] = (),
) -> LocalWriter:
    chosen = select_engines(
        FetchSettings.from_environment().cache, [engine], "faithful", list(assignments)
    )[0]
    if chosen.unavailable:
        raise SystemExit(f"{engine}: {chosen.unavailable}")
    files = get_tokenizer(str(model.tokenizer_folder), FetchSettings.from_environment())
    return LocalWriter(
        model, chosen, replace(files, vocab_size=model.vocab_size), options
    )


def _in_turn(
    first: LocalWriter, second: LocalWriter, asked: Sequence[GenerationRequest]
) -> list[tuple[Generation, Generation]]:
    """Write every text twice, the order changing; keep what both wrote."""
    pairs = []
    # The first text of each starts processes.
    for writer in (first, second):
        writer.write([asked[0]])
    for number, request in enumerate(asked):
        order = (first, second) if number % 2 else (second, first)
        made = {writer: writer.write([request])[0] for writer in order}
        a, b = made[first], made[second]
        if a.generated and b.generated and a.tpot_ns and b.tpot_ns:
            pairs.append((a, b))
    return pairs


def _generated(
    model: TransformersModel, inputs: torch.Tensor, tokens: int
) -> tuple[float, list[int]]:
    """Return nanoseconds per token after the first by `generate`, and its tokens."""

    def timed(count: int) -> tuple[float, list[int]]:
        start = time.perf_counter_ns()
        made = model.module.generate(inputs, max_new_tokens=count, do_sample=False)
        took = time.perf_counter_ns() - start
        return took, made[0, inputs.shape[1] :].tolist()

    first, _ = timed(1)
    whole, found = timed(max(2, tokens))
    ids = [token for token in found if token not in model.end_tokens]
    return (whole - first) / max(1, len(found) - 1), ids


def _speed(pairs: Sequence[tuple[Generation, Generation]]) -> dict[str, Any]:
    passes = [len(made.steps) for _, made in pairs]
    tokens = [len(made.tokens) + (made.ending is TextEnding.END) for _, made in pairs]
    per_pass = sum(tokens) / sum(passes)
    before = [(a.total_ns or 0) - (a.ttft_ns or 0) for a, _ in pairs]
    after = [(b.total_ns or 0) - (b.ttft_ns or 0) for _, b in pairs]
    both = [(a, b) for a, b in zip(before, after, strict=True) if a and b]
    return {
        "texts": len(pairs),
        "tokens_per_pass": per_pass,
        "time": sum(b for _, b in both) / sum(a for a, _ in both),
        "time_times_tokens_per_pass": per_pass
        * sum(b for _, b in both)
        / sum(a for a, _ in both),
        "time_ratio": _ratio([a for a, _ in both], [b for _, b in both]),
    }


def _sameness(
    model: TransformersModel, pairs: Sequence[tuple[Generation, Generation]]
) -> dict[str, Any]:
    same = sum(a.text == b.text for a, b in pairs)
    kinds = [_difference(model, a, b) for a, b in pairs if a.text != b.text]
    return {
        "texts": len(pairs),
        "same": same,
        "share": same / len(pairs) if pairs else None,
        "differences": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
    }


def _shared_length(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many leading numbers both have in common."""
    pairs = zip(a, b, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _difference(model: TransformersModel, a: Generation, b: Generation) -> str:
    """Return whether the tokens part where the texts go on alike."""
    at = _shared_length(a.tokens, b.tokens)
    spelled = len(model.text(a.tokens[:at]).encode())
    alike = _shared_length(a.text.encode(), b.text.encode())
    return "retokenisation" if alike > spelled else "numeric tie"


def _median_ratio(pairs: Sequence[tuple[Generation, Generation]]) -> float | None:
    known = [(a.tpot_ns, b.tpot_ns) for a, b in pairs if a.tpot_ns and b.tpot_ns]
    if not known:
        return None
    return median(b for _, b in known) / median(a for a, _ in known)


def _with_the_loop(made: Generation) -> float | None:
    """Return nanoseconds for each token after the first, the loop's own in it."""
    own = sum(step.loop_ns for step in made.steps[1:])
    later = len(made.tokens) - 1 + (made.ending is TextEnding.END)
    return made.tpot_ns + own / later if made.tpot_ns and later > 0 else None


def _ms(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(median(known) / 1e6, 3) if known else None


def _ratio(
    a: Sequence[float | None], b: Sequence[float | None]
) -> dict[str, Any] | None:
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x and y]
    found = geometric_ratio([x for x, _ in pairs], [y for _, y in pairs])
    if found is None:
        return None
    between = found.interval
    return {
        "value": found.value,
        "low": between.low if between else None,
        "high": between.high if between else None,
    }
