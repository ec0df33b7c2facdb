"""One forward pass of a transformers model, whatever its signature."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Final

import torch

from evaluation.models.device.transfer import to_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformers import Cache, DynamicCache, PreTrainedModel

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
        """Look at what the model's forward takes."""
        self.module = module
        names = inspect.signature(module.forward).parameters
        #: What it calls its cache; None if it cannot be handed one.
        self.cache_name = next((name for name in _CACHE_NAMES if name in names), None)
        #: Whether it can be told the positions of its tokens.
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
        return self.batch([tokens], cache)[0]

    @torch.inference_mode()
    def batch(
        self,
        tokens: Sequence[Sequence[int]],
        cache: DynamicCache | None,
        positions: torch.Tensor | None = None,
        seen: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Read as many tokens of every text; return the logits after the last ones.

        Args:
            tokens: A row for each text, all of one length.
            cache: Is filled; None keeps nothing.
            positions: The place of each token in its text; None: the next ones.
            seen: 1 for each token of cache and rows that is one, 0 for padding; None
                where there is no padding.

        Returns:
            float32, shape (texts, vocabulary).
        """
        given: dict[str, object] = {"use_cache": cache is not None}
        if cache is not None and self.cache_name is not None:
            given[self.cache_name] = cache
        if positions is not None:
            given["position_ids"] = positions
        if seen is not None:
            given["attention_mask"] = seen
        if self._last_only:
            given["logits_to_keep"] = 1
        answer = self.module(
            input_ids=to_device(
                torch.tensor([list(row) for row in tokens]), self.device
            ),
            **given,
        )
        found: torch.Tensor = answer.logits[:, -1].float()
        return found

    def over_places(
        self,
        tokens: torch.Tensor,
        cache: Cache,
        positions: torch.Tensor,
        seen: torch.Tensor,
        keep: int,
    ) -> torch.Tensor:
        """Read tokens of texts that each have a place in a cache of fixed size.

        Args:
            tokens: Shape (places, tokens).
            cache: Is written to.
            positions: Of each token in its text; shape as the tokens.
            seen: Which tokens of its place each may look at, as bool, shape (places,
                1, tokens, tokens of a place).
            keep: After how many of the last tokens logits are wanted; 0: all.

        Returns:
            In the model's number type, shape (places, tokens, vocabulary).
        """
        mask = seen
        if self.module.config._attn_implementation == "eager":  # noqa: SLF001 - nothing public says it
            lowest = torch.finfo(self.module.dtype).min
            mask = torch.zeros_like(seen, dtype=self.module.dtype)
            mask = mask.masked_fill(~seen, lowest)
        given: dict[str, object] = {self.cache_name or "past_key_values": cache}
        if self._last_only:
            given["logits_to_keep"] = keep
        answer = self.module(
            input_ids=tokens,
            position_ids=positions,
            attention_mask=mask,
            use_cache=True,
            **given,
        )
        found: torch.Tensor = answer.logits
        return found

    @torch.inference_mode()
    def everywhere(self, tokens: Sequence[int]) -> torch.Tensor:
        """Return the logits after each token of one text, read without any cache."""
        rows = torch.tensor([list(tokens)], device=self.device)
        answer = self.module(input_ids=rows, use_cache=False)
        found: torch.Tensor = answer.logits[0].float()
        return found

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return self.module.device
