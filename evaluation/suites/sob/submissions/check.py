"""All checks of one submission."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.system.errors import BadData, NoInput
from evaluation.suites.sob.answers.judging import PreparedRecord, judge
from evaluation.suites.sob.leaderboard.source_summary import RecordFigures, summarise
from evaluation.suites.sob.leaderboard.weights import weight_of
from evaluation.suites.sob.metrics.names import Metric
from evaluation.suites.sob.records.loading import json_line
from evaluation.suites.sob.records.published_rows import response_of_line
from evaluation.suites.sob.submissions.figure_checks import (
    range_complaints,
    record_complaints,
    summary_complaints,
)
from evaluation.suites.sob.submissions.response_checks import (
    read_lines,
    response_complaints,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics.rules import ScoringRules
    from evaluation.suites.sob.record import SobRecord


def submission_complaints(
    path: Path, records: Sequence[SobRecord], rules: ScoringRules
) -> Iterator[str]:
    """Yield one line for each fault of a submission; none if it is in order.

    Figures are compared with those of the answers, scored anew under the rules.

    Args:
        path: A folder, or one response file.
        records: The records that were to be answered.
        rules: The reading that the submitted figures are of.

    Raises:
        NoInput: there is no response file.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    figures = [file for file in files if file.name.startswith("eval_records")]
    responses = [file for file in files if file not in figures]
    if not responses or not path.exists():
        then = "it holds response_MODEL.jsonl, and eval_records.jsonl if there is one"
        raise NoInput("no response file", str(path), then)
    by_id = {record.record_id: record for record in records}
    computed: dict[str, Mapping[Metric, float]] = {}
    for file in responses:
        lines, complaints = read_lines(file)
        yield from complaints
        yield from response_complaints(file, lines, by_id)
        computed.update(_scored(lines, by_id, rules))
    for file in figures:
        lines, complaints = read_lines(file)
        yield from complaints
        for where, row in lines:
            yield from range_complaints(where, row)
            yield from record_complaints(where, row, computed)
    for file in sorted(path.glob("eval_summary*.json")) if path.is_dir() else ():
        yield from _of_summary(file, computed, by_id)


def _scored(
    lines: list[tuple[str, dict[str, Json]]],
    records: Mapping[str, SobRecord],
    rules: ScoringRules,
) -> Iterator[tuple[str, Mapping[Metric, float]]]:
    for _, line in lines:
        response = response_of_line(line)
        record = records.get(response.record) if response else None
        if record is None or response is None:
            continue
        scores = judge(PreparedRecord.of(record, rules), response).scores
        yield record.record_id, {metric: scores[metric] for metric in Metric}


def _of_summary(
    file: Path,
    computed: Mapping[str, Mapping[Metric, float]],
    records: Mapping[str, SobRecord],
) -> Iterator[str]:
    try:
        summary = json_line(file.read_bytes(), file.name)
    except BadData as error:
        yield str(error)
        return
    yield from range_complaints(file.name, summary)
    figures = [
        RecordFigures(
            record=record,
            weight=weight_of(
                records[record].schema_complexity, records[record].question_difficulty
            ),
            values=values,
        )
        for record, values in computed.items()
    ]
    if not figures:
        return
    found = summarise("", "", figures)
    means = {
        weighted: {metric: mean.value for metric, mean in means.metrics.items()}
        for weighted, means in ((False, found.plain), (True, found.weighted))
        if means is not None
    }
    yield from summary_complaints(file.name, summary, {True: {}, **means})
