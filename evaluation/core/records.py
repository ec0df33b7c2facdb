"""The nouns of a question: records, prompts, responses, verdicts.

All of them cross a file or a process, so they are structs: responses are in
`responses.jsonl` of a run's folder, one a line, and records in `records.jsonl`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from evaluation.core.cases import Label, Weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.download.cache import FetchSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    #: `system`, `user` or `assistant`.
    role: str
    content: str


#: The condition of a response that nothing has constrained.
FREE = "free"


def is_free(condition: str) -> bool:
    """Return whether nothing constrained an answer, at whatever level of reasoning.

    Example:
        >>> is_free("free"), is_free("free@high"), is_free("strict@high")
        (True, True, False)
    """
    return condition.partition("@")[0] == FREE


#: Tokens that an answer may have beyond twice its longest witness.
SPARE_TOKENS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A JSON text and whether its schema accepts it."""

    text: str
    valid: bool
    #: What it was made for: `minimal`, `full`, `random`, `near_miss`, `suite`, ...
    kind: str
    #: The keyword that alone refuses it; empty for a valid one or where unknown.
    keyword: str = ""
    #: Where in the schema that keyword is, a JSON pointer.
    schema_pointer: str = ""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What engines and models are asked about: a schema, a question, or both.

    Example:
        >>> Record(id="a1", group="easy", fields={"question": "1 + 1?"}).key
        'easy/a1'
    """

    #: Unique within its group.
    id: str
    #: What it is counted with in tables: a config, a family, a modality; may be empty.
    group: str = ""
    #: Empty where the data has no splits.
    split: str = ""
    #: The schema that an engine compiles and a constrained answer is held to, a JSON
    #: text with key order and number spelling kept; None if absent, and so
    #: nothing to constrain.
    schema: str | None = None
    #: Name of the schema's dialect (`curation.schema.dialects`).
    dialect: str = "2020-12"
    instances: tuple[Instance, ...] = ()
    #: Feature names, as the `features` column has them.
    features: tuple[str, ...] = ()
    #: 1 where no cluster is known.
    weight: Weight = 1.0
    #: Everything else that a suite needs to ask and to judge.
    fields: Label = {}

    @property
    def key(self) -> str:
        """What responses name it by: `GROUP/ID`, or `ID` without a group."""
        return f"{self.group}/{self.id}" if self.group else self.id

    def is_asked(self, condition: str) -> bool:
        """Return whether models answer it under a condition.

        One without a schema is asked free alone: nothing constrains the answer.
        """
        return is_free(condition) or self.schema is not None

    @property
    def constraint(self) -> str:
        """The schema, or `true`, which accepts any value."""
        return "true" if self.schema is None else self.schema


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordName:
    """The name of one record, known before it is read."""

    group: str
    id: str
    #: Empty where the data has no splits.
    split: str = ""
    #: Whether only the type of its root can fail.
    vacuous: bool = False
    #: Whether the data contains its instances; False if some must be generated.
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSelection:
    """Which records of all; by default all of them.

    Example:
        >>> RecordSelection(configs=("Github_easy",), limit=50)
    """

    configs: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    #: `ID` or `CONFIG/ID`.
    ids: frozenset[str] = frozenset()
    #: Whether vacuous records count that are not named in `ids`.
    vacuous: bool = False
    #: Maximum number, each config by its share (`evaluation.data.sampling`).
    limit: int | None = None
    #: Decides which records are drawn if there is a limit.
    seed: int = 0

    def allows(self, name: RecordName | Record) -> bool:
        """Return whether a record may be drawn."""
        names = {name.id, f"{name.group}/{name.id}"}
        return (
            (not self.configs or name.group in self.configs)
            and (not self.splits or name.split in self.splits)
            and (not self.ids or not names.isdisjoint(self.ids))
        )


class OpenedData(Protocol):
    """Schemas that a run has opened (`evaluation.data.Dataset`)."""

    @property
    def name(self) -> str:
        """Return their names as the user gave them."""

    @property
    def origin(self) -> str:
        """Return where they are from."""

    def records(self) -> Iterable[Record]:
        """Return the schemas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRequest(RecordSelection):
    """A request for the records of a suite.

    The caller applies `limit`, `first` and `ids` to the result; a suite reads them
    only to read less.
    """

    #: A path or `owner/name[@revision]`; None for the suite's own default.
    data: str | None
    #: How missing data is fetched, and where it is cached.
    fetch: FetchSettings
    #: Whether the first ones are taken, and not a seeded draw.
    first: bool = False
    #: The schemas of `data`, if the run has opened them already.
    dataset: OpenedData | None = None


