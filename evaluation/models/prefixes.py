"""The prefix cache: what prompts share is prefilled once (Appendix E of the paper).

Only the part that a batch has in common with the prompts before it is kept, so that
memory does not grow: for a benchmark whose prompts begin alike it is all there is
to reuse.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from transformers import DynamicCache


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
        >>> prefixes = PrefixCache(lambda: DynamicCache(config=model.config))
        >>> cache, held = prefixes.take(prompts, fill)
    """

    def __init__(self, new: Callable[[], DynamicCache]) -> None:
        """Begin with nothing kept.

        Args:
            new: Returns an empty cache.
        """
        self._new = new
        self._last: tuple[int, ...] = ()
        self._tokens: tuple[int, ...] = ()
        self._cache: DynamicCache | None = None

    def take(
        self,
        prompts: Sequence[Sequence[int]],
        fill: Callable[[DynamicCache, Sequence[int]], None],
    ) -> tuple[DynamicCache, int]:
        """Return a cache for all prompts, and how many tokens of each it holds.

        At least one token of every prompt is left to feed.

        Args:
            prompts: The tokens of each prompt.
            fill: Runs the model over tokens, so that a cache holds them too.
        """
        wanted = self._shared_prefix(prompts)
        self._last = tuple(prompts[0])
        if not wanted:
            return self._new(), 0
        kept = self._take_kept(wanted)
        held = kept.get_seq_length()
        if held < len(wanted):
            fill(kept, wanted[held:])
        self._tokens, self._cache = wanted, kept
        ours = copy.deepcopy(kept)
        if len(prompts) > 1:
            ours.batch_repeat_interleave(len(prompts))
        return ours, len(wanted)

    def _shared_prefix(self, prompts: Sequence[Sequence[int]]) -> tuple[int, ...]:
        rows = [*prompts, self._last] if self._last else list(prompts)
        alone = len(rows) == 1
        length = 0 if alone else shared_length(rows)
        return tuple(
            prompts[0][: min(length, *(len(prompt) - 1 for prompt in prompts))]
        )

    def _take_kept(self, wanted: Sequence[int]) -> DynamicCache:
        """Return the cache kept, cropped to what it has in common with the wanted.

        It is given away: the caller puts it back when it is filled.
        """
        cache, self._cache = self._cache, None
        known = shared_length([self._tokens, wanted])
        if cache is None or not known:
            return self._new()
        beyond = cache.get_seq_length() - known
        if beyond and not cache.is_croppable:
            return self._new()
        if beyond:
            cache.crop(-beyond)
        return cache
