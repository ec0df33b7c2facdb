"""Match responses to records, and score them in child processes.

A response that hangs or crashes a scorer costs only itself. Nothing counts twice, and
no response is dropped silently.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from contextlib import closing, contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from curation.system.atomic_files import atomic_file
from curation.system.words import counted
from curation.workers.fingerprint import fingerprint
from curation.workers.limits import Ending, Limits, ProcessResult
from curation.workers.pool import Pool, in_batches
from curation.workers.process import Program
from curation.workers.worker import Worker
from evaluation.core.records import Record, Response, Verdict
from evaluation.core.run_header import RunHeader
from evaluation.core.suite import (
    SCORING_CLASSES,
    SCORING_FAILED,
    SCORING_TIMEOUT,
    ScoredResponse,
)
from evaluation.masks.run_folder import AttemptMark, whole_lines
from evaluation.results.attempts import ATTEMPTS, make_line
from evaluation.results.reader import NotAnAttempt, parse_line
from evaluation.results.suite_rows import row_from_scored
from evaluation.runner import scoring_worker
from evaluation.runner.response_files import names_of_records
from evaluation.runner.scoring_worker import ScoringCase
from evaluation.suites.registry import is_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evaluation.runner.request import SuiteChoice

#: Figures of a response that are added up over its attempts.
_FIGURES: Final = (
    "prompt_tokens",
    "output_tokens",
    "reasoning_tokens",
    "seconds",
    "cost",
)
#: Responses, and bytes of them, that a worker is given at a time.
_MAX: Final = 64
_HEAVIEST: Final = 2**20


def score_into(  # noqa: PLR0913 (one parameter an independent choice)
    folder: Path,
    choice: SuiteChoice,
    records: Sequence[Record],
    responses: Iterable[Response],
    *,
    jobs: int,
    advance: Callable[[int], None] = lambda _steps: None,
) -> list[str]:
    """Score all responses and write the suite's attempts again.

    Args:
        folder: A run's folder, whose lock the caller holds.
        choice: The suite, with its settings.
        records: The records of the run.
        responses: The answers to them.
        jobs: Number of workers.
        advance: Called with the number of scored responses.

    Returns:
        What could not be matched, a line for each kind of trouble.
    """
    pairs, problems = match_responses(records, responses)
    verdicts = score_all(choice, pairs, jobs=jobs, advance=advance)
    settings = msgspec.to_builtins(choice.settings)
    path = folder / ATTEMPTS
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        for line in whole_lines(path):
            with suppress(NotAnAttempt):
                if parse_line(line, AttemptMark).task == choice.suite.name:
                    continue
            file.write(line)
        for scored, marks in _scored(pairs, verdicts):
            mark = fingerprint(
                suite=choice.suite.name, settings=settings, responses=marks
            )
            row = row_from_scored(scored, choice.suite.name, mark)
            file.write(make_line(row, RunHeader()) + b"\n")
    return problems


def _scored(
    pairs: Sequence[tuple[Record, Response]], verdicts: Sequence[Verdict]
) -> Iterator[tuple[ScoredResponse, list[str]]]:
    """Yield the attempts at one answer as one, with what identifies them."""
    judged = zip(pairs, verdicts, strict=True)
    for _, same in groupby(
        judged,
        key=lambda pair: (
            pair[0][0].key,
            pair[0][1].repeat,
            pair[0][1].model,
            pair[0][1].condition,
        ),
    ):
        attempts = list(same)
        (record, first), _ = attempts[0]
        answers = [response for (_, response), _ in attempts]
        figures: dict[str, Any] = {
            name: _sum([getattr(answer, name) for answer in answers])
            for name in _FIGURES
        }
        scored = ScoredResponse(
            record=record.key,
            group=record.group,
            repeat=first.repeat,
            model=first.model,
            condition=first.condition,
            verdicts=tuple(verdict for _, verdict in attempts),
            weight=record.weight,
            participant=first.participant,
            writing=answers[-1].writing,
            **figures,
        )
        yield scored, [answer.fingerprint or str(answer.text) for answer in answers]


def _sum(figures: Sequence[float | None]) -> float | None:
    """Return the sum; None if any is not known."""
    present = [figure for figure in figures if figure is not None]
    return sum(present) if len(present) == len(figures) else None


def match_responses(
    records: Sequence[Record], responses: Iterable[Response]
) -> tuple[list[tuple[Record, Response]], list[str]]:
    """Return the responses with their records, and a line for each kind of trouble.

    They are in the records' order, then by model, condition, repeat and attempt.

    A response names its record by key, or by a unique id. Of two responses with the
    same record, model, condition, repeat and attempt the first one counts, unless it
    only reports a server in trouble.
    """
    by_name = names_of_records(records)
    by_record: dict[str, dict[tuple[str, str, int, int], Response]] = defaultdict(dict)
    unknown: list[str] = []
    repeated: list[str] = []
    labels: dict[tuple[str, str], set[str]] = {}
    for response in responses:
        record = by_name.get(response.record)
        if record is None:
            unknown.append(response.record)
            continue
        key = (response.model, response.condition, response.repeat, response.attempt)
        responses_to = by_record[record.key]
        if key in responses_to:
            earlier = responses_to[key]
            if earlier.error and not earlier.fingerprint:
                responses_to[key] = response
            else:
                repeated.append(f"{record.key} ({response.label})")
            continue
        responses_to[key] = response
        answered = labels.setdefault((response.label, response.condition), set())
        answered.add(record.key)
    pairs = [
        (record, by_record[record.key][key])
        for record in records
        for key in sorted(by_record[record.key])
    ]
    problems = []
    if unknown:
        problems.append(_line(unknown, "for no record of this set"))
    if repeated:
        message = "for what was answered already; the first one counts"
        problems.append(_line(repeated, message))
    for (label, condition), keys in labels.items():
        asked = {record.key for record in records if record.is_asked(condition)}
        if missing := len(asked - keys):
            message = f"has not answered {missing:,} of {len(records):,} records"
            problems.append(f"{label} {message}")
    return pairs, problems


def _line(names: Sequence[str], what: str) -> str:
    examples = ", ".join(dict.fromkeys(names[:5]))
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""  # noqa: PLR2004 (those above)
    return f"{counted(len(names), 'response')} {what}: {examples}{more}"


def score_all(
    choice: SuiteChoice,
    pairs: Sequence[tuple[Record, Response]],
    *,
    jobs: int,
    advance: Callable[[int], None] = lambda _steps: None,
) -> list[Verdict]:
    """Return the verdict on every response, in order.

    Args:
        choice: The suite, with its settings.
        pairs: Each response with its record; responses to one record should be
            together, as scorers keep recent schemas.
        jobs: Number of workers.
        advance: Called with the number of scored responses.

    Raises:
        WorkerDidNotStart: the suite cannot be loaded in a worker.
    """
    verdicts = _verdicts(choice, pairs, jobs, advance)
    failed = [
        index
        for index, verdict in enumerate(verdicts)
        if verdict.failure_class in SCORING_CLASSES
    ]
    if failed and choice.suite.fallback is not None:
        again = [pairs[index] for index in failed]
        later = _verdicts(choice, again, jobs, fallback=True)
        for index, verdict in zip(failed, later, strict=True):
            verdicts[index] = verdict
    return verdicts


def _verdicts(
    choice: SuiteChoice,
    pairs: Sequence[tuple[Record, Response]],
    jobs: int,
    advance: Callable[[int], None] = lambda _steps: None,
    *,
    fallback: bool = False,
) -> list[Verdict]:
    cases = (
        ScoringCase(record=record, response=response) for record, response in pairs
    )
    cut = in_batches(
        cases,
        lambda case: len(case.response.text or "") + len(case.record.schema or ""),
        most=_MAX,
        heaviest=_HEAVIEST,
    )
    batches = list(cut)
    # A worker that is given nothing takes as long to start.
    jobs = min(jobs, len(batches))
    results: dict[int, Sequence[ProcessResult]] = {}
    program, limits = _worker(choice, fallback=fallback)
    with Pool(program, jobs=jobs, limits=limits, attempts=1) as pool:
        for batch in pool.run_batches(batches):
            results[batch.index] = batch.results
            advance(len(batch.results))
    return [_verdict(result) for index in sorted(results) for result in results[index]]


@contextmanager
def live_scorer(
    choice: SuiteChoice,
) -> Iterator[Callable[[Record, Response], Verdict]]:
    """Open a scorer of single responses for a running run.

    The process is started when first needed. `WorkerDidNotStart` is raised then if the
    suite cannot be loaded in it.

    Example:
        >>> with live_scorer(choose_suite("passrate")) as score:
        ...     score(record, response).passed
    """
    with closing(Worker(*_worker(choice))) as worker:

        def score(record: Record, response: Response) -> Verdict:
            return _verdict(worker.ask(ScoringCase(record=record, response=response)))

        yield score


def _worker(choice: SuiteChoice, *, fallback: bool = False) -> tuple[Program, Limits]:
    limits = Limits(seconds=choice.suite.scoring_seconds, recycle_after=sys.maxsize)
    spec = choice.spec
    if is_path(spec):
        spec = str(Path(spec).resolve())
    settings = msgspec.to_builtins(choice.settings)
    program = Program(
        file=Path(scoring_worker.__file__),
        setup={"suite": spec, "settings": settings, "fallback": fallback},
    )
    return program, limits


def _verdict(result: ProcessResult) -> Verdict:
    if result.ending is Ending.OK:
        return result.answer_as(Verdict)
    late = result.ending is Ending.TIMEOUT
    return Verdict(
        passed=False,
        failure_class=SCORING_TIMEOUT if late else SCORING_FAILED,
        reasons=(result.detail,),
    )
