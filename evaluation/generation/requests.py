"""Requests to a model: one text for a sample, with prompt, budget and seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evaluation.core.cases import Sample
    from evaluation.core.messages import Message
    from evaluation.generation.text_generation import Generation

#: A batch of as many texts as fit into the memory of the model's device.
AUTO_BATCH: Final = 0
_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """One text that a model is asked for."""

    #: The schema that the text is to satisfy.
    sample: Sample
    #: The conversation that asks for it.
    messages: tuple[Message, ...]
    #: Most tokens of the text.
    budget: int
    #: Which of the texts for this sample it is, from 0.
    repeat: int = 0
    #: Seed of the draw, where the temperature is not 0.
    seed: int = 0
    #: 0 is greedy decoding.
    temperature: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrices:
    """What a million tokens cost, in the currency of the user's choice."""

    prompt: float
    output: float

    def cost(self, prompt: int | None, output: int | None) -> float | None:
        """Return what a text of so many tokens costs; None if they are not known."""
        if prompt is None or output is None:
            return None
        return (prompt * self.prompt + output * self.output) / _MILLION


class TextWriter(Protocol):
    """What writes texts: a model here under an engine, or one behind a server.

    Example:
        >>> writer = LocalWriter(model, engine, tokenizer, LoopOptions())
        >>> (generation,) = writer.write([request])
        >>> generation.text
        '{"depth": 3}'
    """

    @property
    def label(self) -> str:
        """Its name in rows and tables."""

    @property
    def identity(self) -> str:
        """Fingerprint of everything about it that decides its texts."""

    def write(
        self,
        requests: Sequence[GenerationRequest],
        ended: Callable[[int, Generation], None] = ...,
    ) -> Sequence[Generation]:
        """Write texts; return what came of each request, in order.

        Args:
            requests: The texts that are wanted.
            ended: Called as soon as a text has ended, with its place among the
                requests.
        """

    def close(self) -> None:
        """End its processes and connections."""
