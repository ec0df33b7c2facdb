"""What `csbdata eval` does once its command line is read."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from curation.system.errors import BadConfiguration, Unavailable
from curation.system.progress import Quiet, Shown
from curation.system.terminal import say
from evaluation.reporting.printing import ReportFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from curation.system.progress import Progress
    from evaluation.commands.model_setup import Models
    from evaluation.core.cases import Sample
    from evaluation.core.task import Settings
    from evaluation.execution.engine_worker import Bounds
    from evaluation.execution.plan import Plan, RunTotals
    from evaluation.execution.run_folder import RunFolder
    from evaluation.generation.model_options import ModelOptions as AskedOfModels
    from evaluation.servers.server_writer import ModelServer
    from evaluation.setup.selected_engines import EngineUnderTest

RUNS = Path("runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The command line, read."""

    engines: Sequence[str]
    tasks: Sequence[str]
    data: str | None
    tokenizer: str
    preset: str
    options: Sequence[str]
    settings: Settings
    bounds: Bounds
    configs: Sequence[str]
    splits: Sequence[str]
    limit: int | None
    only: Sequence[str]
    jobs: int | None
    shard: tuple[int, int]
    run_dir: Path | None
    #: What is said of models; used by the tasks in which one writes.
    models: AskedOfModels


def default_tasks(*, over_http: bool) -> list[str]:
    """Return the tasks of a command line without any, by what is installed."""
    from evaluation.models.store import INSTALL, missing_libraries

    without, writing = ["declared", "masks"], ["coverage", "efficiency"]
    if over_http:
        return writing
    if not missing_libraries():
        return [*without, *writing]
    say(f"coverage and efficiency have a model write; for them: {INSTALL}")
    return without


def for_paper(asked: Asked) -> Asked:
    """Return the same as the paper did it: limits, presets, split, model, prompt."""
    from evaluation.generation.model_options import as_paper

    bounds = replace(asked.bounds, compile_seconds=40.0, run_seconds=40.0)
    return replace(
        asked,
        preset="paper",
        splits=["test"],
        bounds=bounds,
        models=as_paper(asked.models),
    )


def execute(asked: Asked, format_: ReportFormat) -> None:
    """Measure, and tell.

    Raises:
        Unavailable: no engine could be run (exit 69).
    """
    progress = Quiet() if format_ is ReportFormat.JSON else Shown()
    folder, tally = _run(asked, progress)
    _tell(folder, tally, format_)
    if tally.unavailable and not (tally.ran or tally.found):
        raise Unavailable("no engine of this run can be used here")


def _run(asked: Asked, progress: Progress) -> tuple[Path, RunTotals]:
    from evaluation.execution.header import header
    from evaluation.execution.run_folder import open_run_folder
    from evaluation.setup.selected_engines import select_engines

    participants: Sequence[EngineUnderTest | ModelServer]
    if asked.models.over_http:
        participants = _servers(asked)
    else:
        participants = select_engines(asked.engines, asked.preset, asked.options)
    plan, data, count = _plan(asked, progress)
    models = _models(asked, plan, progress)
    head = header(
        participants, plan, data, asked.limit, models.header() if models else {}
    )
    folder = asked.run_dir or RUNS / _name(head)
    with open_run_folder(folder, head) as out:
        return folder, _measure(participants, plan, models, count, out, progress)


def _servers(asked: Asked) -> Sequence[ModelServer]:
    """Return who takes part where the model is a server.

    Raises:
        BadConfiguration: a task that asks an engine for masks, or no such dialect.
        Unavailable: the server does not answer (exit 69).
    """
    from evaluation.servers.client import ServerClient, ServerConnection, split_address
    from evaluation.servers.server_writer import server_participants
    from evaluation.tasks.registry import task_named

    asking = [each for each in asked.tasks if not task_named(each).needs_model]
    if asking:
        raise BadConfiguration(
            f"a server gives no masks, so it cannot be asked for {', '.join(asking)}",
            then="say --task coverage --task efficiency",
        )
    base, model = split_address(asked.models.model)
    found = server_participants(base, model, asked.engines, asked.bounds.run_seconds)
    client = ServerClient(
        ServerConnection(base=base, model=model, keys=found[0].dialect.keys)
    )
    try:
        about = client.about()
    finally:
        client.close()
    served = [str(each) for each in about["models"]]
    if not model and len(served) == 1:
        found = server_participants(
            base, served[0], asked.engines, asked.bounds.run_seconds
        )
    elif not model:
        raise BadConfiguration(
            "this server has several models, or does not name them",
            then=f"say --model {base}#NAME ({', '.join(served[:5]) or 'any'})",
        )
    return [replace(each, about=about) for each in found]


def _models(asked: Asked, plan: Plan, progress: Progress) -> Models | None:
    """Return the model, loaded; None where no task needs one."""
    if not any(each.needs_model for each in plan.tasks):
        return None
    from evaluation.commands.model_setup import Models

    return Models(asked.models, progress.say)


