"""Measure a model on a GPU: correct first, then how fast, in one slot of nine minutes.

The figures, in this order; each is written to the folder `--out` as soon as it is
measured, with its warnings and its memory, and one that fails costs no other but the
first:

- `correct`: 20 greedy tokens of the loop, alone and in a batch, and of `generate` with
  a growing cache, a static one, and compiled, beside a full forward pass without a
  cache; and masks applied by the loop and the engines beside masks applied by hand. On
  the 1B shape and on a tiny model in the shape of the embedded one, in fp32. If
  anything differs, the slot stops and says where. In bf16, where sums in another order
  give other tokens, half of them have to be equal.
- `bandwidth`: a copy of 8 GiB from the device to itself; shares are of it.
- `steps_8b`, `compiled_8b`, `steps_1b`, `compiled_1b`: a decoding step of drawn weights
  in bf16, 512 tokens of prompt, at batch 1 and 32: the loop beside `generate`, and
  `generate` compiled over a static cache beside `generate`.
- `engines_1`, `engines_32`: llguidance and XGrammar beside none, in turn.
- `mask`: masks of 32 texts over 128,000 tokens, transferred and applied.
- `paper`: GCT, TTFT and TPOT by the paper's definition, on real schemas.
- `coverage`: 50 records end to end by `csbdata eval`, on the device and on the CPU.

Marks to compare with, which decide nothing: 75 % of the bandwidth for the 8B shape at
batch 1, 12 times its tokens at batch 32, 1.02 and 1.05 times none under an engine, and
95 % of the texts of `coverage` equal to the CPU's.

Ratios have 95 % intervals over rounds. Without a GPU it is not run; `--dry-run` goes
through all of it in tiny on the CPU, and its times say nothing.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import signal
import tempfile
import time
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.model.gpu_correct import (
    VARIANTS,
    Difference,
    Figures,
    check_masks,
    check_tokens,
    not_run,
)
from bench.model.gpu_figures import (
    LOG,
    Sizes,
    bandwidth,
    cache_bytes,
    check_memory,
    coverage,
    decode_steps,
    load,
    mask_cost,
    paper_times,
    under_engines,
)
from bench.model.gpu_tiny import tiny_model
from curation.download.cache import FetchSettings

if TYPE_CHECKING:
    import argparse

    from evaluation.models.transformers import TransformersModel

#: The maximum seconds of each figure, in order.
SECONDS: Final = {
    "correct": 110,
    "bandwidth": 5,
    "steps_8b": 40,
    "compiled_8b": 75,
    "steps_1b": 25,
    "compiled_1b": 30,
    "engines_1": 45,
    "engines_32": 60,
    "mask": 15,
    "paper": 25,
    "coverage": 90,
}
#: Seconds that a figure needs at least, and that are kept for writing the last one.
_MINIMUM: Final = 4
RESERVE: Final = 10
_SHAPES: Final = {"8b": "llama-3.1-8b", "1b": "llama-3.2-1b"}
_ENGINES: Final = ("llguidance", "xgrammar")
_TINY: Final = Sizes(
    copied=2**20,
    prompt=6,
    tokens=4,
    batches=(1, 2),
    rounds=2,
    records=2,
    vocabulary=640,
)


class _TimeUp(BaseException):
    """The time of a figure is up; no `except Exception` on the way takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--minutes", type=float, default=9.0, help="for all figures")
    parser.add_argument(
        "--out", type=Path, default=Path("gpu-figures"), help="the folder for all files"
    )
    parser.add_argument("--dry-run", action="store_true", help="in tiny, on the CPU")


