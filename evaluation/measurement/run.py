"""One measurement, from what is asked to the folder that holds every row."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from curation.system.progress import Quiet, announce
from evaluation.core.run_header import RunHeader
from evaluation.measurement.preconditions import (
    check_repeats,
    check_settings,
    check_usable,
)
from evaluation.measurement.request import RUNS, RunResult
from evaluation.measurement.samples import open_samples
from evaluation.results.description import describe
from evaluation.results.reader import open_run
from evaluation.setup.selected_engines import EngineUnderTest, select_engines
from evaluation.tasks.registry import task_named
from evaluation.tokenizers import get_tokenizer
from evaluation.walking.plan import RunPlan, RunTotals, header
from evaluation.walking.run import run as run_engines
from evaluation.walking.run_folder import open_results_folder
from evaluation.walking.work import wanted_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.system.progress import Progress
    from evaluation.core.cases import Sample
    from evaluation.measurement.model_setup import ModelSetup
    from evaluation.measurement.request import RunRequest
    from evaluation.servers.model_server import ModelServer
    from evaluation.walking.run_folder import ResultsFolder


def run(request: RunRequest, progress: Progress | None = None) -> RunResult:
    """Measure engines, or the texts of a model, and write one row a case.

    Rows that the run's folder already has are not measured again, so the same
    request continues a run that was ended at any moment. Engines that cannot be
    used here are named in the result and do not end the run, unless all are.

    Args:
        request: what to measure, with whom, and within which limits.
        progress: shows what takes long; nothing is shown by default.

    Example:
        >>> import evaluation
        >>> request = evaluation.RunRequest(
        ...     engines=["llguidance"], tasks=["declared"], data="my_schemas", limit=50
        ... )
        >>> result = evaluation.run(request)  # doctest: +SKIP
        >>> result.open().frame()  # doctest: +SKIP

    Raises:
        BadConfiguration: an engine, task, option or setting that makes no sense, or
            the folder is of another run (exit 78).
        NoInput: there is no such data, tokenizer or model (exit 66).
        TemporarilyUnavailable: another run is at work in the folder (exit 75).
        Unavailable: no engine can be used here, or a library is missing; before
            anything is fetched (exit 69).
        Fault: data cannot be fetched, or the folder not be written.
    """
    progress = progress or Quiet()
    participants = _participants(request)
    check_usable(participants, request)
    plan, data, count = plan_run(request, progress)
    models = _models(request, plan, progress)
    if models is not None and all(task.needs_model for task in plan.tasks):
        plan = replace(plan, tokenizer=models.tokenizer)
    head = header(
        participants, plan, data, request.limit, models.header() if models else {}
    )
    asked = _asked(participants, plan, models, count)
    head["asked"] = asked.cases + asked.texts
    folder = request.run_dir or RUNS / _name(head)
    for line in describe(msgspec.convert(head, RunHeader)):
        progress.say(line)
    progress.say(f"folder: {folder}")
    with open_results_folder(folder, head) as out:
        totals = _measure(participants, plan, models, asked, out, progress)
        # A text that a server in trouble left without an answer is asked for again.
        if not totals.unanswered:
            out.record_end(_row_counts(participants, plan, totals, out.folder))
    return RunResult(folder=folder, totals=totals)


def plan_run(
    request: RunRequest, progress: Progress
) -> tuple[RunPlan, dict[str, Json], int]:
    """Return the plan, what the header says of the data, and the number of samples."""
    tasks = [
        task_named(name).prepared(request.fetch, progress.say)
        for name in dict.fromkeys(request.tasks)
    ]
    check_settings(tasks, request.settings)
    check_repeats(tasks, request.repeats)
    about: dict[str, Json] = {}
    samples: Callable[[], Iterable[Sample]] = tuple
    count = 0
    if any(task.needs_data for task in tasks):
        data = open_samples(
            request,
            progress,
            instances=not request.given_only
            and any(task.needs_data and task.needs_instances for task in tasks),
        )
        samples, count, about = data.samples, data.count, data.header()
    timed = any(task.timed for task in tasks)
    plan = RunPlan(
        tasks=tasks,
        samples=samples,
        tokenizer=get_tokenizer(request.tokenizer, request.fetch, say=progress.say),
        settings=request.settings,
        bounds=request.bounds,
        jobs=request.jobs or (1 if timed else os.cpu_count() or 1),
        repeats=request.repeats,
        shard=request.shard,
        only=frozenset(request.only),
    )
    return plan, about, count


def _participants(request: RunRequest) -> Sequence[EngineUnderTest | ModelServer]:
    if not request.models.over_http:
        cache = request.fetch.cache
        return select_engines(cache, request.engines, request.preset, request.options)
    from evaluation.measurement.server_participants import (  # noqa: PLC0415 - heavy, rarely asked
        model_servers,
    )

    return model_servers(request)


def _models(
    request: RunRequest, plan: RunPlan, progress: Progress
) -> ModelSetup | None:
    """Return the model, loaded; None if no task needs one."""
    if not any(task.needs_model for task in plan.tasks):
        return None
    from evaluation.measurement.model_setup import ModelSetup  # noqa: PLC0415 - heavy

    return ModelSetup(request.models, request.fetch, progress.say, plan.tokenizer)


@dataclass(frozen=True, slots=True, kw_only=True)
class _WantedRows:
    """How many rows are wanted of all who can be run."""

    cases: int
    #: Texts of models that write one batch after the other.
    texts: int


def _measure(  # noqa: PLR0913, PLR0917 (the run's own parts)
    participants: Sequence[EngineUnderTest | ModelServer],
    plan: RunPlan,
    models: ModelSetup | None,
    asked: _WantedRows,
    out: ResultsFolder,
    progress: Progress,
) -> RunTotals:
    """Have the engines asked, then the models write."""
    texts = asked.texts
    without_model = [task for task in plan.tasks if not task.needs_model]
    totals = RunTotals()
    if without_model:
        engines = [
            participant
            for participant in participants
            if isinstance(participant, EngineUnderTest)
        ]
        with progress.bar("Measuring", asked.cases) as advance:
            own = replace(plan, tasks=without_model)
            totals = run_engines(engines, own, out, advance, progress.say)
    if models is None or not texts:
        return totals
    seconds = models.most_seconds(plan.samples(), texts)
    if seconds is not None:
        announce(progress, "Writing", seconds, "at most, at the model's speed here")
    with progress.bar("Writing", texts) as advance:
        written = models.run(participants, plan.samples(), out, advance)
    totals.found += written.found
    totals.ran += written.ran
    totals.unanswered += written.unanswered
    totals.unavailable.update(written.unavailable)
    return totals


def _row_counts(
    participants: Sequence[EngineUnderTest | ModelServer],
    plan: RunPlan,
    totals: RunTotals,
    folder: Path,
) -> dict[tuple[str, str], int]:
    """Return how many rows there are, of everyone who could be run."""
    there = open_run(folder).row_counts
    # The rows of a task that only reads are those of the task that it reads.
    tasks = dict.fromkeys(task.reads or task.name for task in plan.tasks)
    return {
        (participant.label, task): there.get((participant.label, task), 0)
        for participant in participants
        if participant.label not in totals.unavailable
        for task in tasks
    }


def _name(head: Mapping[str, Json]) -> str:
    name = str(head["plan"])[:12]
    shard = str(head["shard"])
    return name if shard == "1/1" else f"{name}-{shard.replace('/', '-of-')}"


def _asked(
    participants: Sequence[EngineUnderTest | ModelServer],
    plan: RunPlan,
    models: ModelSetup | None,
    samples: int,
) -> _WantedRows:
    usable = sum(not participant.unavailable for participant in participants)
    cases = sum(
        (samples if task.needs_data else sum(1 for _ in wanted_cases(task, (), plan)))
        * (plan.repeats if task.takes_turns else 1)
        for task in plan.tasks
        if not task.needs_model
    )
    texts = samples * models.questions.samples if models else 0
    return _WantedRows(
        cases=cases * usable,
        texts=texts * usable,
    )
