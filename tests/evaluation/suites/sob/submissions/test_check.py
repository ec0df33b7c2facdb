"""Faults of a submission, each on one line; one that is in order has none."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from curation.system.errors import NoInput
from evaluation.core.suite_records import SuiteResponse
from evaluation.suites.sob.answers.judging import PreparedRecord, judge
from evaluation.suites.sob.generator.generate import generated_records
from evaluation.suites.sob.leaderboard.source_summary import RecordFigures, summarise
from evaluation.suites.sob.leaderboard.weights import weight_of
from evaluation.suites.sob.metrics.names import PUBLISHED_KEYS, Metric
from evaluation.suites.sob.metrics.rules import PUBLISHED
from evaluation.suites.sob.selftest.known_answers import MUTATIONS, mutated
from evaluation.suites.sob.submissions.check import submission_complaints

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evaluation.suites.sob.record import SobRecord


@cache
def _records() -> tuple[SobRecord, ...]:
    texts = [one for one in generated_records(27) if one.source == "text"]
    return tuple(texts[:6])


@cache
def _answers() -> tuple[str, ...]:
    """Return an answer to each record: right, wrong and cut ones in turn."""
    kinds = {mutation.name: mutation for mutation in MUTATIONS}
    texts = []
    for number, record in enumerate(_records()):
        kind = ("reference", "another text", "cut")[number % 3]
        found = mutated(record, kinds[kind])
        assert found is not None
        texts.append(str(found.text))
    return tuple(texts)


def _line(record: SobRecord, text: str) -> dict[str, Any]:
    """Return a line as the authors' files have it."""
    try:
        candidate = json.loads(text)
    except ValueError:
        candidate = text
    return {
        "metadata": {
            "record_id": record.record_id,
            "difficulty": record.question_difficulty,
            "model_id": "m",
            "schema_complexity": record.schema_complexity,
        },
        "input": {
            "context": record.context,
            "question": record.question,
            "json_schema": json.dumps(record.json_schema),
        },
        "output": {
            "candidate_response": candidate,
            "ground_truth": record.ground_truth,
        },
        "eval_info": {"input_tokens": 10, "output_tokens": 5, "avg_time_per_record": 1},
    }


def _lines() -> list[dict[str, Any]]:
    return [
        _line(record, text) for record, text in zip(_records(), _answers(), strict=True)
    ]


def _scores() -> list[dict[str, float]]:
    return [
        judge(
            PreparedRecord.of(record, PUBLISHED),
            SuiteResponse(record="r", text=text),
        ).scores
        for record, text in zip(_records(), _answers(), strict=True)
    ]


def _rows() -> list[dict[str, Any]]:
    """Return `eval_records.jsonl` as it should be."""
    return [
        {
            "record_id": record.record_id,
            "metrics": {key: scores[metric] for metric, key in PUBLISHED_KEYS.items()},
        }
        for record, scores in zip(_records(), _scores(), strict=True)
    ]


def _summary() -> dict[str, Any]:
    figures = [
        RecordFigures(
            record=record.record_id,
            weight=weight_of(record.schema_complexity),
            values={metric: scores[metric] for metric in Metric},
        )
        for record, scores in zip(_records(), _scores(), strict=True)
    ]
    found = summarise("m", "text", figures)
    assert found.weighted is not None
    return {
        "num_records": len(figures),
        "summary": {
            name: {
                "metrics": {
                    key: {
                        "mean": means.metrics[metric].value,
                        "ci95_low": 0.0,
                        "ci95_high": 1.0,
                    }
                    for metric, key in PUBLISHED_KEYS.items()
                }
            }
            for name, means in (
                ("overall", found.plain),
                ("overall_weighted", found.weighted),
            )
        },
    }


def _faults(
    tmp_path: Path,
    lines: list[dict[str, Any]],
    rows: list[dict[str, Any]] | None = None,
    summary: object = None,
    name: str = "response_m.jsonl",
) -> list[str]:
    (tmp_path / name).write_text("\n".join(map(json.dumps, lines)), "utf-8")
    if rows is not None:
        text = "\n".join(map(json.dumps, rows))
        (tmp_path / "eval_records.jsonl").write_text(text, "utf-8")
    if summary is not None:
        (tmp_path / "eval_summary.json").write_text(json.dumps(summary), "utf-8")
    return list(submission_complaints(tmp_path, _records(), PUBLISHED))


def test_a_submission_in_order_has_no_fault(tmp_path: Path) -> None:
    """Every record once, as it is, with the figures that its answers give."""
    assert _faults(tmp_path, _lines(), _rows(), _summary()) == []


def _without_one(lines: list[dict[str, Any]]) -> None:
    del lines[2]


