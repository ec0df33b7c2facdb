"""What the generation loop needs of a model that runs in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import torch

    from curation.core.json_types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    #: `system`, `user` or `assistant`.
    role: str
    content: str


class Decoding(Protocol):
    """A batch of texts under way: one key-value cache, one row a text.

    Example:
        >>> decoding, logits = model.begin([model.prompt(messages)])
        >>> token = int(logits[0].argmax())
        >>> logits = decoding.feed([[token]])
    """

    #: Prompt tokens of each row that came out of the prefix cache.
    reused: int

    def feed(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Run one forward pass, and wait until the device has finished it.

        Args:
            rows: The new tokens of every row. A row may be empty where another is
                not; what is returned for it has no meaning.

        Returns:
            Logits after each row's last token, float32, shape (rows, vocabulary).
        """

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows only, in this order."""


class LanguageModel(Protocol):
    """A model in this process, with its tokenizer and chat template.

    `evaluation.models.transformers.TransformersModel` is one.

    Example:
        >>> model = get_model("smollm2", LoadOptions(device="cpu"), settings)
        >>> model.text(model.prompt([Message(role="user", content="Hello")]))
    """

    #: Its name in results: what was loaded, and how exact its weights are.
    name: str
    #: The tokens of which any ends a text.
    end_tokens: frozenset[int]
    #: Columns of the logits; at least the tokenizer's vocabulary.
    vocab_size: int
    #: Most tokens of a text that it was made for, those of the prompt included.
    context_length: int
    #: Folder with `tokenizer.json`, from which engines make their vocabulary.
    tokenizer_folder: Path

    def facts(self) -> Mapping[str, Json]:
        """Return what a run's header records: revision, device, dtype, threads."""

    def prompt(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Return the tokens of a conversation that asks for the next turn."""

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, special ones left out."""

    def begin(
        self, prompts: Sequence[Sequence[int]], line: str = ""
    ) -> tuple[Decoding, torch.Tensor]:
        """Prefill the prompts; what they share with the last ones is not done again.

        Args:
            prompts: The tokens of each prompt.
            line: Whose prompts these are. Engines that are compared have a line each,
                or the second one would find its prompt prefilled by the first.

        Returns:
            The batch under way, and the logits for each row's first new token.
        """
