"""Scoring in child processes: a response that hangs a scorer costs only itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import msgspec

from curation.workers.batches import in_batches
from curation.workers.limits import Limits
from curation.workers.outcomes import Ending
from curation.workers.pool import Pool
from curation.workers.process import Program
from curation.workers.worker import Worker
from evaluation.core.suite import SCORING_FAILED, SCORING_TIMEOUT
from evaluation.core.suite_records import Verdict
from evaluation.suite_runs import scoring_worker
from evaluation.suite_runs.scoring_messages import ScoringSetup, ScoringUnit
from evaluation.suites.registry import is_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curation.workers.outcomes import ProcessResult
    from evaluation.core.suite_records import SuiteRecord, SuiteResponse
    from evaluation.suite_runs.request import ChosenSuite

#: Responses, and bytes of them, that a worker is given at a time.
_MOST: Final = 64
_HEAVIEST: Final = 2**20
_FOREVER: Final = 1 << 40


def score_all(
    chosen: ChosenSuite,
    pairs: Sequence[tuple[SuiteRecord, SuiteResponse]],
    *,
    jobs: int,
    seconds: float,
    advance: Callable[[int], None] = lambda _steps: None,
) -> list[Verdict]:
    """Return the verdict on every response, in order.

    Args:
        chosen: The suite, with its settings.
        pairs: Each response with its record; those of one record should stand
            together, as scorers keep the schemas that were asked last.
        jobs: Number of workers.
        seconds: How long scoring one response may take.
        advance: Called with the number of responses that were scored.

    Raises:
        WorkerDidNotStart: the suite cannot be loaded in a worker.
    """
    units = (
        ScoringUnit(record=record, response=response) for record, response in pairs
    )
    batches = in_batches(units, _weight, most=_MOST, heaviest=_HEAVIEST)
    found: dict[int, Sequence[ProcessResult]] = {}
    limits = _limits(seconds)
    with Pool(_program(chosen), jobs=jobs, limits=limits, attempts=1) as pool:
        for batch in pool.run_batches(batches):
            found[batch.index] = batch.results
            advance(len(batch.results))
    return [_verdict(result) for index in sorted(found) for result in found[index]]


class LiveScorer:
    """Scores one response after the other, while a run goes on.

    Example:
        >>> with LiveScorer(choose_suite("passrate"), seconds=10.0) as scorer:
        ...     scorer.score(record, response).passed
    """

    def __init__(self, chosen: ChosenSuite, *, seconds: float) -> None:
        """Prepare; the process is started when first needed."""
        self._worker = Worker(_program(chosen), _limits(seconds))

    def __enter__(self) -> Self:
        """Return the scorer."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._worker.close()

    def score(self, record: SuiteRecord, response: SuiteResponse) -> Verdict:
        """Return the verdict on one response.

        Raises:
            WorkerDidNotStart: the suite cannot be loaded in a worker.
        """
        unit = ScoringUnit(record=record, response=response)
        return _verdict(self._worker.ask(unit))


def _weight(unit: ScoringUnit) -> int:
    return len(unit.response.text or "") + len(unit.record.schema or "")


def _limits(seconds: float) -> Limits:
    return Limits(seconds=seconds, recycle_after=_FOREVER)


def _program(chosen: ChosenSuite) -> Program:
    spec = chosen.spec
    if is_path(spec):
        spec = str(Path(spec).resolve())
    settings = msgspec.to_builtins(chosen.settings)
    return Program(
        file=Path(scoring_worker.__file__),
        setup=ScoringSetup(suite=spec, settings=settings),
    )


def _verdict(result: ProcessResult) -> Verdict:
    if result.ending is Ending.OK:
        return result.answer_as(Verdict)
    late = result.ending is Ending.TIMEOUT
    return Verdict(
        passed=False,
        failure_class=SCORING_TIMEOUT if late else SCORING_FAILED,
        reasons=(result.detail,),
    )
