"""SOB, the Structured Output Benchmark: the verdict on one response."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from curation.core.documents import Explained
from curation.core.json_types import Json
from curation.system.registry import imported_late
from evaluation.answers.extraction import JsonAnswer, JsonProblem, read_json_answer
from evaluation.answers.json_search import find_json
from evaluation.core.records import (
    Record,
    Response,
    Verdict,
)
from evaluation.core.suite import Suite
from evaluation.suites.sob.metrics import (
    ZERO,
    Expectation,
    Metric,
    Path,
    RecordScores,
    SobSettings,
    compile_schema,
    path_text,
    same_leaf,
    score_answer,
    text_of_leaf,
)
from evaluation.suites.sob.records import (
    PUBLISHED,
    SobRecord,
    compute_weight,
    make_prompt,
    response_of_line,
    sob_record,
    suite_records,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.core.suite import Judge, Scorer


# Wrong leaves that the reasons name.
_NAMED: Final = 3


class Mistake(Explained):
    """What is wrong with an answer, after the paper's section 6.7; gravest first."""

    NO_ANSWER = ("no_answer", "the model gave no answer at all")
    PARSE = (
        "parse",
        "the answer is not a JSON text with an object or array as its root",
    )
    UNUSABLE_SCHEMA = (
        "unusable_schema",
        "no validator takes the record's schema, so that no answer can pass",
    )
    SCHEMA = ("schema", "JSON that the schema does not accept")
    VALUE = ("value", "a right path with a wrong value")
    MISSING_PATH = ("missing_path", "a path of the truth that the answer lacks")
    SPURIOUS_PATH = ("spurious_path", "a path that the truth does not have")
    TYPE = ("type", 'the right value as another JSON type, such as "42" for 42')


#: The classes of single leaves, in the order of `Mistake`.
LEAF_MISTAKES: Final = (
    Mistake.VALUE,
    Mistake.MISSING_PATH,
    Mistake.SPURIOUS_PATH,
    Mistake.TYPE,
)


def sob_scorer(settings: SobSettings) -> Scorer:
    """Return what judges the responses to records under one reading."""

    def prepare(record: Record) -> Judge:
        fields = sob_record(record)
        target = compile_schema(fields.json_schema, settings)
        expected = Expectation.of(fields.ground_truth, target, fields.source, settings)
        return partial(judge, expected, _facts(fields, expected))

    return prepare


def _facts(record: SobRecord, expected: Expectation) -> Mapping[str, Json]:
    """Return what reports slice answers by."""
    schema = record.json_schema if isinstance(record.json_schema, dict) else {}
    return {
        "source": record.source,
        "category": record.category or record.family or record.source,
        "complexity": record.schema_complexity,
        "difficulty": record.question_difficulty,
        "cluster": record.family,
        "weight": compute_weight(record.schema_complexity, record.question_difficulty),
        "words": len(record.context.split()),
        "properties": len(schema.get("properties") or ()),
        "required": len(schema.get("required") or ()),
        "leaves": len(expected.leaves),
    }


def judge(
    expected: Expectation, facts: Mapping[str, Json], response: Response
) -> Verdict:
    """Return the verdict on one response; it depends on nothing else.

    Its details are the facts of the record, by which reports are sliced, and how many
    leaves are wrong in which way.
    """
    scores = ZERO
    wrong: dict[Path, Mistake] = {}
    mistake: Mistake | None
    if response.text is None:
        mistake = Mistake.NO_ANSWER
        reasons = [response.error or "the model gave no answer"]
    elif (answer := read_answer(response.text, expected.settings)).problem is not None:
        mistake = Mistake.PARSE
        reasons = [f"not parsed: {answer.detail or answer.problem}"]
    else:
        scores = score_answer(answer.value, expected)
        wrong = leaf_mistakes(expected.leaves, scores.leaves, expected.settings)
        mistake = min(wrong.values(), key=[*Mistake].index, default=None)
        if not scores.values[Metric.JSON_PASS]:
            unusable = expected.target.unusable
            mistake = Mistake.UNUSABLE_SCHEMA if unusable else Mistake.SCHEMA
        reasons = _reasons(scores, wrong, answer.duplicates)
    return Verdict(
        passed=mistake is None,
        failure_class=mistake or "",
        # Half of a surrogate pair cannot be written.
        reasons=tuple(
            reason.encode("utf-8", "backslashreplace").decode() for reason in reasons
        ),
        scores={str(metric): value for metric, value in scores.values.items()},
        details={**facts, "wrong": {**Counter(wrong.values())}},
    )


