"""ConCodeEval, as `csbdata suite` runs it, with its known answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from evaluation.core.suite import KnownAnswer, Suite
from evaluation.suites.concodeeval.settings import (
    AnswerClass,
    ConcodeSettings,
    Output,
    TaskName,
    as_published,
    fields_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.core.suite import RecordRequest, RecordSet, ScoredRun, Scorer
    from evaluation.core.suite_records import SuitePrompt, SuiteRecord
    from evaluation.reporting.report import Report

#: Texts without a value, by format.
_HOSTILE: Final = {
    Output.JSON: (
        ("[NaN]", AnswerClass.NOT_JSON),
        ("[" * 999 + "]" * 999, AnswerClass.TOO_DEEP),
    ),
    Output.YAML: (
        ("- &a 1\n- *a", AnswerClass.YAML_ALIAS),
        ("!!python/name:os.system ''", AnswerClass.YAML_TAG),
    ),
    Output.XML: (("<!DOCTYPE a><a/>", AnswerClass.XML_DOCTYPE),),
}

# The functions import when they are called: every help text reads the list of suites.


def _records(request: RecordRequest, settings: ConcodeSettings) -> RecordSet:
    from evaluation.suites.concodeeval.records import records  # noqa: PLC0415 - as said

    return records(request, settings)


def _generate(
    count: int, seed: int, settings: ConcodeSettings
) -> Iterator[SuiteRecord]:
    from evaluation.suites.concodeeval.records import generate  # noqa: PLC0415 - as said

    return generate(count, seed, settings)


def _prompt(record: SuiteRecord, settings: ConcodeSettings) -> SuitePrompt:
    from evaluation.suites.concodeeval.prompts import prompt  # noqa: PLC0415 - as said

    return prompt(record, settings)


def _scorer(settings: ConcodeSettings) -> Scorer:
    from evaluation.suites.concodeeval.scorer import ConcodeScorer  # noqa: PLC0415 - as said

    return ConcodeScorer(settings)


def _report(run: ScoredRun) -> Report:
    from evaluation.suites.concodeeval.report import report  # noqa: PLC0415 - as said

    return report(run)


def _known_answers(
    record: SuiteRecord, settings: ConcodeSettings
) -> Iterator[KnownAnswer]:
    """Yield right and wrong answers of the main classes; few if there is no witness."""
    fields = fields_of(record)
    kinds = AnswerClass
    failed, silent = kinds.API_ERROR, kinds.NO_ANSWER
    yield KnownAnswer(kind=failed, text=None, error="HTTP 500", expected=failed)
    for text in (None, " \n", "<think>yes"):
        yield KnownAnswer(kind=silent, text=text, expected=silent)
    if fields.task is TaskName.VALIDATION:
        wrong = "no" if fields.label == "yes" else "yes"
        for text, expected in (
            (fields.label, ""),
            (wrong, kinds.WRONG_ANSWER),
            ("maybe", kinds.UNCLEAR),
        ):
            fenced = f"```\n{text}\n```"
            yield KnownAnswer(kind=text, text=fenced, expected=expected)
        return
    if settings.xml == "typed" or fields.output is not Output.XML:
        yield from _known_samples(fields.schema, fields.output, record.dialect)
    for text, expected in (
        ("[1]", kinds.NO_FENCE),
        ("```\n\n```", silent),
        ("```\n[<a>\n```", kinds.SYNTAX),
    ):
        yield KnownAnswer(kind=expected, text=text, expected=expected)
    for hostile, expected in _HOSTILE[fields.output]:
        text = f"```\n{hostile}\n```"
        yield KnownAnswer(kind=expected, text=text, expected=expected)


def _known_samples(schema: str, output: Output, dialect: str) -> Iterator[KnownAnswer]:
    """Yield a sample that a schema accepts, and one of another type than its root."""
    from curation.core.documents import Rejected  # noqa: PLC0415 - as said
    from curation.instances.constraints.interpretations import read_schema  # noqa: PLC0415 - as said
    from curation.instances.search.witnesses import Budget, find_witnesses  # noqa: PLC0415 - as said
    from evaluation.suites.concodeeval.representations import write_sample  # noqa: PLC0415 - as said

    compiled = read_schema(schema, dialect)
    if isinstance(compiled, Rejected):
        return
    for witness in find_witnesses(compiled, 0, Budget(count=1)).witnesses:
        right = f"```\n{write_sample(witness.value, output)}\n```"
        yield KnownAnswer(kind="reference", text=right)
        yield KnownAnswer(kind="after thinking", text=f"<think>```</think>{right}")
    root = json.loads(schema).get("type")
    wrong = write_sample([] if root == "object" else {}, output)
    if isinstance(root, str):
        expected = AnswerClass.WRONG_ROOT
        yield KnownAnswer(kind=expected, text=f"```\n{wrong}\n```", expected=expected)


SUITE = Suite(
    name="concodeeval",
    summary="Does a model understand a schema that is written five ways?",
    settings=ConcodeSettings,
    classes={kind.value: kind.explanation for kind in AnswerClass},
    records=_records,
    prompt=_prompt,
    scorer=_scorer,
    report=_report,
    known_answers=_known_answers,
    generate=_generate,
    paper=as_published,
)
