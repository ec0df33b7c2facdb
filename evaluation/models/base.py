"""Questions to a model that runs in this process, and its answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import torch


#: Work that a device was given, between two of its moments: returns how long it took,
#: in nanoseconds, and waits until it is done.
TimedWork: TypeAlias = "Callable[[], int]"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLogits:
    """The logits of one text, where its model is."""

    #: Those of all texts of the pass: float32, shape (texts, vocabulary).
    of: torch.Tensor
    #: Which of them is meant.
    row: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMask:
    """The token mask of one text, where its engine has written it."""

    #: Those of all texts of the engine: `uint8`, shape (texts, bytes), a bit for each
    #: token, the lowest of a byte first; a token beyond them may not come next.
    of: np.ndarray
    #: Which of them is meant.
    row: int = 0


def mask_bytes(size: int) -> int:
    """Return the bytes of a packed mask over so many tokens: whole 32-bit words."""
    return -(-size // 32) * 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenQuestion:
    """From what the next token of one text is chosen."""

    logits: RowLogits
    #: None allows all; of a batch that is all or none.
    allowed: RowMask | None = None
    #: 0 takes the likeliest token; above, one is drawn.
    temperature: float = 0.0
    #: From 0 to 1: which one.
    draw: float = 0.0
    look_for_ties: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenToken:
    """What was chosen for one text."""

    token: int
    #: The best logit of those that are allowed: minus infinity where none is.
    best: float
    #: Whether another token is so close that sums in another order might choose it;
    #: False if not requested.
    tied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTokens:
    """What was chosen for the texts of a batch; the device has done all till then."""

    tokens: Sequence[ChosenToken]
    #: Transfer of the masks to the device, and applying them; None without masks.
    transfer: TimedWork | None
    apply: TimedWork | None
    #: Choosing, or drawing.
    sampling: TimedWork
