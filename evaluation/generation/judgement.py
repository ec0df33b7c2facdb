"""What a generated text is worth: is it JSON, and does its schema accept it?

A text is judged three times: under the record's own dialect with formats asserted, by
the paper's Listing 10, and as its published code and lm-evaluation-harness do
(`evaluation.judging.published_validation`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Self

import msgspec

from curation.core.documents import Explained
from curation.instances.judging.grading import Graded
from curation.workers.limits import Limits
from curation.workers.outcomes import Ending as WorkerEnding
from curation.workers.process import Program
from curation.workers.worker import Worker
from evaluation.core.cases import Result
from evaluation.generation.text_generation import Generation, TextEnding
from evaluation.judging import judge_worker
from evaluation.judging.judge_messages import JudgedText, SchemaReading
from evaluation.judging.trivial_texts import is_trivial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.instances.judging.grading import Grade

#: So much white space in a row is no layout any more.
_RUNAWAY = 40


class TextVerdict(StrEnum):
    """What one reading of the schema says of a text."""

    VALID = "valid"
    INVALID = "invalid"
    UNDECIDED = "undecided"
    """The validator failed or ran out of time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What validation found out about one text."""

    is_json: bool
    #: Under the record's own dialect, formats asserted.
    own: TextVerdict = TextVerdict.INVALID
    #: By the paper's Listing 10: under 2020-12, formats asserted.
    paper: TextVerdict = TextVerdict.INVALID
    #: As the published code does; None where that was not asked.
    published: TextVerdict | None = None
    #: The keyword that fails under the own dialect; `mixed` for several.
    keyword: str = ""
    #: Why it is refused, or why that is not known.
    detail: str = ""
    #: Under the adapted schema, where a provider wanted another one.
    adapted: TextVerdict | None = None
    #: Whether it says next to nothing (`evaluation.judging.trivial_texts`).
    trivial: bool = False


class TextClass(Explained):
    """What became of one text: each is in exactly one class."""

    COMPLIANT = ("compliant", "valid under the record's own dialect, formats asserted")
    COMPILE_ERROR = ("compile_error", "the engine refused the schema")
    COMPILE_TIMEOUT = ("compile_timeout", "no grammar within the deadline")
    TIMEOUT = ("timeout", "not written within the deadline")
    CRASH = ("crash", "the engine's process died")
    OUT_OF_MEMORY = ("out_of_memory", "the engine's process used too much memory")
    ENGINE_ERROR = ("engine_error", "the engine failed while the text was written")
    MODEL_ERROR = ("model_error", "the model's server gave no whole answer")
    BAD_LOGITS = ("bad_logits", "the model's logits were NaN or infinite")
    REQUEST_REFUSED = (
        "request_refused",
        "the server refused the request, and not because of its schema",
    )
    REFUSAL = ("refusal", "the model refused to answer")
    CONTENT_FILTER = ("content_filter", "the provider's filter ended the text")
    PROMPT_TOO_LONG = ("prompt_too_long", "the prompt leaves the model no room")
    DEAD_END = ("dead_end", "the mask allowed no token and no end")
    REASONING_ONLY = ("reasoning_only", "the model thought, and gave no answer")
    THINK_TEXT = ("think_text", "a thought in <think> tags, and no answer after it")
    RUNAWAY_WHITESPACE = ("runaway_whitespace", "white space until the budget was gone")
    TRUNCATED = ("truncated", "the budget was used up before the text's end")
    NOT_JSON = ("not_json", "ended, and is not JSON")
    VIOLATES = ("violates", "JSON that its schema does not accept")
    UNDECIDED = ("undecided", "the validator failed or ran out of time")


_CLASS_OF_RESULT = {
    Result.COMPILE_ERROR: TextClass.COMPILE_ERROR,
    Result.TIMEOUT: TextClass.TIMEOUT,
    Result.CRASH: TextClass.CRASH,
    Result.OUT_OF_MEMORY: TextClass.OUT_OF_MEMORY,
    Result.ENGINE_ERROR: TextClass.ENGINE_ERROR,
    Result.ERROR: TextClass.ENGINE_ERROR,
    Result.TOO_MUCH_OUTPUT: TextClass.ENGINE_ERROR,
    Result.PROTOCOL_ERROR: TextClass.ENGINE_ERROR,
}
_CLASS_OF_ENDING = {
    TextEnding.MODEL: TextClass.MODEL_ERROR,
    TextEnding.LOGITS: TextClass.BAD_LOGITS,
    TextEnding.PROMPT: TextClass.PROMPT_TOO_LONG,
    TextEnding.REQUEST: TextClass.REQUEST_REFUSED,
    TextEnding.REFUSED: TextClass.REFUSAL,
    TextEnding.FILTERED: TextClass.CONTENT_FILTER,
    TextEnding.DEAD_END: TextClass.DEAD_END,
}


def classify(generation: Generation, judgement: Judgement | None) -> TextClass:
    """Return the one class of a text.

    A text that is valid is compliant even where the budget ended it.
    """
    if judgement is not None and judgement.own is TextVerdict.VALID:
        return TextClass.COMPLIANT
    if generation.ending in _CLASS_OF_ENDING:
        return _CLASS_OF_ENDING[generation.ending]
    if generation.result is not Result.OK:
        compiling = (
            generation.compile_ns is None and generation.ending is TextEnding.ENGINE
        )
        if generation.result is Result.TIMEOUT and compiling:
            return TextClass.COMPILE_TIMEOUT
        return _CLASS_OF_RESULT[generation.result]
    if not generation.text.strip() and (generation.tagged or generation.reasoning):
        return TextClass.THINK_TEXT if generation.tagged else TextClass.REASONING_ONLY
    if generation.ending is TextEnding.TRUNCATED:
        blank = len(generation.text) - len(generation.text.rstrip())
        return (
            TextClass.RUNAWAY_WHITESPACE if blank >= _RUNAWAY else TextClass.TRUNCATED
        )
    if judgement is None or not judgement.is_json:
        return TextClass.NOT_JSON
    undecided = judgement.own is TextVerdict.UNDECIDED
    return TextClass.UNDECIDED if undecided else TextClass.VIOLATES


class TextJudge:
    """Validates texts in a child process with a deadline for each.

    Example:
        >>> with TextJudge() as judge:
        ...     judge.judge("[]", '{"type": "object"}', "2020-12").own
        <TextVerdict.INVALID: 'invalid'>
    """

    def __init__(self, seconds: float = 40.0) -> None:
        """Prepare; the process is started when first needed.

        Args:
            seconds: How long validating one text may take.
        """
        program = Program(file=Path(judge_worker.__file__), setup={})
        self._worker = Worker(program, Limits(seconds=seconds, recycle_after=1 << 40))

    def __enter__(self) -> Self:
        """Return the judge."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the child process."""
        self._worker.close()

    def judge(
        self, text: str, schema: str, dialect: str, adapted: str = ""
    ) -> Judgement:
        """Validate a text.

        Args:
            text: What a model wrote.
            schema: The record's schema, a JSON text.
            dialect: The name of its dialect.
            adapted: The schema that a server was sent in its place; empty if none.
        """
        published = self._published(SchemaReading.PUBLISHED, text, schema)
        try:
            value = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            return Judgement(
                is_json=False, published=published, detail=str(error)[:200]
            )
        own, keyword, detail = self._verdict(text, schema, dialect)
        return Judgement(
            is_json=True,
            own=own,
            paper=self._published(SchemaReading.LISTING_10, text, schema),
            published=published,
            keyword=keyword,
            detail=detail,
            adapted=self._verdict(text, adapted, dialect)[0] if adapted else None,
            trivial=is_trivial(value, schema),
        )

    def _published(self, reading: SchemaReading, text: str, schema: str) -> TextVerdict:
        unit = JudgedText(reading=reading, schema=schema, text=text)
        outcome = self._worker.ask(msgspec.to_builtins(unit))
        if outcome.ending is not WorkerEnding.OK:
            return TextVerdict.UNDECIDED
        return TextVerdict.VALID if outcome.answer is True else TextVerdict.INVALID

    def _verdict(
        self, text: str, schema: str, dialect: str
    ) -> tuple[TextVerdict, str, str]:
        unit = JudgedText(
            reading=SchemaReading.OWN, schema=schema, text=text, dialect=dialect
        )
        outcome = self._worker.ask(msgspec.to_builtins(unit))
        if outcome.ending is not WorkerEnding.OK:
            return TextVerdict.UNDECIDED, "", f"{outcome.ending}: {outcome.detail}"
        graded = msgspec.convert(outcome.answer, Graded)
        if graded.error:
            return TextVerdict.INVALID, "", graded.error
        return _verdict_of(graded.grades)


def _verdict_of(grades: Sequence[Grade]) -> tuple[TextVerdict, str, str]:
    """Return the verdict of two validators, of which one may not answer.

    A text is valid if none refuses it.
    """
    grade = grades[0]
    answers = {grade.jsonschema_rs, grade.jsonschema} - {None}
    if not answers:
        return TextVerdict.UNDECIDED, "", grade.error
    if False in answers:
        return TextVerdict.INVALID, grade.keyword, grade.error
    return TextVerdict.VALID, "", ""


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