def read_answer(text: str, settings: SobSettings) -> JsonAnswer:
    """Return the candidate that the metrics are of: an object or an array.

    The published pipeline takes what Python's parser reads as a whole, otherwise what
    is between the first opening and the last closing brace (`extract_json` of its
    providers). By the recommended reading no envelope counts (`find_json`).
    """
    answer = _extract_json(text) if settings.published else find_json(text)
    if answer.problem is not None or isinstance(answer.value, dict | list):
        return answer
    kind = "null" if answer.value is None else type(answer.value).__name__
    detail = f"the root is a {kind}, no object or array"
    return JsonAnswer(problem=JsonProblem.SYNTAX, detail=detail)


def _extract_json(text: str) -> JsonAnswer:
    """Parse a text as the authors' code does: NaN and half of a pair are JSON."""
    answer = JsonAnswer()
    for candidate in (text, text[text.find("{") : text.rfind("}") + 1]):
        answer = read_json_answer(candidate)
        if answer.problem in (JsonProblem.NOT_A_NUMBER, JsonProblem.LONE_SURROGATE):
            with suppress(ValueError):
                return JsonAnswer(value=json.loads(candidate))
        elif answer.problem is not JsonProblem.SYNTAX:
            break
    return answer


def leaf_mistakes(
    truth: dict[Path, Json], answer: dict[Path, Json], settings: SobSettings
) -> dict[Path, Mistake]:
    """Return every wrong leaf, the truth's first; none if both are equal.

    Empty objects and arrays always count as leaves here, so that an answer is perfect
    if and only if it has no mistake.

    Args:
        truth: All leaves of the truth.
        answer: All leaves of the answer.
        settings: They decide when two leaves are the same.
    """
    mistakes: dict[Path, Mistake] = {}
    for path, value in truth.items():
        if path not in answer:
            mistakes[path] = Mistake.MISSING_PATH
        elif not same_leaf(value, answer[path], settings):
            is_type = _same_but_for_type(value, answer[path], settings)
            mistakes[path] = Mistake.TYPE if is_type else Mistake.VALUE
    spurious = (path for path in answer if path not in truth)
    return mistakes | dict.fromkeys(spurious, Mistake.SPURIOUS_PATH)


def _same_but_for_type(value: Json, answered: Json, settings: SobSettings) -> bool:
    """Return whether two leaves of different types are written alike."""
    if isinstance(value, dict | list) or isinstance(answered, dict | list):
        return False
    types = {type(value), type(answered)}
    if len(types) == 1 or types == {int, float}:
        return False
    texts = (text_of_leaf(value, settings), text_of_leaf(answered, settings))
    return texts[0].strip().lower() == texts[1].strip().lower()


def _reasons(
    scores: RecordScores, wrong: dict[Path, Mistake], duplicates: tuple[str, ...]
) -> list[str]:
    reasons = [f"refused by the schema: {scores.refusal}"] if scores.refusal else []
    gravest = sorted(wrong, key=lambda path: [*Mistake].index(wrong[path]))
    reasons += [f"{wrong[path]} at {path_text(path)}" for path in gravest[:_NAMED]]
    if len(gravest) > _NAMED:
        reasons.append(f"{len(gravest) - _NAMED} more wrong leaves")
    if duplicates:
        names = ", ".join(duplicates[:_NAMED])
        reasons.append(f"repeated keys, of which the last counts: {names}")
    return reasons


SUITE: Final = Suite(
    name="sob",
    summary="Are the values right that a model extracts, not only their shape?",
    settings=SobSettings,
    classes={kind.value: kind.explanation for kind in Mistake},
    records=suite_records,
    prompt=make_prompt,
    scorer=sob_scorer,
    tables=imported_late("evaluation.suites.sob.report", "tables"),
    published=PUBLISHED,
    paper={"reading": "paper"},
    published_response=response_of_line,
)
