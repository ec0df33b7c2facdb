"""The prefix cache: what prompts share is read once (Appendix E of the paper).

Sums in another order have other last bits, and a text may turn on them. So prompts are
read in blocks of a fixed size wherever a prefix cache is used, and only whole blocks
are taken over: a text is the same whatever was written before it.

Only the part that a prompt has in common with the one before it is kept, so that
memory does not grow: for a benchmark whose prompts begin alike it is all there is
to reuse.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Final

from transformers import DynamicCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from evaluation.models.forward import ForwardPass

#: Tokens of a block.
BLOCK: Final = 128


def shared_length(rows: Sequence[Sequence[int]]) -> int:
    """Return how many leading tokens all rows have in common."""
    if not rows:
        return 0
    first = rows[0]
    shortest = min(map(len, rows))
    for position in range(shortest):
        if any(row[position] != first[position] for row in rows):
            return position
    return shortest


class PrefixCache:
    """Keeps the keys and values of the last shared prefix.

    Example:
        >>> prefixes = PrefixCache(ForwardPass(model))
        >>> cache, logits, reused = prefixes.read(prompt)
    """

    def __init__(self, forward: ForwardPass) -> None:
        """Begin with nothing kept."""
        self._forward = forward
        self._last: tuple[int, ...] = ()
        self._held: tuple[int, ...] = ()
        self._cache = self._new()

    def _new(self) -> DynamicCache:
        return DynamicCache(config=self._forward.module.config)

    def read(self, prompt: Sequence[int]) -> tuple[DynamicCache, torch.Tensor, int]:
        """Read a prompt, block by block.

        Returns:
            A cache that holds the prompt, the logits after it, and how many of its
            tokens were not read now.
        """
        shared = _whole_blocks(
            min(shared_length([self._last, prompt]), len(prompt) - 1)
        )
        self._last = tuple(prompt)
        known = _whole_blocks(shared_length([self._held, prompt[:shared]]))
        if known < len(self._held):
            self._crop(known)
            known = len(self._held)
        for start in range(known, shared, BLOCK):
            self._forward.over(prompt[start : start + BLOCK], self._cache)
        self._held = self._last[:shared]
        cache = copy.deepcopy(self._cache)
        for start in range(shared, len(prompt), BLOCK):
            logits = self._forward.over(prompt[start : start + BLOCK], cache)
        return cache, logits, known

    def _crop(self, length: int) -> None:
        """Forget what is kept beyond a length; all of it where that cannot be done."""
        self._held = self._held[:length]
        if length and self._cache.is_croppable and not any(self._cache.is_sliding):
            self._cache.crop(length - self._cache.get_seq_length())
        else:
            self._held, self._cache = (), self._new()


def _whole_blocks(length: int) -> int:
    return max(0, length) // BLOCK * BLOCK
