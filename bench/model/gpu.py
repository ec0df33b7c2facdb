"""Measure a model on a GPU: the loop beside what the device and `generate` can do.

- `bandwidth`: a copy of 8 GiB from the device to itself; all shares below are of it.
- `decode`: models of a known shape with drawn weights, a prompt of 512 tokens and 128
  new ones, one text at a time, without any engine: the share of the bandwidth that
  reading the weights once a token is, and time per token beside `model.generate` as it
  comes and with its static cache compiled, in turn.
- `engines`: time per token under llguidance and xgrammar beside none, in turn, at batch
  1 and 32; tokens a second at batch 32 beside batch 1.
- `same_texts`: greedy texts of SmolLM2 in fp32 on the processor and on the device; a
  text that differs is a `numeric tie` where the two tokens were within the model's tie
  on the processor, else `other`.
- `mask`: the masks of 32 texts over 128,000 tokens, from the processor's memory to the
  device, applied, and the tokens chosen.

Times per token are those after the first, the loop's own in them. Skipped, and said so,
where torch sees no GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bench.model.gpu_figures import (
    bandwidth,
    beside_generate,
    mask_cost,
    same_texts,
    under_engines,
)
from curation.download.acquire import FetchSettings

if TYPE_CHECKING:
    import argparse

#: What the figures are to reach.
TARGETS: Final = {
    "bandwidth_share_8b": 0.75,
    "bandwidth_share_1b": 0.50,
    "beside_generate": 0.75,
    "beside_generate_static": 1.05,
    "llguidance_batch_1": 1.02,
    "llguidance_batch_32": 1.05,
    "batch_32_beside_1": 15.0,
    "mask_us": 40.0,
    "same_texts": 0.95,
}
_COPIED: Final = 8 * 2**30
_PROMPT: Final = 512
_NEW: Final = 128
_BATCHES: Final = (1, 32)
_CASES: Final = 50
_VOCABULARY: Final = 128_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument(
        "--gpu-shapes",
        nargs="*",
        default=["shape:llama-3.2-1b", "shape:llama-3.1-8b"],
        help="models of `decode`; the last one is that of `engines`",
    )
    parser.add_argument("--gpu-engines", nargs="*", default=["llguidance", "xgrammar"])
    parser.add_argument("--gpu-rounds", type=int, default=8, help="texts of each kind")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of this part; without a GPU, that it was not run."""
    import torch  # noqa: PLC0415 - heavy

    if not torch.cuda.is_available():
        return {"not_run": "no CUDA device", "targets": TARGETS}
    from evaluation.models.loading import LoadOptions  # noqa: PLC0415 - heavy
    from evaluation.models.store import get_model  # noqa: PLC0415 - heavy
    from evaluation.models.transformers import (  # noqa: PLC0415 - heavy
        TransformersModel,
    )

    device = torch.device("cuda")
    settings = FetchSettings.from_environment()
    speed = bandwidth(device, _COPIED)
    found: dict[str, Any] = {"targets": TARGETS, "bandwidth": speed, "decode": {}}
    for name in options.gpu_shapes:
        model = get_model(
            name, LoadOptions(device="cuda", dtype="bf16"), settings, print
        )
        if not isinstance(model, TransformersModel):
            raise TypeError(model)
        found["facts"] = dict(model.facts())
        found["decode"][name] = beside_generate(
            model,
            prompt=_PROMPT,
            new=_NEW,
            rounds=options.gpu_rounds,
            bytes_per_second=speed["bytes_per_second"],
        )
        if name == options.gpu_shapes[-1]:
            found["engines"] = under_engines(
                model, options.gpu_engines, settings, _BATCHES, new=_NEW
            )
        del model
        torch.cuda.empty_cache()
    found["same_texts"] = same_texts(settings, device, _CASES, _NEW)
    found["mask"] = mask_cost(device, _BATCHES[-1], _VOCABULARY)
    return found
