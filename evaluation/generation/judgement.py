"""What a generated text is worth: JSON or not, valid or not, and by which reading.

A text is judged twice: under the record's own dialect with formats asserted, and as
the paper did, under 2020-12 whatever the schema says (its section 5.1). The second
calls a schema that is itself invalid under 2020-12 violated by every text, as the
paper's own code did (its Listing 10).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

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
    """What is to be said of one text."""

    is_json: bool
    #: Under the record's own dialect, formats asserted.
    own: TextVerdict = TextVerdict.INVALID
    #: Under 2020-12, formats asserted.
    paper: TextVerdict = TextVerdict.INVALID
    #: The keyword that fails under the own dialect; `mixed` for several.
    keyword: str = ""
    #: Why nothing could be said.
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
    PROMPT_TOO_LONG = ("prompt_too_long", "the prompt leaves the model no room")
    DEAD_END = ("dead_end", "the mask allowed no token and no end")
    RUNAWAY_WHITESPACE = ("runaway_whitespace", "white space until the budget was gone")
    TRUNCATED = ("truncated", "the budget was used up before the text's end")
    NOT_JSON = ("not_json", "ended, and is not JSON")
    VIOLATES = ("violates", "JSON that its schema does not accept")
    UNDECIDED = ("undecided", "the validator failed or ran out of time")


_OF_RESULT = {
    Result.COMPILE_ERROR: TextClass.COMPILE_ERROR,
    Result.TIMEOUT: TextClass.TIMEOUT,
    Result.CRASH: TextClass.CRASH,
    Result.OUT_OF_MEMORY: TextClass.OUT_OF_MEMORY,
    Result.ERROR: TextClass.ENGINE_ERROR,
    Result.PROTOCOL_ERROR: TextClass.ENGINE_ERROR,
}
_OF_ENDING = {
    TextEnding.MODEL: TextClass.MODEL_ERROR,
    TextEnding.PROMPT: TextClass.PROMPT_TOO_LONG,
    TextEnding.DEAD_END: TextClass.DEAD_END,
}


def classify(generation: Generation, judgement: Judgement | None) -> TextClass:
    """Return the one class of a text.

    A text that is valid is compliant even where the budget ended it.
    """
    if judgement is not None and judgement.own is TextVerdict.VALID:
        return TextClass.COMPLIANT
    if generation.ending in _OF_ENDING:
        return _OF_ENDING[generation.ending]
    if generation.result is not Result.OK:
        compiling = (
            generation.compile_ns is None and generation.ending is TextEnding.ENGINE
        )
        if generation.result is Result.TIMEOUT and compiling:
            return TextClass.COMPILE_TIMEOUT
        return _OF_RESULT[generation.result]
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
    """Validates texts in a child process with a deadline for each."""

    def __init__(self, seconds: float = 40.0) -> None:
        """Say how long a validator may take for one text."""
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
        """Return what is to be said of a text under a schema's text.

        `adapted` is the schema that was sent in its place, if one was.
        """
        try:
            value = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            return Judgement(is_json=False, detail=str(error)[:200])
        own, keyword, detail = self._said(text, schema, dialect)
        paper, _, _ = (
            (own, keyword, detail)
            if dialect == PAPER_DIALECT
            else self._said(text, schema, PAPER_DIALECT)
        )
        return Judgement(
            is_json=True,
            own=own,
            paper=paper,
            keyword=keyword,
            detail=detail,
            adapted=self._said(text, adapted, dialect)[0] if adapted else None,
            trivial=_is_trivial(value, schema),
        )

    def _said(
        self, text: str, schema: str, dialect: str
    ) -> tuple[TextVerdict, str, str]:
        unit = {"schema": schema, "dialect": dialect, "instances": [text]}
        outcome = self._worker.ask(unit)
        if outcome.ending is not WorkerEnding.OK:
            return TextVerdict.UNDECIDED, "", f"{outcome.ending}: {outcome.detail}"
        graded = msgspec.convert(outcome.answer, Graded)
        if graded.error:
            return TextVerdict.INVALID, "", graded.error
        return _of_grade(graded.grades)


def _of_grade(grades: Sequence[Grade]) -> tuple[TextVerdict, str, str]:
    """Two validators, of which one may not answer; a text passes if none refuses."""
    grade = grades[0]
    said = {grade.jsonschema_rs, grade.jsonschema} - {None}
    if not said:
        return TextVerdict.UNDECIDED, "", grade.error
    if False in said:
        return TextVerdict.INVALID, grade.keyword, grade.error
    return TextVerdict.VALID, "", ""


def _refuse(name: str) -> Any:  # noqa: ANN401 (never returns)
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
