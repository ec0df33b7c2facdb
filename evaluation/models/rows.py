"""Texts under way: one at a time over its own cache, or several in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import torch
import torch.nn.functional as F  # noqa: N812 - as torch's own documents name it
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from evaluation.models.device.transfer import to_device

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evaluation.models.forward import ForwardPass


class TextRow(Protocol):
    """One text under way."""

    def feed(self, tokens: Sequence[int]) -> torch.Tensor:
        """Read the next tokens of the text; return the logits after the last."""


class CachedRow:
    """A text over a cache of its own."""

    def __init__(
        self, forward: ForwardPass, cache: DynamicCache | None = None, *, several: bool
    ) -> None:
        """Go on from a cache.

        Args:
            forward: The model's forward pass.
            cache: What has been read of the text; None for nothing.
            several: Whether the model can be fed several tokens at once where its
                cache holds some.
        """
        self._forward = forward
        self._several = several
        self._begun = cache is not None
        self._cache = cache or DynamicCache(config=forward.module.config)

    def feed(self, tokens: Sequence[int]) -> torch.Tensor:
        """Read the next tokens of the text; return the logits after the last."""
        if self._several or not self._begun:
            self._begun = True
            return self._forward.over(tokens, self._cache)
        for token in tokens:
            logits = self._forward.over([token], self._cache)
        return logits


class WholeRow:
    """A text that is read again, whole, for each of its tokens."""

    def __init__(self, forward: ForwardPass) -> None:
        """Begin with no token."""
        self._forward = forward
        self._tokens: list[int] = []

    def feed(self, tokens: Sequence[int]) -> torch.Tensor:
        """Read the text with its next tokens; return the logits after the last."""
        self._tokens.extend(tokens)
        return self._forward.over(self._tokens, None)


class SeparateRows:
    """Texts of a batch that each have a pass of their own."""

    def __init__(self) -> None:
        """Begin with no text."""
        self._rows: list[TextRow] = []

    def admit(self, row: TextRow) -> None:
        """Take in a text whose prompt has been read."""
        self._rows.append(row)

    def feed(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Give each text a pass; see `evaluation.models.base.Decoding`."""
        fed = [
            row.feed(tokens) if tokens else None
            for row, tokens in zip(self._rows, rows, strict=True)
        ]
        some = next(logits for logits in fed if logits is not None)
        return torch.stack([some if logits is None else logits for logits in fed])

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these texts only."""
        self._rows = [self._rows[row] for row in rows]


class BatchRows:
    """Texts that share every pass over one cache, padded on the left at each step."""

    def __init__(self, forward: ForwardPass) -> None:
        """Begin with no text."""
        self._forward = forward
        self._cache: DynamicCache | None = None
        self._positions: list[int] = []
        self._seen = torch.ones((0, 0), dtype=torch.long, device=forward.device)
        #: Whether there is padding that must not be looked at.
        self._padded = False

    @torch.inference_mode()
    def admit(self, cache: DynamicCache) -> None:
        """Take in a text by the cache that holds its prompt, which is taken over."""
        length = cache.get_seq_length()
        new = torch.ones((1, length), dtype=torch.long, device=self._forward.device)
        if self._cache is None or not self._positions:
            self._cache, self._seen, self._positions = cache, new, [length]
            self._padded = False
            return
        width = max(length, self._seen.shape[1])
        _change(self._cache, lambda held: _widen(held, width))
        _change(cache, lambda held: _widen(held, width))
        for ours, theirs in zip(_layers(self._cache), _layers(cache), strict=True):
            both = [_held(ours), _held(theirs)]
            ours.keys = torch.cat([keys for keys, _ in both])
            ours.values = torch.cat([values for _, values in both])
        self._seen = torch.cat(
            [
                F.pad(self._seen, (width - self._seen.shape[1], 0)),
                F.pad(new, (width - length, 0)),
            ]
        )
        self._positions.append(length)
        self._padded = not bool(self._seen.all())

    @torch.inference_mode()
    def feed(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Run one forward pass; see `evaluation.models.base.Decoding`."""
        width = max(map(len, rows))
        tokens, positions, mask = [], [], []
        for index, row in enumerate(rows):
            padding, start = width - len(row), self._positions[index]
            tokens.append([0] * padding + list(row))
            positions.append([0] * padding + list(range(start, start + len(row))))
            mask.append([0] * padding + [1] * len(row))
            self._positions[index] = start + len(row)
        device = self._forward.device
        new = to_device(torch.tensor(mask), device)
        self._seen = torch.cat([self._seen, new], dim=1)
        self._padded = self._padded or any(len(row) < width for row in rows)
        if len(rows) == 1 and not self._padded:
            return self._forward.batch(tokens, self._cache)
        return self._forward.batch(
            tokens,
            self._cache,
            to_device(torch.tensor(positions), device),
            self._seen if self._padded else None,
        )

    @torch.inference_mode()
    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these texts only, without the padding that only others needed."""
        if not rows or self._cache is None:
            self._cache, self._positions = None, []
            return
        chosen = torch.tensor(list(rows), device=self._forward.device)
        self._positions = [self._positions[row] for row in rows]
        self._seen = self._seen[chosen]
        first = int(self._seen.any(dim=0).to(torch.uint8).argmax())
        self._seen = self._seen[:, first:]
        self._padded = not bool(self._seen.all())
        _change(self._cache, lambda held: held[chosen][:, :, first:])


def _change(
    cache: DynamicCache, change: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    """Change keys and values of every layer, of shape (texts, heads, tokens, size)."""
    for layer in _layers(cache):
        keys, values = _held(layer)
        layer.keys, layer.values = change(keys), change(values)


def _layers(cache: DynamicCache) -> list[DynamicLayer]:
    """Return the layers that hold something."""
    layers = [layer for layer in cache.layers if isinstance(layer, DynamicLayer)]
    return [layer for layer in layers if layer.is_initialized]


def _held(layer: DynamicLayer) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what a layer holds.

    Raises:
        TypeError: nothing.
    """
    if layer.keys is None or layer.values is None:
        raise TypeError
    return layer.keys, layer.values


def _widen(held: torch.Tensor, width: int) -> torch.Tensor:
    return F.pad(held, (0, 0, width - held.shape[2], 0))
