"""The verdict on an answer of task 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.core.suite_records import Verdict
from evaluation.suites.concodeeval.settings import AnswerClass
from evaluation.suites.concodeeval.validation_task.answers import Said, what_is_said

if TYPE_CHECKING:
    from evaluation.core.suite_records import SuiteResponse
    from evaluation.suites.concodeeval.fields import RecordFields
    from evaluation.suites.concodeeval.settings import ConcodeSettings

_UNANSWERED: Final = {
    Said.NOTHING: AnswerClass.NO_ANSWER,
    Said.TOO_LARGE: AnswerClass.TOO_LARGE,
    Said.NEITHER: AnswerClass.UNCLEAR,
    Said.BOTH: AnswerClass.UNCLEAR,
}


def score_validation(
    fields: RecordFields, response: SuiteResponse, settings: ConcodeSettings
) -> Verdict:
    """Return the verdict on a response that is there.

    An answer that is neither yes nor no is wrong, or, with `unanswered=drop`, not
    counted.
    """
    said = what_is_said(
        response.text or "",
        continues=settings.form == "base",
        reading=settings.reading,
    )
    unanswered = _UNANSWERED.get(said)
    if unanswered is not None:
        return Verdict(
            passed=False,
            failure_class=unanswered.value,
            reasons=(f"{said}: the answer is neither yes nor no",),
            scores={"val_acc": 0.0, "answered": 0.0},
            details={"said": said.value},
            counted=settings.unanswered == "wrong",
        )
    passed = said.value == fields.label
    why = fields.keyword or "the schema accepts the sample"
    return Verdict(
        passed=passed,
        failure_class="" if passed else AnswerClass.WRONG_ANSWER.value,
        reasons=() if passed else (f"{said} where {fields.label} is right: {why}",),
        scores={"val_acc": float(passed), "answered": 1.0},
        details={"said": said.value},
    )
