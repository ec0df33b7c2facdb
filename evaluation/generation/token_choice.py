"""Choosing the next token from logits and a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from evaluation.generation.engine_session import TokenMask


class TokenPicker:
    """Chooses the tokens of one text; greedy unless the temperature is above 0."""

    def __init__(
        self, end_tokens: frozenset[int], *, temperature: float, seed: int
    ) -> None:
        """Prepare for one text.

        Args:
            end_tokens: The tokens of which any ends the text.
            temperature: 0 takes the likeliest token; above, tokens are drawn.
            seed: Of the draw.
        """
        self._ends = sorted(end_tokens)
        self._temperature = temperature
        self._seed = seed
        self._generator: torch.Generator | None = None

    def pick(self, logits: torch.Tensor, mask: TokenMask | None) -> int | None:
        """Return the next token; None where the mask allows none and no end.

        Args:
            logits: The model's scores, of shape (vocabulary,).
            mask: What may come next; tokens beyond its end may not. None allows all.
        """
        if mask is not None:
            allowed = torch.zeros(logits.shape, dtype=torch.bool)
            size = min(len(mask.allowed), len(logits))
            allowed[:size] = torch.from_numpy(mask.allowed[:size])
            allowed[self._ends] = mask.may_end
            if not allowed.any():
                return None
            logits = logits.masked_fill(~allowed.to(logits.device), -torch.inf)
        if not self._temperature:
            return int(logits.argmax())
        chances = torch.softmax(logits.double() / self._temperature, dim=-1)
        return int(torch.multinomial(chances.cpu(), 1, generator=self._draws()))

    def _draws(self) -> torch.Generator:
        if self._generator is None:
            self._generator = torch.Generator().manual_seed(self._seed)
        return self._generator
