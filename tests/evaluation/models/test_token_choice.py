"""Tokens are chosen where the logits are: the best of what a mask allows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.late import Late

if TYPE_CHECKING:
    import torch

    from evaluation.generation import loop
    from evaluation.models.hardware import DeviceClock
    from evaluation.models.token_choice import (
        ChosenToken,
        RowLogits,
        RowMask,
        TokenChooser,
        TokenQuestion,
    )
else:
    torch = Late("torch")
    loop = Late("evaluation.generation.loop")
    DeviceClock = Late("evaluation.models.hardware", "DeviceClock")
    ChosenToken = Late("evaluation.models.token_choice", "ChosenToken")
    RowLogits = Late("evaluation.models.token_choice", "RowLogits")
    RowMask = Late("evaluation.models.token_choice", "RowMask")
    TokenChooser = Late("evaluation.models.token_choice", "TokenChooser")
    TokenQuestion = Late("evaluation.models.token_choice", "TokenQuestion")

_SIZE = 77


def _chooser(tie: float = 0.0) -> TokenChooser:
    cpu = torch.device("cpu")
    return TokenChooser(cpu, DeviceClock(cpu), tie)


def _by_hand(logits: np.ndarray, allowed: np.ndarray) -> ChosenToken:
    """Return the first of the best tokens, looked for one by one."""
    best, found = -math.inf, 0
    for token, logit in enumerate(logits.tolist()):
        inside = token < len(allowed) and bool(allowed[token])
        if inside and logit > best:
            best, found = logit, token
    return ChosenToken(token=found, best=best)


_rows = st.lists(
    st.tuples(
        st.lists(
            st.sampled_from([-2.5, 0.0, 1.0, 7.25]), min_size=_SIZE, max_size=_SIZE
        ),
        st.lists(st.booleans(), min_size=128, max_size=128),
    ),
    min_size=1,
    max_size=3,
)


@given(rows=_rows, masked=st.booleans())
def test_the_choice_is_what_looking_at_each_token_finds(
    *, rows: list[tuple[list[float], list[bool]]], masked: bool
) -> None:
    """Several texts, and masks that are longer than the logits, or none."""
    logits = torch.tensor([row[0] for row in rows])
    bits = np.array([row[1] for row in rows], np.uint8) if masked else None
    packed = None if bits is None else np.packbits(bits, axis=1, bitorder="little")
    asked, wanted = [], []
    for place, (held, _) in enumerate(rows):
        mask = None if packed is None else RowMask(of=packed, row=place)
        row = RowLogits(of=logits, row=place)
        asked.append(TokenQuestion(logits=row, allowed=mask))
        allowed = np.ones(_SIZE, np.uint8) if bits is None else bits[place]
        wanted.append(_by_hand(np.array(held, np.float32), allowed))
    found = _chooser().choose(asked).tokens
    assert [one.best for one in found] == [one.best for one in wanted]
    for one, right in zip(found, wanted, strict=True):
        assert one.token == right.token or right.best == -math.inf


def test_masks_are_read_where_they_were_written() -> None:
    """Rows of one memory, in order or not, once or twice; none is copied before."""
    drawn = np.random.default_rng(0)
    logits = torch.from_numpy(drawn.standard_normal((3, _SIZE)).astype(np.float32))
    masks = drawn.integers(0, 256, (4, 16), np.uint8)
    bits = np.unpackbits(masks, axis=1, bitorder="little")[:, :_SIZE]
    chooser = _chooser()
    rows = [RowMask(of=masks, row=row) for row in range(4)]
    for order in [1, 2, 3], [3, 0, 2], [2, 2], [1]:
        given, _, _ = chooser.masked([rows[row] for row in order], logits[: len(order)])
        assert (np.isfinite(given.numpy()) == bits[order]).all()
    packed = chooser._on_device(rows[1:], 12)
    masks[2, 3] ^= 0xFF
    assert packed[1, 3] == masks[2, 3], "a copy of the memory"


def test_rows_may_come_from_several_passes() -> None:
    """A text that waited for its grammar is chosen for beside one that was fed."""
    first, second = torch.zeros(2, _SIZE), torch.zeros(1, _SIZE)
    first[1, 5], first[0, 6], second[0, 9] = 1.0, 1.0, 1.0
    rows = [RowLogits(of=first, row=1), RowLogits(of=second), RowLogits(of=first)]
    asked = [TokenQuestion(logits=row) for row in rows]
    for order in ([0, 1, 2], [2, 0], [0, 2], [1], [0]):
        chosen = _chooser().choose([asked[place] for place in order]).tokens
        assert [one.token for one in chosen] == [(5, 9, 6)[place] for place in order]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("is_allowed", [True, False])
def test_what_is_no_number_is_never_a_choice(bad: float, *, is_allowed: bool) -> None:
    """Also where the mask forbids the token: the model computes nothing sound."""
    logits = torch.zeros(2, _SIZE)
    logits[0, 17] = bad
    mask = np.full((1, 12), 0xFF, np.uint8)
    mask[0, 2] = 0xFF if is_allowed else 0xFD
    allowed = RowMask(of=mask)
    asked = [
        TokenQuestion(logits=RowLogits(of=logits, row=row), allowed=allowed)
        for row in (0, 1)
    ]
    first, second = _chooser().choose(asked).tokens
    with pytest.raises(loop.LogitsError):
        loop.is_choice(first.best)
    assert loop.is_choice(second.best)


def test_nothing_allowed_is_no_choice() -> None:
    """Neither a token nor an end."""
    none = RowMask(of=np.zeros((1, 12), np.uint8))
    asked = TokenQuestion(logits=RowLogits(of=torch.zeros(1, _SIZE)), allowed=none)
    assert not loop.is_choice(_chooser().choose([asked]).tokens[0].best)


def test_a_near_token_is_told_where_it_is_looked_for() -> None:
    """By its share of the best logit; a forbidden one is not near."""
    logits = torch.zeros(1, _SIZE)
    logits[0, 20], logits[0, 21] = 8.0, 7.75
    chooser = _chooser(tie=1 / 16)
    row = RowLogits(of=logits)
    bits = np.full((1, 12), 0xFF, np.uint8)
    bits[0, 21 >> 3] &= ~np.uint8(1 << (21 & 7))
    mask = RowMask(of=bits)
    for allowed, looked, wanted in (
        (None, True, True),
        (None, False, False),
        (mask, True, False),
    ):
        asked = TokenQuestion(logits=row, allowed=allowed, look_for_ties=looked)
        assert chooser.choose([asked]).tokens[0].tied is wanted


def test_tokens_are_drawn_by_their_weights() -> None:
    """Where the temperature is above 0, and for these texts alone."""
    logits = torch.full((2, _SIZE), -50.0)
    logits[:, 10], logits[:, 11] = math.log(3.0), 0.0
    drawn = []
    for share in (0.01, 0.74, 0.76, 0.999):
        asked = [
            TokenQuestion(logits=RowLogits(of=logits), temperature=1.0, draw=share),
            TokenQuestion(logits=RowLogits(of=logits, row=1), draw=share),
        ]
        first, second = _chooser().choose(asked).tokens
        drawn.append(first.token)
        assert second.token == 10
    assert drawn == [10, 10, 11, 11]
