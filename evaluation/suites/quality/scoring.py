"""Is the answer right? What a response to a problem is worth."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import jsonschema_rs

from evaluation.answers.extraction import outer_braces, outer_fence, split_thinking
from evaluation.answers.json_answers import JsonProblem, read_json_answer
from evaluation.core.suite_records import Verdict
from evaluation.suites.quality.problems import ANSWER
from evaluation.suites.quality.records import MEMBERS, problem_of_record
from evaluation.suites.quality.settings import AnswerReading

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.answers.json_answers import JsonAnswer
    from evaluation.core.suite import Scorer
    from evaluation.core.suite_records import SuiteRecord, SuiteResponse
    from evaluation.suites.quality.settings import QualitySettings

#: Every class of failure, in the order of precedence.
CLASSES: Final = {
    "api_error": "There is no answer: the server or the engine failed.",
    "refusal": "The model or its provider refused to answer.",
    "truncated": "The tokens were used up before the answer was whole.",
    "empty": "There is no text, or nothing but thinking.",
    "syntax_error": "The text holds no JSON that can be read.",
    "form_error": "The JSON has no answer of the form that was asked for.",
    "wrong_answer": "The answer has the right form and is wrong.",
}


def quality_scorer(settings: QualitySettings) -> Scorer:
    """Return what judges responses by these settings."""
    published = settings.reading is AnswerReading.PUBLISHED

    def score(record: SuiteRecord, response: SuiteResponse) -> Verdict:
        failed = _without_text(response)
        if failed is not None:
            return failed
        text = response.text or ""
        if published:
            return _by_published_code(record, response, text)
        return _by_json(record, response, text)

    return score


def _without_text(response: SuiteResponse) -> Verdict | None:
    if response.text is None or response.error:
        return _failure("api_error", response.error or "there is no answer")
    if response.finish in {"refusal", "content_filter"}:
        return _failure("refusal", f"it ended with {response.finish}")
    return None


def _by_json(record: SuiteRecord, response: SuiteResponse, text: str) -> Verdict:
    thought = split_thinking(text)
    if not thought.answer.strip():
        if response.finish == "length":
            return _failure("truncated", "the tokens were used up by thinking")
        thinking = thought.thinking or response.reasoning
        return _failure("empty", "nothing but thinking" if thinking else "no text")
    answer = _json_in(thought.answer)
    if answer.problem is not None:
        if response.finish == "length":
            return _failure("truncated", answer.detail)
        return _failure("syntax_error", answer.detail)
    return _by_value(record, answer)


def _json_in(text: str) -> JsonAnswer:
    """Read a text as JSON, out of a fence or out of the text around where need be."""
    extracted = outer_fence(text).text
    answer = read_json_answer(text if extracted is None else extracted)
    if answer.problem is not JsonProblem.SYNTAX:
        return answer
    inner = outer_braces(text).text
    return answer if inner is None else read_json_answer(inner)


def _by_value(record: SuiteRecord, answer: JsonAnswer) -> Verdict:
    task, order, problem = problem_of_record(record)
    value = answer.value
    if not isinstance(value, dict):
        return _failure("form_error", f"the JSON is no object but {_kind(value)}")
    valid = not answer.duplicates and _validator(record.schema or "").is_valid(value)
    names = [name for name in value if name in MEMBERS[order]]
    scores = {"valid": float(valid), "in_order": float(tuple(names) == MEMBERS[order])}
    if ANSWER not in value:
        return _failure("form_error", 'there is no member "answer"', scores)
    if ANSWER in answer.duplicates:
        return _failure("form_error", 'the member "answer" stands twice', scores)
    given = task.canonical(value[ANSWER])
    if given is None:
        reason = f"the answer has not the form asked for: {_kind(value[ANSWER])}"
        return _failure("form_error", reason, scores)
    return _compared(given, problem.answer, scores)


def _by_published_code(
    record: SuiteRecord, response: SuiteResponse, text: str
) -> Verdict:
    task, _order, problem = problem_of_record(record)
    given = task.published_answer(text)
    if given is not None:
        return _compared(given, problem.answer, {})
    if response.finish == "length":
        return _failure("truncated", "no answer before the tokens were used up")
    if not text.strip():
        return _failure("empty", "no text")
    return _failure("form_error", "the published expression finds no answer")


def _compared(given: str, expected: str, scores: dict[str, float]) -> Verdict:
    details = {"answer": given, "expected": expected}
    if given == expected:
        return Verdict(passed=True, scores={**scores, "correct": 1.0}, details=details)
    return Verdict(
        passed=False,
        failure_class="wrong_answer",
        reasons=(f"{given}, not {expected}",),
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


@cache
def _validator(schema: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(schema)


def _kind(value: Json) -> str:
    """Return a few words for a value that is not what was asked for."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if value is None or isinstance(value, bool):
        return "null" if value is None else "a Boolean"
    if isinstance(value, str):
        return f"the string {value[:40]!r}"
    return "a number"
