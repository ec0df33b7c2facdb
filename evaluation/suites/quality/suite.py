"""The suite `quality`: right answers with and without a constraint.

A response is judged by its JSON, or as the published code did: by the first match of a
regular expression.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from curation.system.registry import imported_late
from evaluation.answers.extraction import MissingAnswer, TriageRules, triage
from evaluation.answers.json_search import find_json
from evaluation.answers.judge import compiled_schema
from evaluation.core.records import Record, Response, Verdict
from evaluation.core.suite import Suite
from evaluation.suites.quality.records import (
    MEMBERS,
    PUBLISHED,
    TASKS,
    QualitySettings,
    quality_prompt,
    quality_records,
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


def quality_scorer(settings: QualitySettings) -> Scorer:
    """Return what judges the responses to problems by one reading."""
    return _published_judge if settings.reading == "paper" else _json_judge


def _published_judge(record: Record) -> Judge:
    task = TASKS[record.group]
    rules = TriageRules(splits_thinking=False)

    def judge(response: Response) -> Verdict:
        text = triage(response, rules)
        if isinstance(text, MissingAnswer):
            return _failed(record, text.kind, text.reason, {})
        if match := re.search(task.expression, text):
            return _compared(record, str(task.canonical(match[1])), {})
        if response.finish == "length":
            reason = "no answer before the tokens were used up"
            return _failed(record, "truncated", reason, {})
        reason = "the published expression matches no answer"
        return _failed(record, "form_error", reason, {})

    return judge


def _json_judge(record: Record) -> Judge:
    task = TASKS[record.group]
    schema = compiled_schema(record.schema, record.dialect)

    def judge(response: Response) -> Verdict:
        scores = {"valid": 0.0}
        text = triage(response, TriageRules())
        if isinstance(text, MissingAnswer):
            return _failed(record, text.kind, text.reason, scores)
        parsed = find_json(text)
        if parsed.problem is not None:
            kind = "truncated" if response.finish == "length" else "syntax_error"
            return _failed(record, kind, parsed.detail, scores)
        members = parsed.value
        if not isinstance(members, dict):
            reason = f"the JSON is not an object but {_shown(members)}"
            return _failed(record, "form_error", reason, scores)
        is_valid = (
            not isinstance(schema, str)
            and not parsed.duplicates
            and schema.validator_without_formats.is_valid(members)
        )
        in_order = tuple(name for name in members if name in MEMBERS) == MEMBERS
        scores = {"valid": float(is_valid), "in_order": float(in_order)}
        value = task.canonical(members.get("answer"))
        reason = ""
        if "answer" not in members:
            reason = 'the member "answer" is missing'
        elif "answer" in parsed.duplicates:
            reason = 'the member "answer" is repeated'
        elif value is None:
            reason = f"the answer has another form: {_shown(members['answer'])}"
        if value is None or reason:
            return _failed(record, "form_error", reason, scores)
        return _compared(record, value, scores)

    return judge


def _compared(record: Record, answer: str, scores: Mapping[str, float]) -> Verdict:
    """Return the verdict on an answer in canonical form."""
    expected = str(record.fields["answer"])
    verdict = _failed(record, "wrong_answer", f"{answer}, not {expected}", scores)
    details = {"answer": answer, "expected": expected, **verdict.details}
    if answer != expected:
        return replace(verdict, details=details)
    return Verdict(passed=True, scores={**scores, "correct": 1.0}, details=details)


def _failed(
    record: Record, kind: str, reason: str, scores: Mapping[str, float]
) -> Verdict:
    return Verdict(
        passed=False,
        failure_class=kind,
        reasons=(reason,),
        scores={**scores, "correct": 0.0},
        details={"cluster": record.fields.get("cluster")},
    )


def _shown(value: Json) -> str:
    return json.dumps(value)[:60]


SUITE: Final = Suite(
    name="quality",
    summary="Right answers with and without a constraint: Last Letter, Shuffle "
    "Objects and GSM8K, as section 6 of the JSONSchemaBench paper.",
    settings=QualitySettings,
    classes=CLASSES,
    records=quality_records,
    prompt=quality_prompt,
    scorer=quality_scorer,
    tables=imported_late("evaluation.suites.quality.report", "tables"),
    published=PUBLISHED,
    # Free and constrained answers have the same budget here too: the published free
    # answers had 128 or 256 tokens, the constrained ones no limit.
    paper={"reading": "paper"},
)
