"""What the generation loop needs of a model that runs in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np

    from curation.core.json_types import Json
    from evaluation.core.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefill:
    """What reading a prompt gives."""

    #: For the text's first token: float32, of shape (vocabulary,).
    logits: np.ndarray
    #: Tokens of the prompt that came out of the prefix cache.
    reused: int


class Decoding(Protocol):
    """A batch of texts under way, one row a text.

    Example:
        >>> decoding = model.open()
        >>> logits = decoding.admit(model.prompt(messages)).logits
        >>> logits = decoding.feed([[int(logits.argmax())]])[0]
    """

    def admit(self, prompt: Sequence[int], line: str | None = None) -> Prefill:
        """Read a prompt, and take the text in as the last row.

        Args:
            prompt: Its tokens; at least one.
            line: Whose prompts share what they begin with. Engines that are compared
                have a line each, or the second one would find its prompt read by the
                first. None reads the whole prompt in one pass.
        """

    def feed(self, rows: Sequence[Sequence[int]]) -> np.ndarray:
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
    #: Most tokens of a text that it was made for, those of the prompt included; None
    #: where there is no such bound.
    context_length: int | None
    #: Share of the best logit within which another one may turn out better where sums
    #: are added up in another order, as in a batch.
    tie: float
    #: Folder with `tokenizer.json`, from which engines make their vocabulary.
    tokenizer_folder: Path

    @property
    def limits(self) -> str:
        """What cannot be done with its cache, and why; empty where everything can."""

    def facts(self) -> Mapping[str, Json]:
        """Return what a run's header records: revision, device, libraries, dtype."""

    def prompt(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Return the tokens of a conversation that asks for the next turn."""

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, special ones left out."""

    def open(self) -> Decoding:
        """Return a batch without any text yet."""

    def forget(self) -> None:
        """Drop everything kept of earlier texts, and free what memory can be freed."""
