"""Kernels in Triton's language; importing this needs Triton."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def masking(
    words,
    logits,
    masked,
    words_a_row,
    logits_a_row,
    masked_a_row,
    tokens,
    block: tl.constexpr,
):
    """Mask one block of one text's logits; see `mask_kernel.apply_masks`."""
    row = tl.program_id(0).to(tl.int64)
    token = tl.program_id(1) * block + tl.arange(0, block)
    inside = token < tokens
    word = tl.load(words + row * words_a_row + token // 32, mask=inside, other=0)
    logit = tl.load(logits + row * logits_a_row + token, mask=inside, other=0.0)
    penalty = tl.where((word >> (token % 32)) & 1 == 1, 0.0, float("-inf"))
    tl.store(masked + row * masked_a_row + token, logit + penalty, mask=inside)
