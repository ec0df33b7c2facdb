"""The kernel that masks on a GPU does there what numpy does here.

It runs in Triton's interpreter, which needs no GPU, and is compiled for an H100, which
needs none either. Where Triton is not installed neither is done.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from evaluation.models.token_choice import mask_kernel

pytest.importorskip("triton", reason="Triton is not installed")

_INTERPRETED = """
import numpy as np
import torch
from evaluation.models.token_choice import apply_masks

drawn = torch.Generator().manual_seed(0)
for dtype in torch.float32, torch.bfloat16:
    for texts, tokens in (1, 5), (3, 77), (2, 1024), (4, 2500):
        logits = torch.randn(texts + 1, tokens, generator=drawn).to(dtype)[:texts]
        logits[0, 1], logits[-1, 2], logits[0, 3] = np.nan, -np.inf, np.inf
        width = -(-tokens // 32) * 4
        packed = torch.randint(0, 256, (texts, width), generator=drawn).to(torch.uint8)
        room = torch.full((texts, tokens + 8), 7.0)
        apply_masks(packed, logits, room[:, :tokens])
        bits = np.unpackbits(packed.numpy(), axis=1, bitorder="little")[:, :tokens]
        wanted = logits.float().numpy() + np.where(bits, np.float32(0), -np.inf)
        np.testing.assert_array_equal(room[:, :tokens].numpy(), wanted)
        assert (room[:, tokens:] == 7).all(), "written beyond the end"
        print(dtype, texts, tokens)
"""
_CHOSEN = """
import numpy as np
import torch
from evaluation.models.base import RowLogits, RowMask, TokenQuestion
from evaluation.models.token_choice import TokenChooser
from evaluation.models.hardware import DeviceClock
from evaluation.models.token_choice import apply_masks

cpu = torch.device("cpu")
plain, other = (TokenChooser(cpu, DeviceClock(cpu), 0.1) for _ in "12")
other._kernel = apply_masks
drawn = np.random.default_rng(0)
logits = torch.from_numpy(drawn.standard_normal((4, 1500), np.float32))
masks = drawn.integers(0, 256, (4, 196), np.uint8)
asked = [
    TokenQuestion(logits=RowLogits(of=logits, row=row), look_for_ties=row == 2,
                  allowed=RowMask(of=masks, row=row))
    for row in range(4)
]
for texts in asked, asked[:1], asked[1:3], asked[2:0:-1]:
    print(plain.choose(texts).tokens == other.choose(texts).tokens)
"""
_COMPILED = """
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
from evaluation.models.triton_kernels import masking

kinds = "*i32 LOGITS *fp32 i32 i32 i32 i32 constexpr".split()
for logits in "*fp32", "*bf16":
    given = {name: logits if kind == "LOGITS" else kind
             for name, kind in zip(masking.arg_names, kinds, strict=True)}
    source = ASTSource(fn=masking, signature=given, constexprs={"block": 1024})
    made = compile(source, target=GPUTarget("cuda", 90, 32))
    print(logits, len(made.asm["cubin"]) > 0)
"""


def _run(code: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_interpreted_it_masks_as_numpy_does() -> None:
    """Any length, rows of longer tables, no numbers and infinities, bf16 and fp32."""
    assert len(_run(_INTERPRETED, TRITON_INTERPRET="1")) == 8


@pytest.mark.slow
def test_tokens_chosen_with_it_are_the_same() -> None:
    """Masks that are longer than the logits, ties, any order."""
    assert _run(_CHOSEN, TRITON_INTERPRET="1") == ["True"] * 4


@pytest.mark.slow
def test_it_compiles_for_a_gpu() -> None:
    """What the interpreter takes the compiler may refuse, annotations for one."""
    assert _run(_COMPILED, TRITON_INTERPRET="0") == ["*fp32 True", "*bf16 True"]


def test_a_processor_has_none() -> None:
    """There numpy unpacks the masks, which is faster."""
    assert mask_kernel(torch.device("cpu"), 77) is None