#: The origin of records that a suite has made.
GENERATED: Final = "generated by csbdata"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSet:
    """Records, and where they are from."""

    #: Their name from the user, or a description.
    name: str
    #: `hub`, `file`, `generated by csbdata`, ...: shown above every table.
    origin: str
    records: Sequence[Record]
    #: Whether csbdata has generated them: no figure is one of the published data.
    generated: bool = False


#: Columns that a line of a file of records has only if they differ from these.
_SPARSE: Final = {"split": "", "instances": (), "features": (), "weight": 1.0}


def encode_records(records: Iterable[Record]) -> bytes:
    """Return records as JSON lines."""
    lines = (
        {
            name: value
            for name, value in msgspec.structs.asdict(record).items()
            if name not in _SPARSE or value != _SPARSE[name]
        }
        for record in records
    )
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """How a record is asked."""

    messages: tuple[Message, ...]
    #: Most tokens of the answer, the same free and constrained.
    budget: int
    #: Answers to the record, as texts. If there are any, the budget is twice the
    #: longest of them in the model's own tokens, and `SPARE_TOKENS` more.
    witnesses: tuple[str, ...] = ()

    def tokens(self, count: Callable[[str], int]) -> int:
        """Return the budget, with the tokens of a text as `count` counts them."""
        if not self.witnesses:
            return self.budget
        return 2 * max(map(count, self.witnesses)) + SPARE_TOKENS


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """One answer to one record; unknown fields keep their defaults."""

    #: The record's key, or its id where that is unique.
    record: str
    #: Who wrote, as tables call it.
    model: str = "model"
    #: `free`, or the label of the engine that constrained it.
    condition: str = FREE
    #: Which of the answers for this record it is, from 0.
    repeat: int = 0
    #: 0 for the first answer, 1 for the answer after the first repair, and so on.
    attempt: int = 0
    #: None without an answer.
    text: str | None = None
    #: Thinking that was apart from the answer; never judged.
    reasoning: str = ""
    #: `stop`, `length` where the budget of tokens was used up, `refusal`,
    #: `content_filter`, `dead_end` where an engine left no way on, `engine_error` where
    #: it refused the schema or failed; empty where it is not known.
    finish: str = ""
    #: Reason for a missing answer: the message from a server or an engine.
    error: str = ""
    #: Tokens; None where they were not counted. Those of a thought are not output.
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    #: Seconds from the request to the end of the answer.
    seconds: float | None = None
    #: In the currency of the prices given.
    cost: float | None = None
    #: The name in rows and tables; empty for model and condition together.
    participant: str = ""
    #: How it was written (`Generation.as_json`), for suites that report it.
    writing: Label | None = None
    #: Fingerprint of what decides it; empty where it comes from elsewhere.
    fingerprint: str = ""

    @property
    def label(self) -> str:
        """The name in rows and tables."""
        return self.participant or f"{self.model} {self.condition}"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """A scorer's verdict on one response."""

    passed: bool
    #: One of the suite's classes; empty if passed.
    failure_class: str = ""
    #: Why it failed, the most important reason first; quoted in repairs.
    reasons: tuple[str, ...] = ()
    #: Figures of this response by name, from 0 to 1 where they are shares.
    scores: dict[str, float] = {}
    #: What reports slice by or show: extracted answer, extra fields, ...
    details: Label = {}
    #: Whether it is part of the denominator; what cannot be judged is not.
    counted: bool = True


class Adapt(StrEnum):
    """What is done with a schema that a model's provider does not take."""

    NONE = "none"
    """It is sent as it is."""
    SAFE = "safe"
    """It is rewritten if all answers stay valid; otherwise it is not declared."""
    NEAREST = "nearest"
    """It is rewritten, and parts that the provider cannot hold are dropped."""


_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrices:
    """What a million tokens cost, in the currency of the user's choice."""

    prompt: float
    output: float
    #: Currency, date and source of a list; empty for prices that the user gave.
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse invalid prices.

        Raises:
            ValueError: one is below 0, or no number.
        """
        for price in (self.prompt, self.output):
            if not 0 <= price < inf:
                raise ValueError(f"{price} is no price")

    def cost(self, prompt: int | None, output: int | None) -> float | None:
        """Return the cost of a text by its tokens; None if they are unknown."""
        if prompt is None or output is None:
            return None
        return (prompt * self.prompt + output * self.output) / _MILLION
