"""One run of a suite, from what is asked to the folder that holds every row."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from curation.system.errors import NoInput
from curation.system.progress import Quiet, announce
from evaluation.core.suite import RecordSet
from evaluation.measurement.expected_time import LOOKED_AT
from evaluation.measurement.request import RUNS
from evaluation.results.reader import open_run
from evaluation.results.suite_rows import SUITE
from evaluation.suite_runs.header import suite_header
from evaluation.suite_runs.records import RECORDS, read_records, records_of
from evaluation.suite_runs.request import SuiteRunResult
from evaluation.suite_runs.response_files import RESPONSES, read_responses
from evaluation.suite_runs.score_folder import score_into
from evaluation.suite_runs.scoring import LiveScorer
from evaluation.suite_runs.suite_folder import SuiteFolder, open_suite_folder
from evaluation.suite_runs.writers import suite_writers
from evaluation.suite_runs.writing import Questioner
from evaluation.walking.run_folder import hold_run_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from curation.core.json_types import Json, UntypedJson
    from curation.system.progress import Progress
    from evaluation.suite_runs.request import SuiteRunRequest
    from evaluation.suite_runs.response_files import ResponseFile
    from evaluation.suite_runs.writers import SuiteWriter
    from evaluation.suite_runs.writing import WritingTotals


def run_suite(
    request: SuiteRunRequest, progress: Progress | None = None
) -> SuiteRunResult:
    """Have models answer the records of a suite, and score what they answer.

    Responses that the run's folder already has are not asked for again, so the same
    request continues a run that was ended at any moment. Everything is scored anew at
    the end.

    Args:
        request: Which suite, which records, and who writes.
        progress: Shows what takes long; nothing is shown by default.

    Raises:
        BadConfiguration: an option makes no sense, or the folder is of another run.
        NoInput: there are no such records, or no such model.
        TemporarilyUnavailable: another run is at work in the folder (exit 75).
        Fault: data cannot be fetched, or the folder not be written.
    """
    progress = progress or Quiet()
    chosen = request.chosen
    records = records_of(chosen, request.wanted)
    writers = suite_writers(request, progress.say)
    with ExitStack() as stack:
        for writer in writers:
            if writer.writer is not None:
                stack.callback(writer.writer.close)
        head = suite_header(chosen, records, _participants(writers), _asked(request))
        folder = stack.enter_context(_opened(request, head))
        folder.keep_records(records.records)
        totals = _write(request, records, writers, folder, progress)
        result = _score(request, records, folder, progress)
    return replace(
        result,
        written=totals.written,
        found=totals.found,
        in_trouble=totals.in_trouble,
        unavailable=totals.unavailable,
    )


def _opened(
    request: SuiteRunRequest, head: Mapping[str, Json]
) -> AbstractContextManager[SuiteFolder]:
    """Return the run's folder, to be opened."""
    place = request.run_dir or RUNS / str(head["plan"])[:12]
    return open_suite_folder(place, head)


def score_file(
    request: SuiteRunRequest, path: Path, progress: Progress | None = None
) -> SuiteRunResult:
    """Score responses that are there, in a file or in a run's folder; asks no model.

    The records are those of the folder, or those that the request names. A folder of
    a run is scored in place; of a file the folder is `--run-dir`, or one below `runs`.

    Args:
        request: Which suite, and which records; models and engines are not looked at.
        path: A run's folder, or a file of responses.
        progress: Shows what takes long; nothing is shown by default.

    Raises:
        NoInput: there is no such file, or there are no records.
        BadData: nothing in the file is a response.
        Fault: the folder cannot be written.
    """
    progress = progress or Quiet()
    file = read_responses(
        path / RESPONSES if path.is_dir() else path,
        request.chosen.suite.published_response,
    )
    records = _records_beside(request, path)
    written = _written_header(path)
    if written is not None and request.run_dir is None:
        asked = request.chosen.header().items()
        if asked <= written.get(SUITE, {}).items():
            with hold_run_folder(path, written):
                here = SuiteFolder(path)
                return _score(request, records, here, progress, file)
    participants = _labels(file) if written is None else written["engines"]
    facts: dict[str, Json] = {"file": path.name, "sha256": file.sha256}
    head = suite_header(request.chosen, records, participants, facts)
    with _opened(request, head) as folder:
        folder.keep_records(records.records)
        folder.keep_responses(file.responses)
        return _score(request, records, folder, progress, file)


