"""Measure what a constraint costs while SmolLM2 writes on the CPU.

- `mask`: transferring and applying the mask of one text over 128,000 tokens.
- `loop`: the loop beside `model.generate`, in turn, at one text and at `--batch-size`.
- `constrained`: llguidance beside no engine, in turn, on a schema that never ends.

Ratios have 95 % intervals by bootstrap; both are to be at most 1.03.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.model.gpu_correct import Figures
from bench.model.gpu_figures import Sizes, decode_steps, load, mask_cost, under_engines

if TYPE_CHECKING:
    import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--texts", type=int, default=8, help="texts of each kind")
    parser.add_argument("--tokens", type=int, default=64, help="tokens of a text")
    parser.add_argument("--batch-size", type=int, default=8, help="texts a pass")


def measure(options: argparse.Namespace) -> Figures:
    """Return the figures of this part."""
    sizes = Sizes(
        prompt=32,
        tokens=options.tokens,
        batches=(1, options.batch_size),
        rounds=options.texts,
    )
    model = load("smollm2")
    mask, loop, constrained = Figures(), Figures(), Figures()
    mask_cost(mask, model.module.device, 1, sizes.vocabulary)
    decode_steps(loop, model, sizes)
    under_engines(constrained, model, ("llguidance",), sizes, 1)
    return {"mask": mask, "loop": loop, "constrained": constrained}
