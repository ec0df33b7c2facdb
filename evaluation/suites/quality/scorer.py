"""Score one response to a problem: by its JSON, or as the published code did."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from evaluation.answers.extraction import MissingAnswer, TriageRules, triage
from evaluation.answers.json_search import find_json
from evaluation.answers.judge import compiled_schema
from evaluation.core.records import Record, Response, Verdict
from evaluation.suites.quality.records import (
    ANSWER,
    MEMBERS,
    TASKS,
    QualitySettings,
    QualityTask,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
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


class _Answer(NamedTuple):
    """An answer in canonical form, or why there is none."""

    value: str = ""
    failure_class: str = ""
    reason: str = ""
    #: Scores besides `correct`.
    scores: Mapping[str, float] = {"valid": 0.0}


def quality_scorer(settings: QualitySettings) -> Scorer:
    """Return what judges the responses to problems by one reading."""
    is_published = settings.reading == "paper"
    rules = TriageRules(splits_thinking=not is_published)

    def prepare(record: Record) -> Judge:
        task = TASKS[str(record.fields["task"])]
        truth = str(record.fields["answer"])
        cluster = record.fields.get("cluster")
        compiled_schema(record.schema, record.dialect)  # kept for all responses

        def judge(response: Response) -> Verdict:
            text = triage(response, rules)
            if isinstance(text, MissingAnswer):
                answer = _Answer(failure_class=text.kind, reason=text.reason)
            elif is_published:
                answer = _published_answer(task, text, response)
            else:
                answer = _json_answer(task, record, text, response)
            failure_class, reason = answer.failure_class, answer.reason
            details: dict[str, Json] = {}
            if not failure_class:
                details = {"answer": answer.value, "expected": truth}
                if answer.value != truth:
                    failure_class = "wrong_answer"
                    reason = f"{answer.value}, not {truth}"
            # What the published code reads need not be valid; clusters are stories.
            scores = {} if is_published else answer.scores
            return Verdict(
                passed=not failure_class,
                failure_class=failure_class,
                reasons=(reason,) if failure_class else (),
                scores={**scores, "correct": float(not failure_class)},
                details={**details, "cluster": cluster},
            )

        return judge

    return prepare


def _published_answer(task: QualityTask, text: str, response: Response) -> _Answer:
    match = re.search(task.expression, text)
    if match:
        return _Answer(value=task.in_case(match[1]))
    if response.finish == "length":
        return _Answer("", "truncated", "no answer before the tokens were used up")
    return _Answer("", "form_error", "the published expression matches no answer")


def _json_answer(
    task: QualityTask, record: Record, text: str, response: Response
) -> _Answer:
    parsed = find_json(text)
    if parsed.problem is not None:
        kind = "truncated" if response.finish == "length" else "syntax_error"
        return _Answer("", kind, parsed.detail)
    members = parsed.value
    if not isinstance(members, dict):
        return _Answer(
            "", "form_error", f"the JSON is not an object but {_shown(members)}"
        )
    schema = compiled_schema(record.schema, record.dialect)
    is_valid = (
        not isinstance(schema, str)
        and not parsed.duplicates
        and schema.validator_without_formats.is_valid(members)
    )
    order = MEMBERS[str(record.fields["order"])]
    in_order = tuple(name for name in members if name in order) == order
    scores = {"valid": float(is_valid), "in_order": float(in_order)}
    if ANSWER not in members:
        return _Answer("", "form_error", 'the member "answer" is missing', scores)
    if ANSWER in parsed.duplicates:
        return _Answer("", "form_error", 'the member "answer" is repeated', scores)
    answer = members[ANSWER]
    value = task.canonical(answer.strip() if isinstance(answer, str) else answer)
    if value is None:
        reason = f"the answer has another form: {_shown(answer)}"
        return _Answer("", "form_error", reason, scores)
    return _Answer(value=value, scores=scores)


def _shown(value: Json) -> str:
    return json.dumps(value)[:60]