def _measure(  # noqa: PLR0913, PLR0917 (the run's own parts)
    participants: Sequence[EngineUnderTest | ModelServer],
    plan: Plan,
    models: Models | None,
    count: int | None,
    out: RunFolder,
    progress: Progress,
) -> RunTotals:
    """Have the engines asked, then the models write."""
    from evaluation.data.sampling import take_shard
    from evaluation.execution.plan import RunTotals
    from evaluation.execution.runner import run
    from evaluation.setup.selected_engines import EngineUnderTest

    usable = sum(not each.unavailable for each in participants)
    asking = [each for each in plan.tasks if not each.needs_model]
    total = None if count is None else _count(plan, count) * usable
    tally = RunTotals()
    if asking:
        engines = [each for each in participants if isinstance(each, EngineUnderTest)]
        with progress.bar("Measuring", total) as advance:
            tally = run(engines, replace(plan, tasks=asking), out, advance)
    if models is None:
        return tally
    shard, shards = plan.shard
    texts = None
    if count is not None:
        texts = ((count - shard) // shards + 1) * usable * models.questions.samples
    subjects = take_shard(plan.subjects(), *plan.shard)
    with progress.bar("Writing", texts) as advance:
        written = models.run(participants, subjects, out, advance)
    tally.found += written.found
    tally.ran += written.ran
    tally.unavailable.update(written.unavailable)
    return tally


def _name(head: dict[str, UntypedJson]) -> str:
    name = str(head["plan"])[:12]
    shard = str(head["shard"])
    return name if shard == "1/1" else f"{name}-{shard.replace('/', '-of-')}"


def _plan(
    asked: Asked, progress: Progress
) -> tuple[Plan, dict[str, UntypedJson], int | None]:
    """Return the plan, what the header says of the data, and the number of units."""
    from evaluation.data import SampleSelection, open_data
    from evaluation.execution.plan import Plan
    from evaluation.tasks.registry import task_named
    from evaluation.tokenizers import get_tokenizer

    tasks = [task_named(each) for each in dict.fromkeys(asked.tasks)]
    about: dict[str, UntypedJson] = {}
    subjects: Callable[[], Iterable[Sample]] = tuple
    count: int | None = None if asked.only else 0
    if any(each.needs_data for each in tasks):
        choice = SampleSelection(
            configs=tuple(asked.configs),
            splits=tuple(asked.splits),
            ids=frozenset(asked.only),
            limit=asked.limit,
            seed=asked.settings.seed,
        )
        found = open_data(
            asked.data,
            choice=choice,
            instances=any(each.needs_data and each.needs_instances for each in tasks),
            progress=progress,
        )
        subjects, count, about = found.subjects, found.count, found.header()
    timed = any(each.timed for each in tasks)
    plan = Plan(
        tasks=tasks,
        subjects=subjects,
        tokenizer=get_tokenizer(asked.tokenizer, say=progress.say),
        settings=asked.settings,
        bounds=asked.bounds,
        jobs=asked.jobs or (1 if timed else os.cpu_count() or 1),
        shard=asked.shard,
        only=frozenset(asked.only),
    )
    return plan, about, count


def _count(plan: Plan, subjects: int) -> int:
    """Return the number of units of one engine, but for what models write."""
    shard, shards = plan.shard
    total = 0
    for task in plan.tasks:
        if task.needs_model:
            continue
        units = subjects
        if not task.needs_data:
            units = sum(1 for _ in task.units((), plan.settings))
        total += (units - shard) // shards + 1
    return total


def _tell(folder: Path, tally: RunTotals, format_: ReportFormat) -> None:
    """Print the tables on stdout, and on stderr what was done and what comes next."""
    from evaluation.analysis.run_report import reports
    from evaluation.reporting.printing import print_tables
    from evaluation.results.reader import open_run

    run = open_run(folder)
    tables = [table for each in reports(run).values() for table in each.tables]
    print_tables(tables, format_, {"run": str(folder), "header": run.header})
    for label, why in tally.unavailable.items():
        line = _install(run.header, label)
        say(f"{label} was not run: {why}{f'; {line}' if line else ''}", style="yellow")
    done = f"{tally.ran + tally.found:,} units: {tally.ran:,} run now"
    if tally.found:
        done += f", {tally.found:,} found in the folder"
    if tally.disturbed:
        done += f"; the machine was not quiet during {tally.disturbed:,}"
    say(f"{done}. {folder}")
    if tally.reproducers:
        say(f"{len(tally.reproducers):,} can be seen again: {folder}/reproducers")
    say(f"Next: csbdata results show {folder} --failures")


def _install(header: Mapping[str, UntypedJson], label: str) -> str:
    for each in header.get("engines", []):
        if each["engine"] == label:
            return str(each["install"])
    return ""
