"""One measurement, from what is asked to the folder that holds every row."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.cluster.executor import RayExecutor, open_executor
from curation.credentials.redaction import redacted
from curation.stores.object_store import is_url
from curation.system.progress import Quiet, announce
from evaluation.core.run_header import RunHeader
from evaluation.execution.header import header
from evaluation.execution.plan import RunPlan, RunTotals
from evaluation.execution.results_folder import open_results_folder
from evaluation.measurement.preconditions import (
    check_executor,
    check_open_loop,
    check_repeats,
    check_settings,
    check_usable,
)
from evaluation.measurement.request import RUNS, RunResult
from evaluation.measurement.samples import open_samples
from evaluation.measurement.served_request import served
from evaluation.results.description import describe
from evaluation.results.reader import open_run
from evaluation.scheduling.lanes import LocalLanes
from evaluation.scheduling.runner import run as run_engines
from evaluation.scheduling.shared_work import wanted_cases
from evaluation.setup.selected_engines import EngineUnderTest, select_engines
from evaluation.stored_runs.stored_run import open_stored_results
from evaluation.tasks.registry import task_named
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from curation.core.json_types import Json
    from curation.system.progress import Progress
    from curation.workers.executor import Executor
    from evaluation.core.cases import Sample
    from evaluation.execution.results_folder import ResultsFolder
    from evaluation.measurement.cluster_models import ClusterModels
    from evaluation.measurement.model_setup import ModelSetup
    from evaluation.measurement.request import RunRequest
    from evaluation.scheduling.lanes import EngineLanes
    from evaluation.servers.model_server import ModelServer


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
    if request.serve is not None:
        with served(request, request.serve, progress.say) as asked_there:
            return run(asked_there, progress)
    check_open_loop(request)
    participants = _participants(request)
    check_usable(participants, request)
    tasks = [task_named(name) for name in request.tasks]
    check_executor(tasks, request)
    one_a_node = request.jobs is None and any(task.timed for task in tasks)
    with (
        open_executor(
            request.executor, request.jobs, progress.say, one_a_node=one_a_node
        ) as executor,
        ExitStack() as stack,
    ):
        return _run_with(request, participants, executor, progress, stack)


def _run_with(
    request: RunRequest,
    participants: Sequence[EngineUnderTest | ModelServer],
    executor: Executor,
    progress: Progress,
    stack: ExitStack,
) -> RunResult:
    """Run a request whose participants are known, with an executor that is open."""
    plan, data, count = plan_run(request, progress)
    plan, lanes = _lanes(participants, plan, executor, progress)
    here = _models(request, plan, progress)
    models: ModelSetup | ClusterModels | None = here
    if isinstance(executor, RayExecutor) and any(
        task.needs_model for task in plan.tasks
    ):
        models = stack.enter_context(
            _cluster_models(request, participants, executor, lanes, progress)
        )
    if models is not None and all(task.needs_model for task in plan.tasks):
        plan = replace(plan, tokenizer=models.tokenizer)
    head = header(
        participants, plan, data, request.limit, _about_models(models, request)
    )
    asked = _asked(participants, plan, here or models, request, count)
    head["asked"] = asked.cases + asked.texts + asked.arriving
    head["executor"] = lanes.header()
    place = request.run_dir or RUNS / _name(head)
    for line in describe(msgspec.convert(head, RunHeader)):
        progress.say(line)
    progress.say(f"folder: {redacted(str(place))}")
    with _opened(place, head, request, progress) as out:
        totals = _measure(participants, plan, lanes, models, asked, out, progress)
        if here is not None and request.open_loop is not None:
            with progress.bar("Sending", asked.arriving) as advance:
                sent = here.run_open_loop(
                    participants, plan.samples(), request.open_loop, out, advance
                )
            totals.found += sent.found
            totals.ran += sent.ran
        # A text that a server in trouble left without an answer is asked for again.
        if not totals.unanswered:
            out.flush()
            out.record_end(_units(participants, plan, totals, out.folder))
        folder = out.folder
    return RunResult(folder=folder, totals=totals, place=redacted(str(place)))


def _opened(
    place: Path | str, head: Mapping[str, Json], request: RunRequest, progress: Progress
) -> AbstractContextManager[ResultsFolder]:
    """Return the run's folder, to be opened: on this machine or at a URL."""
    if isinstance(place, str) and is_url(place):
        cache = request.fetch.cache
        return open_stored_results(place, head, cache, progress.say)
    return open_results_folder(Path(place), head)


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
    """Return the model, loaded here; None where no task needs one, or nodes load it."""
    if request.executor.is_ray or not any(task.needs_model for task in plan.tasks):
        return None
    from evaluation.measurement.model_setup import ModelSetup  # noqa: PLC0415 - heavy

    return ModelSetup(request.models, request.fetch, progress.say, plan.tokenizer)


