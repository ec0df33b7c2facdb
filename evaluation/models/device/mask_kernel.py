"""One kernel that masks the logits of a whole batch, on a GPU.

A mask is a bit a token, least significant bit first, in words of 32 bits. The kernel
reads each logit and each word once and writes each masked logit once. It is written for
Triton, which torch brings along where it is built for CUDA on Linux.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    #: Packed masks, logits, and where the masked logits go.
    MaskKernel = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], None]

#: Logits that one program of the kernel masks.
_BLOCK: Final = 1024


@lru_cache
def mask_kernel(device: torch.device) -> MaskKernel | None:
    """Return the kernel for a device, tried once; None where it cannot be had.

    It cannot on a processor, without Triton, and where Triton finds no C compiler, as
    its first launch needs one.
    """
    if device.type != "cuda" or find_spec("triton") is None:
        return None
    try:
        packed = torch.zeros(1, 4, dtype=torch.uint8, device=device)
        logits = torch.zeros(1, 32, device=device)
        apply_masks(packed, logits, torch.empty_like(logits))
        torch.cuda.synchronize(device)
    except Exception:  # noqa: BLE001 - Triton raises what compilers and drivers raise; torch masks then
        return None
    return apply_masks


def apply_masks(
    packed: torch.Tensor, logits: torch.Tensor, masked: torch.Tensor
) -> None:
    """Write the logits, minus infinity where a token may not come next.

    A logit that is no number stays none, whether its token is allowed or not.

    Args:
        packed: Masks of shape (texts, bytes), a multiple of 4 bytes a text.
        logits: Of shape (texts, tokens), on the same device; those of a text in a row.
        masked: Where the result goes, of the same shape, float32.
    """
    from evaluation.models.device.triton_kernels import masking  # noqa: PLC0415 - Triton is not everywhere

    texts, tokens = logits.shape
    words = packed.view(torch.int32)
    masking[(texts, -(-tokens // _BLOCK))](
        words,
        logits,
        masked,
        words.stride(0),
        logits.stride(0),
        masked.stride(0),
        tokens,
        block=_BLOCK,
    )
