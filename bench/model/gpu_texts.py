"""Greedy texts of one model on two devices: whether they are the same, and why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.model.gpu_figures import write
from evaluation.core.records import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from curation.download.acquire import FetchSettings
    from evaluation.models.base import LanguageModel


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
        (ours,), (theirs,) = (write(model, [prompt], new) for model in (here, there))
        causes[_cause(here, prompt, ours.tokens, theirs.tokens)] += 1
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
