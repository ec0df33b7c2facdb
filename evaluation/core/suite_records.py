"""Records, prompts, responses and verdicts of suites.

All of them cross a file or a process, so they are structs: responses stand in
`responses.jsonl` of a run's folder, one a line, and records in `records.jsonl`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from evaluation.core.cases import Label


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    #: `system`, `user` or `assistant`.
    role: str
    content: str


#: The condition of a response that nothing has constrained.
FREE = "free"
#: Tokens that an answer may have beyond twice its longest witness.
SPARE_TOKENS = 32


class SuiteRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One record of a suite: what a model is asked about.

    Example:
        >>> SuiteRecord(id="a1", group="easy", fields={"question": "1 + 1?"}).key
        'easy/a1'
    """

    #: Unique within its group.
    id: str
    #: What it is counted with in tables: a config, a family, a modality; may be empty.
    group: str = ""
    #: The schema that a constrained answer is held to, a JSON text; None where there
    #: is none, and so no constrained run.
    schema: str | None = None
    #: Name of the schema's dialect (`curation.schema.dialects`).
    dialect: str = "2020-12"
    #: Everything else that the suite needs to ask and to judge.
    fields: Label = {}

    @property
    def key(self) -> str:
        """What responses name it by: `GROUP/ID`, or `ID` without a group."""
        return f"{self.group}/{self.id}" if self.group else self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePrompt:
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


class SuiteResponse(msgspec.Struct, frozen=True, kw_only=True):
    """One answer to one record; what is not known has its default."""

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
    #: None where there is no answer at all.
    text: str | None = None
    #: Thinking that stood apart from the answer; never judged.
    reasoning: str = ""
    #: `stop`, `length` where the budget of tokens was used up, `refusal`,
    #: `content_filter`, `dead_end` where an engine left no way on, `engine_error` where
    #: it refused the schema or failed; empty where it is not known.
    finish: str = ""
    #: Why there is no answer: the message of a server or of an engine.
    error: str = ""
    #: Tokens; None where they were not counted.
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    #: Seconds from the request to the end of the answer.
    seconds: float | None = None
    #: In the currency of the prices that were given.
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
    """What a scorer says of one response."""

    passed: bool
    #: One of the suite's classes; empty if passed.
    failure_class: str = ""
    #: Why it failed, the most important reason first; what a repair is told.
    reasons: tuple[str, ...] = ()
    #: Figures of this response by name, from 0 to 1 where they are shares.
    scores: dict[str, float] = {}
    #: What reports slice by or show: extracted answer, extra fields, ...
    details: Label = {}
    #: Whether it is part of the denominator; what cannot be judged is not.
    counted: bool = True
