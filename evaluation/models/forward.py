"""Forward passes of a model over rows."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
import torch.nn.functional as F  # noqa: N812 - as torch's own documents name it
from transformers import DynamicCache, PreTrainedModel

from evaluation.models.hardware import to_device

#: What models call the cache that they are handed.
_CACHE_NAMES: Final = ("past_key_values", "cache_params")


class ForwardPass:
    """Runs a model over tokens; its logits stay where the model is.

    Example:
        >>> forward = ForwardPass(model)
        >>> forward.over([5, 6, 7], DynamicCache(config=model.config)).shape
        (49152,)
    """

    def __init__(self, module: PreTrainedModel) -> None:
        """Look at the arguments of the model's forward."""
        self.module = module
        names = inspect.signature(module.forward).parameters
        #: What it calls its cache; None if it cannot be handed one.
        self.cache_name = next((name for name in _CACHE_NAMES if name in names), None)
        #: Whether it accepts the positions of its tokens.
        self.takes_positions = "position_ids" in names
        self._last_only = "logits_to_keep" in names

    def over(self, tokens: Sequence[int], cache: DynamicCache | None) -> torch.Tensor:
        """Read the tokens of one text; return the logits after the last.

        Args:
            tokens: What follows the tokens that the cache holds; at least one.
            cache: Is filled; None keeps nothing.

        Returns:
            float32, shape (vocabulary,).
        """
        return self.over_texts(torch.tensor([list(tokens)]), cache)[0]

    @torch.inference_mode()
    def over_texts(
        self,
        tokens: torch.Tensor,
        cache: DynamicCache | None,
        positions: torch.Tensor | None = None,
        visible: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Read the next tokens of several texts; return the logits after the last.

        Args:
            tokens: Shape (texts, tokens).
            cache: Holds the earlier ones, and is filled; None keeps nothing.
            positions: Of each token in its text; shape as the tokens. None: as the
                cache counts them.
            visible: Which tokens each may look at, as bool, shape (texts, 1, tokens,
                tokens of the cache and these); None: all up to itself.

        Returns:
            float32, shape (texts, vocabulary).
        """
        arguments: dict[str, object] = {"use_cache": cache is not None}
        if cache is not None and self.cache_name is not None:
            arguments[self.cache_name] = cache
        if positions is not None:
            arguments["position_ids"] = to_device(positions, self.device)
        if visible is not None:
            # A sum in place of a choice: each layer would turn a choice into a sum.
            mask = torch.zeros(visible.shape, dtype=self.module.dtype)
            mask = mask.masked_fill(~visible, torch.finfo(mask.dtype).min)
            arguments["attention_mask"] = to_device(mask, self.device)
        if self._last_only:
            arguments["logits_to_keep"] = 1
        answer = self.module(input_ids=to_device(tokens, self.device), **arguments)
        logits: torch.Tensor = answer.logits
        return logits[:, -1].float()

    @torch.inference_mode()
    def everywhere(self, tokens: Sequence[int]) -> torch.Tensor:
        """Return the logits after each token of one text, read without any cache."""
        rows = torch.tensor([list(tokens)], device=self.device)
        answer = self.module(input_ids=rows, use_cache=False)
        logits: torch.Tensor = answer.logits[0].float()
        return logits

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return self.module.device


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheAbilities:
    """What may be done with the cache of one model."""

    #: Whether it can cache at all.
    keeps: bool = True
    #: Whether several tokens can be fed at once to a cache that holds some.
    several: bool = True
    #: Whether texts of different lengths can share a pass.
    batch: bool = True
    #: Why something cannot; empty where everything can.
    why: str = ""


class TextRow:
    """One text under way with separate passes."""

    def __init__(self, forward: ForwardPass, able: CacheAbilities) -> None:
        """Begin with no token; `able` has the abilities of the model's cache."""
        self._forward = forward
        self._able = able
        config = forward.module.config
        self._cache = DynamicCache(config=config) if able.keeps else None
        self._tokens: list[int] = []

    def feed(self, tokens: Sequence[int]) -> torch.Tensor:
        """Read the next tokens of the text; return the logits after the last."""
        has_begun = bool(self._tokens)
        self._tokens.extend(tokens)
        if not self._able.keeps:
            return self._forward.over(self._tokens, None)
        if self._able.several or not has_begun:
            return self._forward.over(tokens, self._cache)
        for token in tokens:
            logits = self._forward.over([token], self._cache)
        return logits


class SeparateRows:
    """Texts of a batch that each have a separate pass."""

    def __init__(self, forward: ForwardPass, able: CacheAbilities) -> None:
        """Begin with no text."""
        self._forward, self._able = forward, able
        self._rows: list[TextRow] = []

    def admit(self, prompt: Sequence[int]) -> torch.Tensor:
        """Read a prompt as the last row; return the logits after it."""
        self._rows.append(TextRow(self._forward, self._able))
        return self._rows[-1].feed(prompt)

    def feed(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Give each text a pass of its new tokens; return the logits of each row."""
        fed = [
            row.feed(tokens) if tokens else None
            for row, tokens in zip(self._rows, rows, strict=True)
        ]
        some = next(logits for logits in fed if logits is not None)
        return torch.stack([some if logits is None else logits for logits in fed])

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these texts only."""
        self._rows = [self._rows[row] for row in rows]


class SharedRows:
    """Texts that share every pass: their tokens end together in one cache."""

    def __init__(self, forward: ForwardPass) -> None:
        """Begin with no text."""
        self._forward = forward
        self._cache: DynamicCache | None = None
        #: Which tokens of the cache are a text's own, shape (texts, tokens).
        self._held = torch.zeros((0, 0), dtype=torch.bool)

    def admit(self, prompt: Sequence[int]) -> torch.Tensor:
        """Read a prompt as the last row; return the logits after it."""
        cache = DynamicCache(config=self._forward.module.config)
        logits = self._forward.over(prompt, cache)
        held = torch.ones((1, cache.get_seq_length()), dtype=torch.bool)
        if self._cache is None:
            self._cache, self._held = cache, held
            return logits
        size = max(held.shape[1], self._held.shape[1])
        self._held = torch.cat([_padded(self._held, size), _padded(held, size)])
        for layer, new in zip(self._cache.layers, cache.layers, strict=True):
            for name in ("keys", "values"):
                both = [getattr(layer, name), getattr(new, name)]
                padded = [_padded(part.transpose(2, 3), size) for part in both]
                setattr(layer, name, torch.cat(padded).transpose(2, 3))
        return logits

    def feed(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Run one pass over the new tokens of each row; return the logits of each."""
        if self._cache is None:
            raise ValueError(rows)
        width = max(map(len, rows))
        fed = torch.tensor([[0] * (width - len(row)) + list(row) for row in rows])
        new = torch.tensor(
            [[False] * (width - len(row)) + [True] * len(row) for row in rows]
        )
        held = torch.cat([self._held, new], dim=1)
        positions = (held.cumsum(dim=1) - 1).clamp(min=0)[:, -width:]
        visible = None
        if not held.all():
            columns = torch.arange(held.shape[1])
            earlier = columns[None, :] <= columns[-width:, None]
            visible = (held[:, None, :] & earlier)[:, None]
        logits = self._forward.over_texts(fed, self._cache, positions, visible)
        self._held = held
        return logits

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these texts only."""
        if self._cache is None or not rows:
            self._cache = None
            return
        held = self._held[list(rows)]
        columns = held.any(dim=0).nonzero()[:, 0]
        self._held = held[:, columns]
        for layer in self._cache.layers:
            for name in ("keys", "values"):
                part = getattr(layer, name)[list(rows)]
                setattr(layer, name, part[:, :, columns.to(part.device)])


def _padded(part: torch.Tensor, size: int) -> torch.Tensor:
    """Return a tensor padded with zeros before its last dimension's entries."""
    return F.pad(part, (size - part.shape[-1], 0))
