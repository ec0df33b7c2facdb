"""Compare tokens and masks with what they should be, before anything is timed."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from bench.model.timing import endless, library_texts
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import LoopOptions, TokenizedRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch

    from evaluation.generation.text_generation import Generation
    from evaluation.models.transformers import TransformersModel

    _Apply: TypeAlias = Callable[[torch.Tensor], torch.Tensor]

#: A figure, by the names of its parts.
Figures: TypeAlias = dict[str, Any]
#: Greedy tokens that are compared, and the lengths of the prompts that share a batch.
_TOKENS: Final = 20
_PROMPTS: Final = (24, 9, 17)
_MASKED_TEXTS: Final = 4
VARIANTS: Final = ("loop", "batch", "eager", "static", "compiled")


class Difference(Exception):  # noqa: N818 - a fact, not an error of the program
    """What is measured computes something else; the message says where."""


def not_run(error: BaseException) -> dict[str, str]:
    """Return what stands for a figure that failed: the reason."""
    return {"not_run": f"{type(error).__name__}: {str(error).strip()}"[:1000]}


def write(
    model: TransformersModel, prompts: Sequence[Sequence[int]], tokens: int
) -> list[Generation]:
    """Return texts that our loop writes in one batch, without an engine."""
    requests = [
        TokenizedRequest(id=str(n), schema="{}", prompt=tuple(prompt), budget=tokens)
        for n, prompt in enumerate(prompts)
    ]
    options = LoopOptions(run_seconds=3600.0)
    return generate(model, requests, [None] * len(requests), options)


def drawn_prompt(model: TransformersModel, length: int, seed: int) -> list[int]:
    """Return a prompt of random tokens."""
    draw = np.random.default_rng(seed)
    return [*map(int, draw.integers(0, model.vocab_size, length))]


def check_tokens(
    model: TransformersModel,
    variants: Sequence[str],
    share: float = 1.0,
) -> Figures:
    """Return how many tokens of each variant are those of a full forward pass.

    Each token is compared with the best one of a pass over the whole text before it,
    without a cache. Another one counts as equal, and as a tie, if its logit there is
    within the model's tie.

    Args:
        model: What writes: the loop alone and in a batch, and `generate` with a growing
            cache (eager), a static one, and compiled.
        variants: Which of these.
        share: The share of equal tokens from which a variant is right.

    Raises:
        Difference: a variant is wrong; says at which token.
    """
    prompts = [drawn_prompt(model, length, length) for length in _PROMPTS]
    counts: Figures = {}
    with endless(model):
        for variant in variants:
            try:
                texts = _texts(model, variant, prompts)
            except Exception as error:
                # Compiling may be impossible here; all else has to work.
                if variant != "compiled":
                    raise
                counts[variant] = not_run(error)
                continue
            counts[variant] = _compare(model, variant, prompts, texts, share)
    return counts


def _texts(
    model: TransformersModel, variant: str, prompts: Sequence[Sequence[int]]
) -> list[list[int]]:
    if variant in ("loop", "batch"):
        groups = [[each] for each in prompts] if variant == "loop" else [prompts]
        texts = [text for group in groups for text in write(model, group, _TOKENS)]
        return [list(text.tokens) for text in texts]
    import torch._dynamo  # noqa: PLC0415 - heavy

    graphs = torch._dynamo.utils.counters["stats"]  # noqa: SLF001 - nothing public counts them
    before = graphs["unique_graphs"]
    written, _ = library_texts(model, prompts, _TOKENS, variant)
    if variant == "compiled" and graphs["unique_graphs"] == before:
        raise RuntimeError("transformers compiled nothing")
    return written


def _compare(
    model: TransformersModel,
    variant: str,
    prompts: Sequence[Sequence[int]],
    texts: Sequence[Sequence[int]],
    share: float,
) -> dict[str, int]:
    from evaluation.models.forward import ForwardPass  # noqa: PLC0415 - heavy

    wrong, ties = [], 0
    for prompt, text in zip(prompts, texts, strict=True):
        whole = ForwardPass(model.module).everywhere([*prompt, *text])
        logits = whole[len(prompt) - 1 : -1]
        best = logits.max(dim=1)
        near = logits >= (best.values - model.tie * best.values.abs())[:, None]
        for index, token in enumerate(text):
            right = int(best.indices[index])
            ties += token != right
            if not near[index, token]:
                wrong.append(
                    f"{variant}, prompt of {len(prompt)} tokens: token {index} is "
                    f"{token}; a full forward pass without a cache gives {right}"
                )
    compared = sum(map(len, texts))
    if compared != _TOKENS * len(prompts):
        raise Difference(f"{variant}: {compared} tokens in all")
    if len(wrong) > (1 - share) * compared:
        raise Difference(f"{wrong[0]} ({len(wrong)} of {compared} differ)")
    return {"compared": compared, "differ": len(wrong), "ties": ties - len(wrong)}


def usable_functions(
    found: Figures,
    device: torch.device,
    bits: np.ndarray,
    engines: Sequence[str] = ("llguidance.torch", "xgrammar"),
) -> dict[str, _Apply]:
    """Return what transfers masks and applies them, by name: our loop and the engines.

    Args:
        found: Where the reason is noted for an engine that cannot do so here.
        device: Where the logits are.
        bits: The masks as engines write them, `uint8`, one row a text.
        engines: Their modules; each overwrites the logits.
    """
    import torch  # noqa: PLC0415 - heavy

    from evaluation.models.hardware import DeviceClock, to_device  # noqa: PLC0415 - heavy
    from evaluation.models.token_choice import RowMask, TokenChooser  # noqa: PLC0415 - the same

    chooser = TokenChooser(device, DeviceClock(device), tie=0.0)
    masks = [RowMask(of=bits, row=row) for row in range(len(bits))]
    words = torch.from_numpy(bits.view(np.int32))

    @torch.inference_mode()
    def by_loop(logits: torch.Tensor) -> torch.Tensor:
        return chooser.masked(masks, logits)[0]

    def by_engine(module: str, logits: torch.Tensor) -> torch.Tensor:
        engine = import_module(module)
        engine.apply_token_bitmask_inplace(logits, to_device(words, device))
        return logits

    functions: dict[str, _Apply] = {"loop": by_loop}
    for engine in engines:
        apply = partial(by_engine, engine)
        try:
            apply(torch.zeros(bits.shape[0], 8 * bits.shape[1], device=device))
        except Exception as error:  # noqa: BLE001 - an engine, or what compiles it
            found[engine] = not_run(error)
        else:
            functions[engine] = apply
    return functions


def drawn_masks(
    device: torch.device, texts: int, vocabulary: int
) -> tuple[np.ndarray, torch.Tensor]:
    """Return masks that allow half of all tokens, and logits."""
    import torch  # noqa: PLC0415 - heavy

    draw = np.random.default_rng(texts)
    bits = draw.integers(0, 256, (texts, -(-vocabulary // 32) * 4), dtype=np.uint8)
    logits = draw.standard_normal((texts, vocabulary)).astype(np.float32)
    return bits, torch.from_numpy(logits).to(device)


def check_masks(
    device: torch.device, vocabulary: int, **engines: Sequence[str]
) -> Figures:
    """Return which functions apply masks as applying them by hand does.

    Args:
        device: Where the logits are.
        vocabulary: The number of tokens.
        engines: As `usable_functions` has it.

    Raises:
        Difference: one does not; says in which row and at which token.
    """
    bits, logits = drawn_masks(device, _MASKED_TEXTS, vocabulary)
    bits[0], bits[1] = 255, 0
    bits[1, vocabulary // 16] = 1
    tokens = np.arange(vocabulary)
    allowed = bits[:, tokens // 8] >> (tokens % 8) & 1
    right = np.where(allowed, logits.cpu().numpy(), -np.inf)
    found: Figures = {}
    for name, apply in usable_functions(found, device, bits, **engines).items():
        masked = apply(logits.clone()).cpu().numpy()
        wrong = np.argwhere(masked != right)
        if len(wrong):
            row, token = wrong[0]
            raise Difference(
                f"mask applied by {name}: row {row}, token {token} is "
                f"{masked[row, token]}, by hand {right[row, token]}"
            )
        found[name] = {"equal_rows": len(bits)}
    return found
