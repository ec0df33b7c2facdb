"""The interface of a model that runs in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import torch

    from curation.core.json_types import Json
    from evaluation.core.records import Message


@dataclass(frozen=True, slots=True)
class TimedWork:
    """Work that a device was given, between two of its moments."""

    _ns: Callable[[], int]

    def ns(self) -> int:
        """Return how long it took, in nanoseconds; waits until it is done."""
        return self._ns()


#: Work that took no time.
NO_WORK: Final = TimedWork(lambda: 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLogits:
    """The logits of one text, where its model is."""

    #: Those of all texts of the pass: float32, shape (texts, vocabulary).
    of: torch.Tensor
    #: Which of them is meant.
    row: int = 0

    def tensor(self) -> torch.Tensor:
        """Return the text's own, shape (vocabulary,)."""
        return self.of[self.row]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMask:
    """The token mask of one text, where its engine has written it."""

    #: Those of all texts of the engine: `uint8`, shape (texts, bytes), a bit for each
    #: token, the lowest of a byte first; a token beyond them may not come next.
    of: np.ndarray
    #: Which of them is meant.
    row: int = 0


def mask_bytes(size: int) -> int:
    """Return the bytes of a packed mask over so many tokens: whole 32-bit words."""
    return -(-size // 32) * 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefill:
    """What reading a prompt gives; the device may still be at work on it."""

    #: For the text's first token.
    logits: RowLogits
    work: TimedWork


@dataclass(frozen=True, slots=True, kw_only=True)
class FedPass:
    """What one forward pass gives; the device may still be at work on it."""

    #: After each row's last token: float32, shape (rows, vocabulary).
    logits: torch.Tensor
    work: TimedWork


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenQuestion:
    """From what the next token of one text is chosen."""

    logits: RowLogits
    #: None allows all; of a batch that is all or none.
    allowed: RowMask | None = None
    #: 0 takes the likeliest token; above, one is drawn.
    temperature: float = 0.0
    #: From 0 to 1: which one.
    draw: float = 0.0
    look_for_ties: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenToken:
    """What was chosen for one text."""

    token: int
    #: The best logit of those that are allowed: minus infinity where none is.
    best: float
    #: Whether another token is so close that sums in another order might choose it;
    #: False if not requested.
    tied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTokens:
    """What was chosen for the texts of a batch; the device has done all till then."""

    tokens: Sequence[ChosenToken]
    #: Transfer of the masks to the device, and applying them; None without masks.
    transfer: TimedWork | None
    apply: TimedWork | None
    #: Choosing, or drawing.
    sampling: TimedWork


class Decoding(Protocol):
    """A batch of texts under way, one row a text.

    Example:
        >>> decoding = model.open()
        >>> first = TokenQuestion(logits=decoding.admit(model.prompt(messages)).logits)
        >>> (chosen,) = decoding.choose([first]).tokens
        >>> logits = decoding.feed([[chosen.token]]).logits
    """

    def admit(self, prompt: Sequence[int]) -> Prefill:
        """Read a prompt, and take the text in as the last row.

        Args:
            prompt: Its tokens; at least one.
        """

    def feed(self, rows: Sequence[Sequence[int]]) -> FedPass:
        """Have one forward pass run; without waiting for the device to finish it.

        Args:
            rows: The new tokens of every row. A row may be empty where another is
                not; what is returned for it has no meaning.
        """

    def choose(self, questions: Sequence[TokenQuestion]) -> ChosenTokens:
        """Choose tokens where the logits are, and wait for them.

        Args:
            questions: At least one; of any rows, in any order.
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
    def mask_threads(self) -> int:
        """How many masks of a batch may be computed at a time: on the free cores."""

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
        """Free what memory can be freed."""
