"""Measure a model on a GPU: the loop beside what the device and `generate` can do.

The figures, the most wanted first; each is written to `--figures FILE` at once, and one
that fails costs no other. `--minutes` bounds them all: a figure for which too little is
left is `not_run`.

- `bandwidth`: a copy of 8 GiB from the device to itself; all shares below are of it.
- `steps`: a decoding step of the 8B shape with drawn weights, bf16, a prompt of 512
  tokens, 128 new, without an engine, at batch 1 and 32, prefill apart: the share of the
  bandwidth that the bytes it cannot do without take.
- `engines_32`, `engines_1`: time per token under llguidance and XGrammar beside none,
  in turn, none beside itself; what of a step is no pass, and the grammar's part of it.
- `mask`: the masks of 32 texts over 128,000 tokens, from the processor's memory to the
  device, applied.
- `generate`: time per token beside `model.generate`, in turn.
- `steps_small`, `generate_small`: the same of the 1B shape.
- `same_texts`: greedy texts of SmolLM2 in fp32 on the processor and on the device; a
  text that differs is a `numeric tie` where the two tokens were within the model's tie
  on the processor, else `other`. Its weights must be in the cache.

Times per token are those after the first, the loop's own in them. Ratios have 95 %
intervals over rounds. Not run, and said so, where torch sees no GPU; `--dry-run` goes
through all of it in tiny on the processor, and its figures say nothing.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.model.gpu_figures import (
    bandwidth,
    beside_generate,
    decode_steps,
    mask_cost,
    under_engines,
)
from bench.model.gpu_texts import same_texts
from curation.download.acquire import FetchSettings

if TYPE_CHECKING:
    import argparse

    import torch

    from evaluation.models.transformers import TransformersModel

#: What the figures are to reach.
TARGETS: Final = {
    "bandwidth_share_8b": 0.75,
    "bandwidth_share_1b": 0.50,
    "beside_generate": 1.05,
    "llguidance_batch_1": 1.02,
    "llguidance_batch_32": 1.05,
    "batch_32_beside_1": 15.0,
    "mask_us": 40.0,
    "same_texts": 0.95,
}
_LARGE: Final = "shape:llama-3.1-8b"
_SMALL: Final = "shape:llama-3.2-1b"
#: Seconds of the time left that are kept for writing the last figure.
_RESERVE: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    """The sizes of all measurements."""

    copied: int = 8 * 2**30
    prompt: int = 512
    new: int = 128
    batches: tuple[int, ...] = (1, 32)
    rounds: int = 32
    batch_rounds: int = 8
    cases: int = 50
    vocabulary: int = 128_000


_TINY: Final = _Sizes(
    copied=2**20,
    prompt=6,
    new=4,
    batches=(1, 2),
    rounds=3,
    batch_rounds=3,
    cases=1,
    vocabulary=640,
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--gpu-engines", nargs="*", default=["llguidance", "xgrammar"])
    parser.add_argument("--minutes", type=float, default=30.0, help="for all figures")
    parser.add_argument(
        "--figures", type=Path, default=Path("gpu-figures.jsonl"), help="a line each"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="in tiny, on the processor"
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of this part; without a GPU, that it was not run."""
    import torch  # noqa: PLC0415 - heavy

    if not options.dry_run and not torch.cuda.is_available():
        return {"not_run": "no CUDA device", "targets": TARGETS}
    with tempfile.TemporaryDirectory() as folder:
        slot = _Slot(options, Path(folder))
        found = {name: slot.figure(name, *what) for name, what in slot.figures.items()}
    return {"dry_run": options.dry_run, "targets": TARGETS, **found}