def _cluster_models(
    request: RunRequest,
    participants: Sequence[EngineUnderTest | ModelServer],
    executor: RayExecutor,
    lanes: EngineLanes,
    progress: Progress,
) -> ClusterModels:
    """Return the model's copies on a cluster, loaded."""
    from evaluation.measurement.cluster_models import (  # noqa: PLC0415 - heavy
        ClusterModels,
    )

    return ClusterModels(
        request.models,
        [one for one in participants if isinstance(one, EngineUnderTest)],
        executor,
        lanes,
        request.jobs,
        progress.say,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _AskedUnits:
    """How many units are asked of all who can be run."""

    cases: int
    #: Texts of models that write one batch after the other.
    texts: int
    #: Requests that arrive at a server by themselves.
    arriving: int


def _about_models(
    models: ModelSetup | ClusterModels | None, request: RunRequest
) -> dict[str, Json]:
    """Return what the header says of models, and of how they are asked."""
    about = models.header() if models else {}
    if request.open_loop is not None:
        about["open_loop"] = request.open_loop.header()
    return about


def _lanes(
    participants: Sequence[EngineUnderTest | ModelServer],
    plan: RunPlan,
    executor: Executor,
    progress: Progress,
) -> tuple[RunPlan, EngineLanes]:
    """Return the plan with its number of workers, and where these are."""
    if not isinstance(executor, RayExecutor):
        return plan, LocalLanes(plan, progress.say)
    from evaluation.scheduling.cluster_lanes import (  # noqa: PLC0415 - rarely asked
        ClusterLanes,
    )

    plan = replace(plan, jobs=executor.jobs)
    engines = [one for one in participants if isinstance(one, EngineUnderTest)]
    return plan, ClusterLanes(executor, plan, engines, progress.say)


def _measure(  # noqa: PLR0913, PLR0917 (the run's own parts)
    participants: Sequence[EngineUnderTest | ModelServer],
    plan: RunPlan,
    lanes: EngineLanes,
    models: ModelSetup | ClusterModels | None,
    asked: _AskedUnits,
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
            totals = run_engines(engines, own, out, lanes, advance)
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


def _units(
    participants: Sequence[EngineUnderTest | ModelServer],
    plan: RunPlan,
    totals: RunTotals,
    folder: Path,
) -> dict[tuple[str, str], int]:
    """Return how many units there are, of everyone who could be run."""
    there = open_run(folder).units
    # The units of a task that only reads are those of the task that it reads.
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
    models: ModelSetup | ClusterModels | None,
    request: RunRequest,
    samples: int,
) -> _AskedUnits:
    usable = sum(not participant.unavailable for participant in participants)
    cases = sum(
        (samples if task.needs_data else sum(1 for _ in wanted_cases(task, (), plan)))
        * (plan.repeats if task.takes_turns else 1)
        for task in plan.tasks
        if not task.needs_model
    )
    texts = samples * models.questions.samples if models else 0
    writes = any(task.needs_model and not task.needs_server for task in plan.tasks)
    return _AskedUnits(
        cases=cases * usable,
        texts=texts * usable if writes else 0,
        arriving=models.count_arriving(participants, texts, request.open_loop)
        if models and request.open_loop
        else 0,
    )
