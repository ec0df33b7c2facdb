"""Forward passes of a model over rows, and the cached prefixes of prompts."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, Protocol

import torch
import torch.nn.functional as F  # noqa: N812 - as torch's own documents name it
from transformers import Cache, DynamicCache, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from evaluation.models.hardware import to_device

if TYPE_CHECKING:
    from transformers.cache_utils import CacheLayerMixin

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

    @torch.inference_mode()
    def over(self, tokens: Sequence[int], cache: DynamicCache | None) -> torch.Tensor:
        """Read the tokens of one text; return the logits after the last.

        Args:
            tokens: What follows the tokens that the cache holds; at least one.
            cache: Is filled; None keeps nothing.

        Returns:
            float32, shape (vocabulary,).
        """
        arguments: dict[str, object] = {"use_cache": cache is not None}
        if cache is not None and self.cache_name is not None:
            arguments[self.cache_name] = cache
        if self._last_only:
            arguments["logits_to_keep"] = 1
        row = to_device(torch.tensor([list(tokens)]), self.device)
        logits: torch.Tensor = self.module(input_ids=row, **arguments).logits
        return logits[0, -1].float()

    def over_places(
        self,
        tokens: torch.Tensor,
        cache: Cache,
        positions: torch.Tensor,
        visible: torch.Tensor,
        keep: int,
    ) -> torch.Tensor:
        """Read tokens of texts that each have a place in a cache of fixed size.

        Args:
            tokens: Shape (places, tokens).
            cache: Is written to.
            positions: Of each token in its text; shape as the tokens.
            visible: Which tokens of its place each may look at, as bool, shape (places,
                1, tokens, tokens of a place).
            keep: After how many of the last tokens logits are wanted; 0: all.

        Returns:
            In the model's number type, shape (places, tokens, vocabulary).
        """
        # A sum in place of a choice: of a choice each layer would make a sum.
        lowest = torch.finfo(self.module.dtype).min
        mask = torch.zeros_like(visible, dtype=self.module.dtype)
        mask = mask.masked_fill(~visible, lowest)
        arguments: dict[str, object] = {self.cache_name or "past_key_values": cache}
        if self._last_only:
            arguments["logits_to_keep"] = keep
        answer = self.module(
            input_ids=tokens,
            position_ids=positions,
            attention_mask=mask,
            use_cache=True,
            **arguments,
        )
        logits: torch.Tensor = answer.logits
        return logits

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


@contextmanager
def grouped_queries() -> Iterator[None]:
    """Have `sdpa` read each key and value once under a mask: it would repeat them."""
    ALL_ATTENTION_FUNCTIONS["sdpa"] = _attend_in_groups
    try:
        yield
    finally:
        del ALL_ATTENTION_FUNCTIONS["sdpa"]


def _attend_in_groups(  # noqa: PLR0913, PLR0917 - as transformers calls it
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **named: Any,  # noqa: ANN401 - whatever transformers hands on
) -> tuple[torch.Tensor, None]:
    """Return attention whose queries of one key stand in rows beneath each other."""
    texts, heads, tokens, _ = query.shape
    groups = heads // key.shape[1]
    if (
        attention_mask is None
        or groups == 1
        or attention_mask.shape[1] != 1
        or named.get("position_bias") is not None
    ):
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout, scaling, **named
        )
    mask = attention_mask if tokens == 1 else attention_mask.repeat(1, 1, groups, 1)
    rows = query.reshape(texts, key.shape[1], groups * tokens, -1)
    found = F.scaled_dot_product_attention(
        rows, key, value, mask, dropout, scale=scaling
    )
    return found.reshape(texts, heads, tokens, -1).transpose(1, 2).contiguous(), None


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


def cached_tokens(layer: CacheLayerMixin) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what a layer holds.

    Raises:
        TypeError: nothing.
    """
    if layer.keys is None or layer.values is None:
        raise TypeError
    return layer.keys, layer.values


#: Tokens of a block of which prompts may have some in common.
BLOCK: Final = 128


def shared_length(rows: Sequence[Sequence[int]]) -> int:
    """Return how many leading tokens all rows have in common."""
    places = zip(*rows, strict=False)
    return sum(1 for _ in takewhile(lambda tokens: len(set(tokens)) == 1, places))


class PrefixCache:
    """Keeps the keys and values of the last shared prefix.

    Example:
        >>> prefixes = PrefixCache(ForwardPass(model))
        >>> *_, (cache, logits, reused) = prefixes.read(prompt)
    """

    def __init__(self, forward: ForwardPass, block: int = BLOCK) -> None:
        """Begin with nothing kept; so many tokens are read at a time."""
        self._forward = forward
        self._block = block
        self._last: tuple[int, ...] = ()
        self._cached_tokens: tuple[int, ...] = ()
        self._cache = self._new()

    def _new(self) -> DynamicCache:
        return DynamicCache(config=self._forward.module.config)

    def read(
        self, prompt: Sequence[int]
    ) -> Iterator[tuple[DynamicCache, torch.Tensor, int] | None]:
        """Read a prompt, block by block.

        Yields:
            None after each block; at last a cache that holds the prompt, the logits
            after it, and how many of its tokens were not read now.
        """
        block = self._block
        shared = _whole_blocks(
            min(shared_length([self._last, prompt]), len(prompt) - 1)
        )
        self._last = tuple(prompt)
        cached = _whole_blocks(shared_length([self._cached_tokens, prompt[:shared]]))
        if cached < len(self._cached_tokens):
            self._crop(cached)
            cached = len(self._cached_tokens)
        for start in range(cached, shared, BLOCK):
            try:
                self._forward.over(prompt[start : start + BLOCK], self._cache)
            except Exception:
                # Some of its layers may hold the block.
                self._cached_tokens, self._cache = (), self._new()
                raise
            self._cached_tokens = self._last[: start + BLOCK]
            yield None
        cache = copy.deepcopy(self._cache)
        for start in range(shared, len(prompt), block):
            logits = self._forward.over(prompt[start : start + block], cache)
            if start + block < len(prompt):
                yield None
        yield cache, logits, cached

    def _crop(self, length: int) -> None:
        """Forget what is kept beyond a length; all of it where that cannot be done."""
        self._cached_tokens = self._cached_tokens[:length]
        if length and self._cache.is_croppable and not any(self._cache.is_sliding):
            self._cache.crop(length - self._cache.get_seq_length())
        else:
            self._cached_tokens, self._cache = (), self._new()


def _whole_blocks(length: int) -> int:
    return max(0, length) // BLOCK * BLOCK