def measure(options: argparse.Namespace) -> Figures:
    """Return the figures of this part; without a GPU, that it was not run.

    Raises:
        SystemExit: tokens or masks are wrong.
    """
    import torch  # noqa: PLC0415 - heavy

    if not options.dry_run and not torch.cuda.is_available():
        return {"not_run": "no CUDA device"}
    options.out.mkdir(parents=True, exist_ok=True)
    # What hangs in a library past the end is ended from outside of Python.
    faulthandler.dump_traceback_later(options.minutes * 60, exit=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            return Slot(options, Path(folder)).run()
    finally:
        faulthandler.cancel_dump_traceback_later()


class Slot:
    """The time on a device: figures in order, while there is time."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        """Begin; the folder is for what is not kept."""
        import torch  # noqa: PLC0415 - heavy

        self._until = time.monotonic() + options.minutes * 60 - RESERVE
        self._out = options.out
        self._dry_run = options.dry_run
        self._sizes = _TINY if self._dry_run else Sizes()
        self._device = torch.device("cpu" if self._dry_run else "cuda")
        self._bytes_per_second = float("nan")
        self._model: tuple[object, TransformersModel] | None = None
        self._tiny = tiny_model(
            folder / "tiny", FetchSettings.from_environment(offline=True)
        )

    def run(self) -> Figures:
        """Measure all figures.

        Raises:
            SystemExit: the first one is not there, or says that something is wrong.
        """
        figures: Figures = {}
        for name, seconds in SECONDS.items():
            found = figures[name] = self.figure(name, seconds)
            if name == "correct" and found.keys() & {"differs", "not_run"}:
                raise SystemExit(f"the slot stops: {json.dumps(found)}")
        return figures

    def figure(self, name: str, seconds: float) -> Figures:
        """Measure one figure and write it; return it, or why it is not there."""
        begun = time.monotonic()
        # A CPU may take all the time that there is.
        seconds = min(self._until - begun, seconds * (10 if self._dry_run else 1))
        found: Figures = {}
        caught = BufferingHandler(1000)
        if seconds < _MINIMUM:
            found["not_run"] = "the time of the slot is up"
        else:
            self._bounded(name, found, seconds, caught)
        line = {
            "figure": name,
            "seconds": round(time.monotonic() - begun, 1),
            "warnings": [
                *dict.fromkeys(each.getMessage()[:500] for each in caught.buffer)
            ],
            "found": found,
        }
        with (self._out / "figures.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return found

    def _bounded(
        self, name: str, found: Figures, seconds: float, caught: BufferingHandler
    ) -> None:
        """Measure a figure within its seconds; note warnings, and what goes wrong."""

        def end(*_: object) -> None:
            raise _TimeUp(f"no more within {seconds:.0f} s")

        caught.setLevel(logging.WARNING)
        loggers = [logging.getLogger(each) for each in ("", "torch", "transformers")]
        logging.captureWarnings(capture=True)
        for logger in loggers:
            logger.addHandler(caught)
        before = signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            self._measure(name, found, time.monotonic() + 0.8 * seconds)
        except Difference as error:
            found["differs"] = str(error)
        except (Exception, SystemExit, _TimeUp) as error:  # noqa: BLE001 - noted in its place
            found |= not_run(error)
            self._model = None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            for logger in loggers:
                logger.removeHandler(caught)
            logging.captureWarnings(capture=False)

    def _measure(self, name: str, found: Figures, until: float) -> None:
        figure, _, part = name.partition("_")
        sizes = self._sizes
        if figure == "correct":
            self._correct(found)
        elif figure == "bandwidth":
            bandwidth(found, self._device, sizes.copied)
            self._bytes_per_second = found["bytes_per_second"]
        elif figure == "compiled" and self._dry_run:
            found["not_run"] = "a CPU compiles for minutes; `correct` has done so once"
        elif figure in ("steps", "compiled"):
            decode_steps(
                found,
                self._loaded(found, _SHAPES[part]),
                sizes,
                compiled=figure == "compiled",
                until=until,
                bytes_per_second=self._bytes_per_second,
            )
        elif figure == "engines":
            model = self._loaded(found, _SHAPES["8b"])
            batch = sizes.batches[part != "1"]
            under_engines(found, model, _ENGINES, sizes, batch, until)
        elif figure == "mask":
            mask_cost(found, self._device, sizes.batches[-1], sizes.vocabulary)
        elif figure == "paper":
            model = self._loaded(found, _SHAPES["8b"])
            paper_times(found, model, _ENGINES, sizes, until)
        else:
            self._model = None
            coverage(found, self._device, self._tiny, sizes, self._out, until)

    def _correct(self, found: Figures) -> None:
        found["masks"] = check_masks(self._device, self._sizes.vocabulary)
        tiny = self._loaded(found, str(self._tiny), "fp32")
        found["tiny"] = check_tokens(tiny, VARIANTS)
        # A CPU takes minutes: one compilation is proof enough there.
        variants = VARIANTS[:-1] if self._dry_run else VARIANTS
        small = self._loaded(found, _SHAPES["1b"], "fp32")
        found["1b"] = check_tokens(small, variants)
        half = self._loaded(found, _SHAPES["1b"])
        found["1b_bf16"] = check_tokens(half, variants, share=0.5)

    def _loaded(
        self, found: Figures, name: str, dtype: str = "bf16"
    ) -> TransformersModel:
        """Return a model; loading checks that its weights fit before it asks for them.

        A cache that grows is there twice while it is copied, beside what is added.

        Raises:
            MemoryError: keys, values and logits of the texts do not fit beside it.
        """
        import torch  # noqa: PLC0415 - heavy

        where = str(self._tiny) if self._dry_run else name
        if self._model is None or self._model[0] != (where, dtype):
            self._model = None
            torch.cuda.empty_cache()
            self._model = ((where, dtype), load(where, self._device.type, dtype))
        model, sizes = self._model[1], self._sizes
        if model.limits:
            LOG.warning(model.limits)
        texts = sizes.batches[-1]
        tokens = texts * (sizes.prompt + sizes.tokens)
        growing = cache_bytes(model, tokens) + 4 * texts * model.vocab_size
        check_memory(found, self._device, 3 * growing)
        return model