class _Slot:
    """The time on a device: figures in order, while there is time."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._options = options
        self._folder = folder
        self._sizes = _TINY if options.dry_run else _Sizes()
        self._until = time.monotonic() + options.minutes * 60 - _RESERVE
        self._settings = FetchSettings.from_environment()
        self._speed = 0.0
        self._model: tuple[str, TransformersModel] | None = None
        #: Each with the seconds that it is thought to take, and that it may take.
        self.figures: dict[str, tuple[float, float, Callable[[float], Any]]] = {
            "bandwidth": (5, 30, self._bandwidth),
            "steps": (40, 120, lambda until: self._steps(_LARGE, until)),
            "engines_32": (40, 90, lambda until: self._engines(-1, until)),
            "engines_1": (40, 110, lambda until: self._engines(0, until)),
            "mask": (5, 20, lambda _until: self._mask()),
            "generate": (60, 90, lambda until: self._generate(_LARGE, until)),
            "steps_small": (20, 60, lambda until: self._steps(_SMALL, until)),
            "generate_small": (40, 60, lambda until: self._generate(_SMALL, until)),
            "same_texts": (60, 300, lambda _until: self._same_texts()),
        }

    def figure(
        self, name: str, least: float, most: float, of: Callable[[float], Any]
    ) -> Any:  # noqa: ANN401 - what is printed
        """Return one figure, written to the file before anything else is done."""
        begun = time.monotonic()
        remaining = self._until - begun
        if remaining < least and not self._options.dry_run:
            found = {"not_run": f"{remaining:.0f} s are left, it needs about {least}"}
        else:
            try:
                found = of(min(self._until, begun + most))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - told, in its place
                found = {"not_measured": f"{type(error).__name__}: {error}"}
        line = {
            "figure": name,
            "dry_run": self._options.dry_run,
            "seconds": round(time.monotonic() - begun, 1),
            "found": found,
        }
        print(json.dumps(line), file=sys.stderr, flush=True)
        with self._options.figures.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        return found

    @property
    def _device(self) -> torch.device:
        import torch  # noqa: PLC0415 - heavy

        return torch.device("cpu" if self._options.dry_run else "cuda")

    def _loaded(self, name: str) -> TransformersModel:
        """Return a model; the one before it is dropped."""
        import torch  # noqa: PLC0415 - heavy

        from bench.model.gpu_tiny import tiny_model  # noqa: PLC0415 - heavy
        from evaluation.models.loading import LoadOptions  # noqa: PLC0415 - heavy
        from evaluation.models.store import get_model  # noqa: PLC0415 - heavy
        from evaluation.models.transformers import TransformersModel  # noqa: PLC0415 - heavy

        if self._model is not None and self._model[0] == name:
            return self._model[1]
        if self._model is not None:
            self._model[1].forget()
        self._model = None
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
        dtype = "fp32" if self._options.dry_run else "bf16"
        where = name
        if self._options.dry_run:
            where = str(tiny_model(self._folder, self._settings))
        model = get_model(
            where,
            LoadOptions(device=self._device.type, dtype=dtype),
            self._settings,
            _say,
        )
        if not isinstance(model, TransformersModel):
            raise TypeError(model)
        self._model = (name, model)
        return model

    def _bandwidth(self, _until: float) -> dict[str, Any]:
        found = bandwidth(self._device, self._sizes.copied)
        self._speed = found["bytes_per_second"]
        return found

    def _steps(self, name: str, until: float) -> dict[str, Any]:
        model, sizes = self._loaded(name), self._sizes
        found = decode_steps(
            model,
            sizes.batches,
            prompt=sizes.prompt,
            new=sizes.new,
            rounds=sizes.batch_rounds,
            until=until,
            bytes_per_second=self._speed,
        )
        return {"model": model.name, "facts": dict(model.facts()), **found}

    def _engines(self, place: int, until: float) -> dict[str, Any]:
        sizes = self._sizes
        batch = sizes.batches[place]
        return under_engines(
            self._loaded(_LARGE),
            self._options.gpu_engines,
            self._settings,
            batch,
            words=sizes.prompt,
            new=sizes.new // 2,
            rounds=sizes.rounds if batch == 1 else sizes.batch_rounds,
            until=until,
        )

    def _mask(self) -> dict[str, Any]:
        return mask_cost(self._device, self._sizes.batches[-1], self._sizes.vocabulary)

    def _generate(self, name: str, until: float) -> dict[str, Any]:
        return beside_generate(
            self._loaded(name),
            prompt=self._sizes.prompt,
            new=self._sizes.new,
            rounds=self._sizes.batch_rounds,
            until=until,
        )

    def _same_texts(self) -> dict[str, Any]:
        self._model = None
        here = FetchSettings.from_environment(offline=True)
        return same_texts(here, self._device, self._sizes.cases, self._sizes.new)


def _say(line: str) -> None:
    print(line, file=sys.stderr)
