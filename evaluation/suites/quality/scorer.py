"""Score one response to a problem: by its JSON, or as the published code did."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import msgspec

from curation.core.json_types import Json
from evaluation.answers.extraction import (
    JsonAnswer,
    MissingAnswer,
    TriageRules,
    triage,
)
from evaluation.answers.json_search import find_json
from evaluation.answers.judge import compiled_schema
from evaluation.core.records import Record, Response, Verdict
from evaluation.suites.quality.records import (
    MEMBERS,
    Orders,
    QualitySettings,
)
from evaluation.suites.quality.tasks import ANSWER, TASKS

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from evaluation.core.suite import Judge, Scorer

#: Every class of failure, in the order of precedence.
CLASSES: Final = {
    "api_error": "The answer is missing: the server or the model failed.",
    "refusal": "The model or its provider refused to answer.",
    "truncated": "The tokens were used up before the answer was whole.",
    "empty": "The text is empty, or only thinking.",
    "syntax_error": "The text holds no JSON that can be read.",
    "form_error": "The JSON has no answer of the required form.",
    "wrong_answer": "The answer has the right form and is wrong.",
}


def quality_scorer(settings: QualitySettings) -> Scorer:
    """Return what judges the responses to problems by one reading."""
    is_published = settings.reading == "paper"
    rules = TriageRules(splits_thinking=not is_published)

    def prepare(record: Record) -> Judge:
        schema = compiled_schema(record.schema, record.dialect)

        def judge(response: Response) -> Verdict:
            text = triage(response, rules)
            is_cut = response.finish == "length"
            if isinstance(text, MissingAnswer):
                verdict = _failure(text.kind, text.reason)
            elif is_published:
                verdict = _by_published_code(record, text, is_cut=is_cut)
            else:
                verdict = _by_value(record, schema, find_json(text), is_cut=is_cut)
            # What the published code reads need not be valid; clusters are stories.
            scores = verdict.scores
            if is_published:
                scores = {"correct": scores["correct"]}
            details = {**verdict.details, "cluster": record.fields.get("cluster")}
            return msgspec.structs.replace(verdict, details=details, scores=scores)

        return judge

    return prepare


def _by_value(
    record: Record, schema: CompiledSchema | str, answer: JsonAnswer, *, is_cut: bool
) -> Verdict:
    if answer.problem is not None:
        return _failure("truncated" if is_cut else "syntax_error", answer.detail)
    fields = record.fields
    task = TASKS[str(fields["task"])]
    order = Orders(str(fields["order"]))
    members = answer.value
    if not isinstance(members, dict):
        return _failure(
            "form_error", f"the JSON is not an object but {_shown(members)}"
        )
    is_valid = (
        not isinstance(schema, str)
        and not answer.duplicates
        and schema.validator_without_formats.is_valid(members)
    )
    names = tuple(name for name in members if name in MEMBERS[order])
    in_order = float(names == MEMBERS[order])
    scores = {"valid": float(is_valid), "in_order": in_order}
    if ANSWER not in members:
        return _failure("form_error", 'the member "answer" is missing', scores)
    if ANSWER in answer.duplicates:
        return _failure("form_error", 'the member "answer" is repeated', scores)
    answered = members[ANSWER]
    if isinstance(answered, str):
        answered = answered.strip()
    value = task.canonical(answered)
    if value is None:
        reason = f"the answer has another form: {_shown(members[ANSWER])}"
        return _failure("form_error", reason, scores)
    return _compared(value, str(fields["answer"]), scores)


def _by_published_code(record: Record, text: str, *, is_cut: bool) -> Verdict:
    value = TASKS[str(record.fields["task"])].published_answer(text)
    if value is not None:
        return _compared(value, str(record.fields["answer"]), {})
    if is_cut:
        return _failure("truncated", "no answer before the tokens were used up")
    return _failure("form_error", "the published expression matches no answer")


def _compared(value: str, truth: str, scores: dict[str, float]) -> Verdict:
    details = {"answer": value, "expected": truth}
    if value == truth:
        return Verdict(passed=True, scores={**scores, "correct": 1.0}, details=details)
    return Verdict(
        passed=False,
        failure_class="wrong_answer",
        reasons=(f"{value}, not {truth}",),
        scores={**scores, "correct": 0.0},
        details=details,
    )


def _failure(
    failure_class: str, reason: str, scores: dict[str, float] | None = None
) -> Verdict:
    return Verdict(
        passed=False,
        failure_class=failure_class,
        reasons=(reason,),
        scores={"valid": 0.0, **(scores or {}), "correct": 0.0},
    )


def _shown(value: Json) -> str:
    return json.dumps(value)[:60]