def _one_twice(lines: list[dict[str, Any]]) -> None:
    lines.append(lines[0])


def _unknown(lines: list[dict[str, Any]]) -> None:
    lines[1]["metadata"]["record_id"] = "f" * 64


def _another_truth(lines: list[dict[str, Any]]) -> None:
    lines[0]["output"]["ground_truth"] = {"a": 1}


def _another_schema(lines: list[dict[str, Any]]) -> None:
    lines[0]["input"]["json_schema"] = "{}"


def _another_complexity(lines: list[dict[str, Any]]) -> None:
    lines[0]["metadata"]["schema_complexity"] = "easy"


def _another_model(lines: list[dict[str, Any]]) -> None:
    lines[0]["metadata"]["model_id"] = "n"


def _negative_tokens(lines: list[dict[str, Any]]) -> None:
    lines[0]["eval_info"]["output_tokens"] = -1


def _no_context(lines: list[dict[str, Any]]) -> None:
    del lines[0]["input"]["context"]


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (_without_one, "1 of 6 text records are not answered"),
        (_one_twice, "1 records answered twice"),
        (_unknown, "unknown record ffff"),
        (_another_truth, "the truth is not that of record"),
        (_another_schema, "the schema is not that of record"),
        (_another_complexity, "the schema's complexity is not that of record"),
        (_another_model, "answers of 2 models: m, n"),
        (_negative_tokens, "eval_info.output_tokens is -1"),
        (_no_context, "no text in 'context'"),
    ],
)
def test_a_fault_of_the_answers_is_one_line(
    tmp_path: Path, spoil: Callable[[list[dict[str, Any]]], None], expected: str
) -> None:
    """It says where, what, and of which record."""
    lines = _lines()
    spoil(lines)
    faults = _faults(tmp_path, lines)
    assert any(expected in fault for fault in faults), faults
    assert all("\n" not in fault for fault in faults)
    assert len(faults) <= 2


def test_a_name_of_another_source_is_told(tmp_path: Path) -> None:
    """`_image` in the name, texts in the file."""
    (fault,) = _faults(tmp_path, _lines(), name="response_m_image.jsonl")
    assert fault.endswith("its name says image, its records are text")


@pytest.mark.parametrize("value", [1.2, -0.1, "high", None, True])
def test_a_figure_out_of_range_is_told(tmp_path: Path, value: object) -> None:
    """A metric is a number from 0 to 1."""
    rows = _rows()
    rows[0]["metrics"]["leaf_value_em"] = value
    faults = _faults(tmp_path, _lines(), rows)
    assert any("no figure from 0 to 1" in fault for fault in faults), faults


def test_a_figure_that_its_answer_does_not_give_is_told(tmp_path: Path) -> None:
    """Of one record, and of the mean over all."""
    rows = _rows()
    rows[2]["metrics"]["leaf_value_em"] = 0.9
    (fault,) = _faults(tmp_path, _lines(), rows)
    assert "leaf_value_em is 0.9; its answer gives 0.0000" in fault
    summary = _summary()
    summary["summary"]["overall"]["metrics"]["leaf_value_em"]["mean"] = 0.99
    (fault,) = _faults(tmp_path, _lines(), _rows(), summary)
    assert "overall.leaf_value_em is 0.99; the answers give" in fault


def test_a_mean_outside_of_its_interval_is_told(tmp_path: Path) -> None:
    """Bounds lie on both sides of what they are bounds of."""
    summary = _summary()
    mean = summary["summary"]["overall"]["metrics"]["leaf_value_em"]
    mean["ci95_low"] = mean["ci95_high"] = 0.0
    (fault,) = _faults(tmp_path, _lines(), None, summary)
    assert "is outside [0.0, 0.0]" in fault


def test_figures_without_an_answer_are_told(tmp_path: Path) -> None:
    """A row of a record that nobody answered."""
    rows = [*_rows(), {"record_id": "e" * 64, "metrics": {}}]
    (fault,) = _faults(tmp_path, _lines(), rows)
    assert "which has no answer" in fault


def test_files_that_are_none_have_one_line_each(tmp_path: Path) -> None:
    """A line that is no JSON is named by its number; an empty folder is an error."""
    with pytest.raises(NoInput, match="no response file"):
        list(submission_complaints(tmp_path, _records(), PUBLISHED))
    (tmp_path / "response_m.jsonl").write_text('{"a": \n[1]\n', "utf-8")
    faults = list(submission_complaints(tmp_path, _records(), PUBLISHED))
    assert [fault.split(": ")[0] for fault in faults] == [
        "response_m.jsonl:1",
        "response_m.jsonl:2",
    ]
