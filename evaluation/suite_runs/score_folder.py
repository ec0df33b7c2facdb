"""The responses of a run scored, and written as the rows that reports read."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec
import orjson

from curation.system.atomic_files import atomic_file
from curation.workers.fingerprint import fingerprint
from evaluation.core.suite import ScoredResponse
from evaluation.results.suite_rows import row_from_scored
from evaluation.suite_runs.matching import match_responses
from evaluation.suite_runs.scoring import score_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from evaluation.core.suite_records import SuiteRecord, SuiteResponse, Verdict
    from evaluation.suite_runs.matching import AnswerKey, MatchedResponses
    from evaluation.suite_runs.request import ChosenSuite

_Number = TypeVar("_Number", int, float)
_ROWS: Final = "rows-1-of-1.jsonl"


def score_into(  # noqa: PLR0913 (one parameter an independent choice)
    folder: Path,
    chosen: ChosenSuite,
    records: Sequence[SuiteRecord],
    responses: Iterable[SuiteResponse],
    *,
    jobs: int,
    seconds: float = 10.0,
    advance: Callable[[int], None] = lambda _steps: None,
) -> MatchedResponses:
    """Score all responses and write the rows of a run's folder anew.

    Args:
        folder: The run's folder, whose lock the caller holds.
        chosen: The suite, with its settings.
        records: The records that were asked.
        responses: What came back.
        jobs: Number of workers.
        seconds: How long scoring one response may take.
        advance: Called with the number of responses that were scored.

    Returns:
        Which response belongs to which record, and what belongs to none.
    """
    matched = match_responses(records, responses)
    verdicts = score_all(
        chosen,
        matched.pairs,
        jobs=jobs,
        seconds=seconds,
        advance=advance,
    )
    settings = msgspec.to_builtins(chosen.settings)
    with atomic_file(folder / _ROWS) as temporary, temporary.open("wb") as file:
        for scored, marks in _scored(matched.pairs, verdicts):
            mark = fingerprint(
                suite=chosen.suite.name, settings=settings, responses=marks
            )
            row = row_from_scored(scored, chosen.suite.name, mark)
            file.write(orjson.dumps(row, default=msgspec.to_builtins) + b"\n")
    return matched


def _scored(
    pairs: Sequence[tuple[SuiteRecord, SuiteResponse]], verdicts: Sequence[Verdict]
) -> Iterator[tuple[ScoredResponse, list[str]]]:
    """Yield the attempts at one answer as one, with what identifies them."""
    judged = zip(pairs, verdicts, strict=True)
    for _, same in groupby(judged, key=lambda item: _answer_key(*item[0])):
        attempts = list(same)
        (record, first), _ = attempts[0]
        answers = [response for (_, response), _ in attempts]
        scored = ScoredResponse(
            record=record.key,
            group=record.group,
            repeat=first.repeat,
            model=first.model,
            condition=first.condition,
            verdicts=tuple(verdict for _, verdict in attempts),
            prompt_tokens=_sum([answer.prompt_tokens for answer in answers]),
            output_tokens=_sum([answer.output_tokens for answer in answers]),
            reasoning_tokens=_sum([answer.reasoning_tokens for answer in answers]),
            seconds=_sum([answer.seconds for answer in answers]),
            cost=_sum([answer.cost for answer in answers]),
        )
        yield scored, [answer.fingerprint or str(answer.text) for answer in answers]


def _answer_key(record: SuiteRecord, response: SuiteResponse) -> AnswerKey:
    return record.key, response.repeat, response.model, response.condition


def _sum(figures: Sequence[_Number | None]) -> _Number | None:
    """Return the sum; None if any is not known."""
    known = [figure for figure in figures if figure is not None]
    return sum(known[1:], known[0]) if len(known) == len(figures) else None
