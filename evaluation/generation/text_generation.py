"""The request for one text, how a model writes it under an engine, and the outcome."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import msgspec

from curation.core.json_types import Json
from evaluation.core.cases import Bounds, Result

if TYPE_CHECKING:
    from pathlib import Path

    from curation.system.progress import Progress
    from evaluation.core.records import Message, Record, Response

_NS: Final = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizedRequest:
    """One text to generate, its prompt as tokens."""

    #: The id of the record that it is written for.
    id: str
    #: JSON text for the engine to compile.
    schema: str
    prompt: tuple[int, ...]
    #: Most tokens to generate, the end not counted.
    budget: int
    #: 0 is greedy decoding.
    temperature: float = 0.0
    #: Seed of the draw, if the temperature is not 0.
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOptions(Bounds):
    """Options of the generation loop; recorded in a run's header."""

    #: Take the tokens that an engine offers as the only way on; None: of the engines
    #: of which the paper takes them.
    forced: bool | None = False


class TextEnding(StrEnum):
    """Why a text ended."""

    END = "end"
    """The model chose an end token."""
    TRUNCATED = "truncated"
    """The budget of tokens was used up."""
    DEAD_END = "dead_end"
    """The mask allowed no token and no end."""
    TIMEOUT = "timeout"
    """Generation took longer than allowed."""
    ENGINE = "engine"
    """The engine refused the schema or failed: with the `result`."""
    MODEL = "model"
    """The model failed, or gave no whole answer."""
    LOGITS = "logits"
    """The model's logits were NaN or infinite."""
    REQUEST = "request"
    """The server refused the request, and not because of its schema."""
    REFUSED = "refused"
    """The model refused to answer, in the place that its server has for that."""
    FILTERED = "filtered"
    """The provider's content filter ended the text, or did not let it begin."""
    PROMPT = "prompt"
    """The prompt leaves no room for a text; nothing was run."""
    UNKNOWN = "unknown"
    """The server gave a reason that is in no table."""


#: Endings of a text, however short.
_ENDINGS_OF_TEXTS: Final = frozenset(
    {TextEnding.END, TextEnding.TRUNCATED, TextEnding.DEAD_END, TextEnding.UNKNOWN}
)