def _written_header(path: Path) -> dict[str, UntypedJson] | None:
    """Return the header of a run's folder; None of a file."""
    return dict(open_run(path).raw_header) if path.is_dir() else None


def _records_beside(request: SuiteRunRequest, path: Path) -> RecordSet:
    """Return the records that responses answer."""
    beside = (path if path.is_dir() else path.parent) / RECORDS
    if request.wanted.data is None and beside.is_file():
        found = read_records(beside)
        return RecordSet(name=str(beside), origin="file", records=found)
    return records_of(request.chosen, request.wanted)


def _participants(writers: Sequence[SuiteWriter]) -> list[dict[str, Json]]:
    return [{**writer.about, "engine": writer.label} for writer in writers]


def _labels(file: ResponseFile) -> list[dict[str, Json]]:
    """Return an entry of the header for each model and condition of a file."""
    labels = dict.fromkeys(response.label for response in file.responses)
    if not labels:
        raise NoInput("no responses", str(file.path))
    return [{"engine": label, "name": label} for label in labels]


def _asked(request: SuiteRunRequest) -> dict[str, Json]:
    """Return what decides the responses beside suite, records and writers."""
    models: list[Json] = [
        {
            "model": asked.model,
            "samples": asked.samples,
            "temperature": asked.temperature,
            "budget": asked.budget,
            "prices": None
            if asked.prices is None
            else [asked.prices.prompt, asked.prices.output],
        }
        for asked in request.models
    ]
    return {
        "seed": request.wanted.seed,
        "repairs": request.repairs,
        "models": models,
    }


def _write(
    request: SuiteRunRequest,
    records: RecordSet,
    writers: Sequence[SuiteWriter],
    folder: SuiteFolder,
    progress: Progress,
) -> WritingTotals:
    total = sum(len(records.records) * writer.asked.samples for writer in writers)
    seconds = _most_seconds(request, records, writers)
    announce(progress, "Writing", seconds, "at most, at the model's speed here")
    with ExitStack() as stack:
        store = stack.enter_context(folder.responses())
        scorer = None
        if request.repairs:
            scorer = stack.enter_context(
                LiveScorer(request.chosen, seconds=request.scoring_seconds)
            )
        advance = stack.enter_context(progress.bar("Writing", total))
        questioner = Questioner(
            chosen=request.chosen,
            store=store,
            scorer=scorer,
            repairs=request.repairs,
            seed=request.wanted.seed,
            batch=max(asked.batch for asked in request.models),
            advance=advance,
        )
        return questioner.ask_all(records.records, writers)


def _most_seconds(
    request: SuiteRunRequest, records: RecordSet, writers: Sequence[SuiteWriter]
) -> float:
    """Return how long writing takes if every answer uses its budget; 0 of servers."""
    chosen = request.chosen
    prompts = [
        chosen.suite.prompt(record, chosen.settings)
        for record in islice(records.records, LOOKED_AT)
    ]
    speeds: dict[str, float] = {}
    total = 0.0
    for writer in writers:
        if writer.writer is None or writer.setup is None:
            continue
        if writer.model not in speeds:
            asked = [
                (prompt.messages, writer.asked.budget or prompt.budget)
                for prompt in prompts
            ]
            speeds[writer.model] = writer.setup.seconds_a_text(asked) or 0.0
        total += speeds[writer.model] * writer.asked.samples
    return total * len(records.records) * (request.repairs + 1)


def _score(
    request: SuiteRunRequest,
    records: RecordSet,
    folder: SuiteFolder,
    progress: Progress,
    file: ResponseFile | None = None,
) -> SuiteRunResult:
    """Score the responses of a file, or those of the folder."""
    file = file or read_responses(folder.folder / RESPONSES)
    with progress.bar("Scoring", len(file.responses)) as advance:
        matched = folder.keep_scores(
            partial(
                score_into,
                chosen=request.chosen,
                records=records.records,
                responses=file.responses,
                jobs=request.jobs or os.cpu_count() or 1,
                seconds=request.scoring_seconds,
                advance=advance,
            )
        )
    unanswered = [
        f"{label} has not answered {count:,} of {len(records.records):,} records"
        for label, count in matched.unanswered.items()
        if count
    ]
    problems = (*file.problems, *matched.problems, *unanswered)
    return SuiteRunResult(folder=folder.folder, problems=problems)
