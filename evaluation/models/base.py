"""What a model that we drive token by token is, to the generation loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import torch

    from curation.core.json_types import UntypedJson


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    #: `system`, `user` or `assistant`.
    role: str
    content: str


class Decoding(Protocol):
    """A batch of texts under way: one key-value cache, one row a text."""

    #: Prompt tokens of each row that came out of the prefix cache.
    reused: int

    def feed(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Run one forward pass over new tokens of every row.

        A row may be empty where another is not; what is returned for it has no
        meaning. The device is waited for, so that the caller's clock is honest.

        Returns:
            Logits after each row's last token, float32, shape (rows, vocabulary).
        """

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows only, in this order."""


class LanguageModel(Protocol):
    """A model in this process, with its tokenizer and chat template."""

    #: What results call it: what was loaded, how exact its weights are.
    name: str
    #: Tokens of which any ends a text.
    end_tokens: frozenset[int]
    #: Columns of the logits; at least the tokenizer's vocabulary.
    vocab_size: int
    #: Most tokens, prompt included, that it was made for.
    context_length: int
    #: Folder with `tokenizer.json`, from which engines make their vocabulary.
    tokenizer_folder: Path

    def facts(self) -> Mapping[str, UntypedJson]:
        """Return what a run's header records: revision, device, dtype, threads."""

    def prompt(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Return the tokens of a conversation that asks for the next turn."""

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, special ones left out."""

    def begin(
        self, prompts: Sequence[Sequence[int]], line: str = ""
    ) -> tuple[Decoding, torch.Tensor]:
        """Prefill the prompts; what they share with the last ones is not done again.

        The last ones of the same `line`: whoever is compared has one of its own, or
        the second to be given a prompt would find it prefilled by the first.

        Returns:
            The batch under way, and the logits for each row's first new token.
        """