class DecodingStep(msgspec.Struct, frozen=True, array_like=True):
    """One forward pass of one text, and what led to it; nanoseconds.

    The figures are those of the pass after which the next token was chosen. In a file
    they are a list, in this order.
    """

    #: Tokens that the pass was fed.
    fed: int
    forward_ns: int
    #: The engine's own time for the mask; None without an engine.
    mask_ns: int | None
    #: How long the loop waited for the mask when the logits were ready.
    wait_ns: int | None
    #: Transfer of the mask to the model's device, and applying it; None without one.
    transfer_ns: int | None = None
    apply_ns: int | None = None
    #: Choosing or drawing the token; None if it was forced.
    sampling_ns: int | None = None
    #: Booking the token before.
    loop_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What came of one request; times in nanoseconds, by one monotonic clock."""

    #: The id of the record that it was written for.
    id: str
    result: Result
    ending: TextEnding
    detail: str = ""
    warnings: tuple[str, ...] = ()
    #: The answer, and nothing else: the judged text.
    text: str = ""
    #: A model's reasoning before its answer, separated by its server or
    #: by `<think>` tags; empty without one, or where it is hidden.
    reasoning: str = ""
    #: Whether it was in the text, in `<think>` tags.
    tagged: bool = False
    #: The end token not counted.
    tokens: tuple[int, ...] = ()
    #: How many of them were forced, not chosen.
    forced: int = 0
    #: Whether a token was so close to the chosen one that sums in another order might
    #: choose it; looked for where texts share passes.
    tied: bool = False
    #: None where no server counted them.
    prompt_tokens: int | None = None
    #: Grammar compilation time: the compile call alone.
    compile_ns: int | None = None
    #: How long the loop waited for grammar and first mask.
    compile_wait_ns: int | None = None
    #: From the request to its first token, the compile included.
    ttft_ns: int | None = None
    #: From the request to its last token.
    total_ns: int | None = None
    steps: tuple[DecodingStep, ...] = ()
    #: Tokens of the answer as a server counted them, without reasoning;
    #: None for a model here, which has `tokens`, and without a server's count.
    counted: int | None = None
    #: Tokens of the reasoning, as a server counted them; None without a count.
    reasoning_tokens: int | None = None
    #: In how many pieces the answer came; None for a model here.
    pieces: int | None = None
    #: The answer as a server gave it, where `text` is its decoded value.
    undecoded: str = ""
    #: The schema sent if it differs from the record's, and the changes.
    adapted: str = ""
    edits: tuple[str, ...] = ()
    #: What the text cost, in the currency of the prices given.
    cost: float | None = None

    @property
    def length(self) -> int | None:
        """Tokens of the text, the end not counted; None where no server counted."""
        return len(self.tokens) if self.pieces is None else self.counted

    @property
    def tpot_ns(self) -> float | None:
        """Mean time of each token after the first, as in section 4 of the paper.

        The end token counts, except of a server, which does not show its moment. None
        if all came in one piece.
        """
        length = self.length
        if self.ttft_ns is None or self.total_ns is None or length is None:
            return None
        if self.pieces is not None and self.pieces < 2:  # noqa: PLR2004 (a second one)
            return None
        counts_end = self.pieces is None and self.ending is TextEnding.END
        later = length - 1 + counts_end
        return (self.total_ns - self.ttft_ns) / later if later > 0 else None

    @property
    def may_pass(self) -> bool:
        """Whether another try may end otherwise: a server was in trouble."""
        return self.ending is TextEnding.MODEL and self.pieces is not None

    @property
    def generated(self) -> bool:
        """Whether a text can be judged; a finished one may be empty."""
        return self.result is Result.OK and (
            bool(self.text) or self.ending in _ENDINGS_OF_TEXTS
        )

    def as_json(self) -> dict[str, Json]:
        """Return the text with all its figures."""
        figures: dict[str, Json] = msgspec.to_builtins(self)
        return figures


#: The finish of a response by the ending of its text; others keep their own name.
FINISHES: Final[Mapping[TextEnding, str]] = {
    TextEnding.END: "stop",
    TextEnding.TRUNCATED: "length",
    TextEnding.ENGINE: "engine_error",
    TextEnding.MODEL: "",
    TextEnding.LOGITS: "",
    TextEnding.REFUSED: "refusal",
    TextEnding.FILTERED: "content_filter",
}
_ENDINGS: Final = {ending.value: ending for ending in TextEnding} | {
    finish: ending for ending, finish in FINISHES.items() if finish
}


def read_generation(response: Response) -> Generation:
    """Return how a response was written; as far as known for one from elsewhere."""
    if response.writing is not None:
        return msgspec.convert(response.writing, Generation)
    ending = _ENDINGS.get(response.finish, TextEnding.END)
    result = Result.OK
    if response.error:
        by_engine = ending is TextEnding.ENGINE
        result = Result.ENGINE_ERROR if by_engine else Result.ERROR
        ending = ending if by_engine else TextEnding.MODEL
    return Generation(
        id=response.record,
        result=result,
        ending=ending,
        detail=response.error,
        text=response.text or "",
        reasoning=response.reasoning,
        prompt_tokens=response.prompt_tokens,
        counted=response.output_tokens,
        reasoning_tokens=response.reasoning_tokens,
        pieces=1,
        cost=response.cost,
        total_ns=None if response.seconds is None else int(response.seconds * _NS),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """One text that a model is asked for."""

    #: The record that the text is to answer.
    record: Record
    #: The conversation that asks for it.
    messages: tuple[Message, ...]
    #: Most tokens of the text.
    budget: int
    #: Which of the texts for this record it is, from 0.
    repeat: int = 0
    #: Seed of the draw, where the temperature is not 0.
    seed: int = 0
    #: 0 is greedy decoding.
    temperature: float = 0.0
    #: Fingerprint of the response; empty outside of runs.
    mark: str = ""


#: An engine, or how a server is asked.
_C_contra = TypeVar("_C_contra", contravariant=True)


class Model(ABC, Generic[_C_contra]):
    """What writes texts: a model here under an engine, or a provider.

    Example:
        >>> model = LocalModel(loaded, lambda: tokenizer, LoopOptions())
        >>> (generation,) = model.generate([prompt], engine)
        >>> generation.text
        '{"depth": 3}'
    """

    #: The parameters that its server refuses, with the names that it takes.
    discovered: Mapping[str, str] = MappingProxyType({})

    @abstractmethod
    def identity(self, constraint: _C_contra) -> str:
        """Return the fingerprint of everything but prompts that decides texts."""

    @abstractmethod
    def generate(
        self,
        prompts: Sequence[GenerationRequest],
        constraint: _C_contra,
        on_end: Callable[[int, Generation], None] = ...,
    ) -> Sequence[Generation]:
        """Write texts; return what each attempt came to, in order.

        Args:
            prompts: The requested texts.
            constraint: The engine, or how the server is asked for the schema.
            on_end: Called as soon as a text has ended, with its place among the
                prompts.
        """

    def prepare(
        self,
        constraint: _C_contra,
        records: Sequence[Record],
        folder: Path,
        progress: Progress,
    ) -> None:
        """Prepare before the first text.

        Args:
            constraint: As for `generate`.
            records: The records of the run.
            folder: Keeps the results for a resumed run.
            progress: Shows how far it is.
        """

    def owe(self, prompt: GenerationRequest, constraint: _C_contra) -> None:
        """Count the maximum cost of a text whose cost is not known."""

    @abstractmethod
    def close(self) -> None:
        """End its processes and connections."""
