"""What a generated text is worth: is it JSON, and does its schema accept it?

A text is judged twice: under the record's own dialect with formats asserted, and as
the paper did, under 2020-12 whatever the schema declares (its section 5.1). The second
calls a schema that is itself invalid under 2020-12 violated by every text, as the
paper's own code did (its Listing 10).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Self

import msgspec

import curation.instances.dataset.worker
from curation.core.documents import Explained
from curation.instances.judging.grading import Graded
from curation.workers.limits import Limits
from curation.workers.outcomes import Ending as WorkerEnding
from curation.workers.process import Program
from curation.workers.worker import Worker
from evaluation.core.cases import Result
from evaluation.generation.text_generation import Generation, TextEnding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.instances.judging.grading import Grade

#: The dialect under which the paper validated everything.
PAPER_DIALECT = "2020-12"
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
    #: Under 2020-12, formats asserted.
    paper: TextVerdict = TextVerdict.INVALID
    #: The keyword that fails under the own dialect; `mixed` for several.
    keyword: str = ""
    #: Why it is refused, or why that is not known.
    detail: str = ""
    #: Under the adapted schema, where a provider wanted another one.
    adapted: TextVerdict | None = None
    #: Whether it is `{}`, or holds nothing but required members at its root.
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
    Result.ERROR: TextClass.ENGINE_ERROR,
    Result.PROTOCOL_ERROR: TextClass.ENGINE_ERROR,
}
_CLASS_OF_ENDING = {
    TextEnding.MODEL: TextClass.MODEL_ERROR,
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
        program = Program(
            file=Path(curation.instances.dataset.worker.__file__), setup={"seed": 0}
        )
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
        try:
            value = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            return Judgement(is_json=False, detail=str(error)[:200])
        own, keyword, detail = self._verdict(text, schema, dialect)
        paper, _, _ = (
            (own, keyword, detail)
            if dialect == PAPER_DIALECT
            else self._verdict(text, schema, PAPER_DIALECT)
        )
        return Judgement(
            is_json=True,
            own=own,
            paper=paper,
            keyword=keyword,
            detail=detail,
            adapted=self._verdict(text, adapted, dialect)[0] if adapted else None,
            trivial=_is_trivial(value, schema),
        )

    def _verdict(
        self, text: str, schema: str, dialect: str
    ) -> tuple[TextVerdict, str, str]:
        unit = {"schema": schema, "dialect": dialect, "instances": [text]}
        outcome = self._worker.ask(unit)
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


def _is_trivial(value: object, schema: str) -> bool:
    if not isinstance(value, dict):
        return False
    if not value:
        return True
    root = json.loads(schema)
    required = root.get("required") if isinstance(root, dict) else None
    known = root.get("properties") if isinstance(root, dict) else None
    if not isinstance(required, list) or not isinstance(known, dict):
        return False
    return set(value) <= set(required) < set(known)
