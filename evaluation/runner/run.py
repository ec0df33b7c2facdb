"""One run, from its request to the folder that holds every row.

Engines are measured first (`evaluation.masks`), then models answer the records of the
suite, and at the end all responses are scored.
"""

from __future__ import annotations

import datetime
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from curation.system.atomic_files import atomic_write_bytes
from curation.system.credentials import redacted_words
from curation.system.errors import BadData, BadUsage, Unavailable
from curation.system.progress import Progress, Quiet
from curation.system.terminal import command_line
from curation.workers.fingerprint import fingerprint
from evaluation.core.records import RecordSet, encode_records
from evaluation.core.run_header import (
    SUITE,
    Constraint,
    RunHeader,
    absolute_words,
    machine,
    usable_cores,
)
from evaluation.data import partial_data
from evaluation.masks.run import (
    RunPlan,
    RunTotals,
    measuring_digest,
    wanted_cases,
    writing_digest,
)
from evaluation.masks.run import run as run_engines
from evaluation.masks.run_folder import (
    RECORDS,
    ResultsFolder,
    hold_run_folder,
    record_end,
    record_parameters,
    refuse_taken,
)
from evaluation.results.description import describe
from evaluation.results.reader import open_run
from evaluation.runner.participants import list_participants
from evaluation.runner.records import (
    compute_digest,
    make_records,
    open_records,
    read_records,
)
from evaluation.runner.request import (
    RUNS,
    RunRequest,
    RunResult,
    SuiteChoice,
    choose_suite,
)
from evaluation.tasks import task_named
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.core.task import Task
    from evaluation.data import Dataset
    from evaluation.runner.response_files import ResponseFile
    from evaluation.runner.writers import Writer
    from evaluation.servers.pacing import Spending
    from evaluation.setup.selected_engines import EngineUnderTest


def run(request: RunRequest, progress: Progress | None = None) -> RunResult:
    """Measure engines, have models answer, and write one row a case.

    Rows and responses that the run's folder already has are not made again, so the
    same request continues a run stopped at any moment. Engines that cannot be
    used here are named in the result and do not end the run, unless all are.

    Args:
        request: What to measure, with whom, and within which limits.
        progress: Shows what takes long; nothing is shown by default.

    Example:
        >>> import csbdata
        >>> request = csbdata.RunRequest(
        ...     engines=["llguidance"], tasks=["masks"], data="my_schemas", limit=50
        ... )
        >>> result = csbdata.run(request)  # doctest: +SKIP
        >>> result.open().frame()  # doctest: +SKIP

    Raises:
        BadConfiguration: an engine, task, option or setting that makes no sense, or
            the folder is of another run (exit 73).
        NoInput: no such data, tokenizer or model (exit 66).
        TemporarilyUnavailable: another run is at work in the folder (exit 75).
        Unavailable: no engine can be used here, or a library is missing; before
            anything is fetched (exit 69).
        Fault: data cannot be fetched, or the folder not be written.
    """
    progress = progress or Quiet()
    refuse_taken(request.run_dir)
    tasks = [task_named(name) for name in dict.fromkeys(request.tasks)]
    choice = request.suite or _find_suite(request, tasks)
    sides = list_participants(request, tasks, choice)
    engines = [engine for side in sides for engine in side.engines]
    participants = [constraint for side in sides for constraint in side.constraints]
    tasks = [task.prepared(request.fetch, progress.log) for task in tasks]
    data = None
    if any(task.needs_data for task in tasks):
        walks = not request.given_only and any(task.needs_instances for task in tasks)
        data = open_records(request, progress, instances=walks)
    _check_digest(request, tasks, data)
    with ExitStack() as stack:
        writers: list[Writer] = []
        records = None
        spending = None
        if choice is not None:
            from evaluation.runner.writers import open_writers  # noqa: PLC0415 - where models answer
            from evaluation.servers.pacing import Spending  # noqa: PLC0415 - as above

            spending = Spending(request.max_cost, request.max_requests)
            records = make_records(choice, request.records(data))
            writers = open_writers(request, sides, progress.log, spending)
            for writer in writers:
                stack.callback(writer.model.close)
        plan = _plan(request, tasks, data, writers, progress)
        if plan is not None:
            models = _models(choice, writers)
            head = header(participants, plan, data, request.limit, models)
        elif choice is not None and records is not None:
            entries = [writer.header() for writer in writers]
            head = suite_header(choice, records, entries, _facts(request))
        else:
            raise BadUsage("neither a task nor a suite is named")
        cases = _count_cases(engines, plan, data)
        texts = 0 if records is None else _count_texts(records, writers)
        head["rows"] = cases + texts
        folder = request.run_dir or RUNS / str(head["plan"])[:12]
        for line in describe(msgspec.convert(head, RunHeader)):
            progress.log(line)
        progress.log(f"folder: {folder}")
        stack.enter_context(hold_run_folder(folder, head))
        totals = _measure(engines, plan, folder, cases, progress)
        problems: Sequence[str] = ()
        if choice is not None and records is not None and spending is not None:
            _write(
                request, choice, records, writers, folder, progress, spending, totals
            )
            problems = _score(choice, records, folder, request.jobs, progress)
        # A text that a server in trouble left without an answer is asked for again.
        if not (totals.unanswered or totals.stopped):
            record_end(folder, _finished(head, tasks, totals, folder))
    return RunResult(folder=folder, totals=totals, problems=problems)


def score_file(
    request: RunRequest, path: Path, progress: Progress | None = None
) -> RunResult:
    """Score the responses of a file or of a run's folder; asks no model.

    The records come from the folder, or from the request's data. A folder of
    a run is scored in place; for a file the folder is `--run-dir`, or one below `runs`.

    Args:
        request: The suite and its records; models and engines are not used.
        path: A run's folder, or a file of responses.
        progress: Shows what takes long; nothing is shown by default.

    Raises:
        BadUsage: the request names no suite.
        NoInput: no such file, or no records.
        BadData: nothing in the file is a response, or none is for one of the records.
        Fault: the folder cannot be written.
    """
    from evaluation.runner.response_files import (  # noqa: PLC0415 - where models answer
        RESPONSES,
        encode_responses,
        names_of_records,
        read_responses,
    )

    progress = progress or Quiet()
    choice = request.suite
    if choice is None:
        raise BadUsage("no suite is named")
    is_folder = path.is_dir()
    file = read_responses(
        path / RESPONSES if is_folder else path, choice.suite.published_response
    )
    records = _records_beside(request, choice, path)
    known = names_of_records(records.records)
    if not any(response.record in known for response in file.responses):
        message = f"none of its responses is for a record of {records.name}"
        hint = "name the suite and the --data that they answer"
        raise BadData(f"{message}: {file.responses[0].record}", str(path), hint)
    head = dict(open_run(path).raw_header) if is_folder else None
    folder = path
    same = head is not None and choice.header().items() <= head.get(SUITE, {}).items()
    if head is None or request.run_dir is not None or not same:
        labels = dict.fromkeys(response.label for response in file.responses)
        participants = [{"engine": label, "name": label} for label in labels]
        participants = participants if head is None else head["engines"]
        digest = sha256(encode_responses(file.responses)).hexdigest()
        facts: dict[str, Json] = {"file": path.name, "sha256": digest}
        head = suite_header(choice, records, participants, facts)
        folder = request.run_dir or RUNS / str(head["plan"])[:12]
    with hold_run_folder(folder, head):
        if folder != path:
            atomic_write_bytes(folder / RECORDS, encode_records(records.records))
            atomic_write_bytes(folder / RESPONSES, encode_responses(file.responses))
        problems = _score(choice, records, folder, request.jobs, progress, file)
        record_end(folder, open_run(folder).row_counts)
    return RunResult(folder=folder, totals=RunTotals(), problems=problems)


def _records_beside(request: RunRequest, choice: SuiteChoice, path: Path) -> RecordSet:
    """Return the records that responses answer."""
    beside = (path if path.is_dir() else path.parent) / RECORDS
    if request.data is None and beside.is_file():
        records = read_records(beside)
        for record in records:
            choice.prompt(record)
        return RecordSet(name=str(beside), origin="file", records=records)
    return make_records(choice, request.records())


def _find_suite(request: RunRequest, tasks: Sequence[Task]) -> SuiteChoice | None:
    """Return the suite whose answers the tasks of a request read; None if none does."""
    names = dict.fromkeys(task.reads or task.name for task in tasks if task.needs_model)
    if not names:
        return None
    from evaluation.suites.registry import suite_named  # noqa: PLC0415 - where models answer

    (name,) = names
    fields = suite_named(name).settings.__struct_fields__
    values = request.settings.values
    return choose_suite(
        name,
        {field: values[field] for field in fields if field in values},
        request.models[0].compat,
    )


def _check_digest(
    request: RunRequest, tasks: Sequence[Task], data: Dataset | None
) -> None:
    """Check the data against the request's digest.

    Raises:
        BadData: it is of another digest.
    """
    if not request.sha256:
        return
    digests = [str(task.sources()["sha256"]) for task in tasks if task.sources]
    digests += [] if data is None else [data.sha256]
    if not any(digest.startswith(request.sha256) for digest in digests):
        message = (
            f"the data has changed: it is {', '.join(digests) or 'without a digest'}"
        )
        raise BadData(message, f"--set sha256={request.sha256}", "leave that out")


def _plan(
    request: RunRequest,
    tasks: Sequence[Task],
    data: Dataset | None,
    writers: Sequence[Writer],
    progress: Progress,
) -> RunPlan | None:
    """Return the plan of the tasks; None if only a suite is asked."""
    if not tasks:
        return None
    timed = any(task.timed for task in tasks)
    if writers and all(task.needs_model for task in tasks):
        tokenizer = writers[0].tokenizer()
    else:
        tokenizer = get_tokenizer(request.tokenizer, request.fetch, log=progress.log)
    return RunPlan(
        tasks=tasks,
        records=tuple if data is None else data.records,
        tokenizer=tokenizer,
        settings=request.settings,
        bounds=request.bounds,
        jobs=request.jobs or (1 if timed else len(usable_cores())),
        repeats=request.repeats,
        only=frozenset(request.only),
    )


def _models(choice: SuiteChoice | None, writers: Sequence[Writer]) -> dict[str, Json]:
    """Return the facts of the model that writes for tasks; empty if none does."""
    if choice is None:
        return {}
    facts = choice.suite.facts
    about = facts(choice.settings) if facts else {}
    return {**writers[0].facts, **about}


def _facts(request: RunRequest) -> dict[str, Json]:
    """Return the conditions of responses besides suite, records and writers."""
    models: list[Json] = [
        {
            "model": options.recorded_model,
            "samples": options.samples,
            "temperature": options.temperature,
            "budget": options.budget,
        }
        for options in request.models
    ]
    return {"seed": request.settings.seed, "repairs": request.repairs, "models": models}


def _count_cases(
    engines: Sequence[EngineUnderTest],
    plan: RunPlan | None,
    data: Dataset | None,
) -> int:
    """Return how many cases engines are given."""
    usable = sum(not engine.unavailable for engine in engines)
    records = 0 if data is None else data.count
    return usable * sum(
        (records if task.needs_data else sum(1 for _ in wanted_cases(task, plan)))
        * (plan.repeats if task.takes_turns else 1)
        for task in (plan.tasks if plan else ())
        if plan and not task.needs_model
    )


def _count_texts(records: RecordSet, writers: Sequence[Writer]) -> int:
    """Return how many answers models are asked for, repairs left out."""
    return sum(
        writer.options.samples
        for writer in writers
        if not writer.unavailable
        for record in records.records
        if record.is_asked(writer.condition)
    )


def _measure(
    engines: Sequence[EngineUnderTest],
    plan: RunPlan | None,
    folder: Path,
    cases: int,
    progress: Progress,
) -> RunTotals:
    """Put the cases of tasks without a model to the engines."""
    tasks = [task for task in (plan.tasks if plan else ()) if not task.needs_model]
    if plan is None or not tasks:
        return RunTotals()
    with (
        closing(
            ResultsFolder(folder, {task.name: task.passes for task in tasks})
        ) as out,
        progress.bar("Measuring", cases, found=len(out.finished)) as advance,
    ):
        return run_engines(
            engines,
            replace(plan, tasks=tasks),
            out,
            advance,
            progress.log,
        )


def _write(  # noqa: PLR0913, PLR0917 (the run's own parts)
    request: RunRequest,
    choice: SuiteChoice,
    records: RecordSet,
    writers: Sequence[Writer],
    folder: Path,
    progress: Progress,
    spending: Spending,
    totals: RunTotals,
) -> None:
    """Have models answer the records; responses are in the folder then."""
    from evaluation.runner.scoring import live_scorer  # noqa: PLC0415 - where models answer
    from evaluation.runner.writing import Questioner, ResponseStore  # noqa: PLC0415 - as above

    atomic_write_bytes(folder / RECORDS, encode_records(records.records))
    for writer in writers:
        writer.model.prepare(writer.constraint, records.records, folder, progress)
    with ExitStack() as stack:
        store = stack.enter_context(ResponseStore(folder))
        score = None
        if request.repairs:
            score = stack.enter_context(live_scorer(choice))
        texts = _count_texts(records, writers)
        served = any(writer.options.over_http for writer in writers)
        for response in store.by_fingerprint.values() if served else ():
            spending.pay(response.cost)
        note = (lambda: str(spending)) if served else str
        advance = stack.enter_context(
            progress.bar("Writing", texts, store.first_answers, note)
        )
        questioner = Questioner(
            choice=choice,
            store=store,
            score=score,
            repairs=request.repairs,
            seed=request.settings.seed,
            batch=max(writer.texts_at_a_time for writer in writers),
            advance=advance,
            totals=totals,
        )
        try:
            questioner.ask_all(records.records, writers)
        finally:
            if served:
                progress.log(str(spending))
            record_parameters(
                folder, {writer.label: writer.model.discovered for writer in writers}
            )
        unanswered = store.by_fingerprint and not store.answered
        if unanswered and all(writer.options.over_http for writer in writers):
            message = f"no request was answered; the last one: {store.error}"
            hint = "the same command asks again"
            raise Unavailable(message, writers[0].options.recorded_model, hint)


def _score(  # noqa: PLR0913, PLR0917 (the run's own parts)
    choice: SuiteChoice,
    records: RecordSet,
    folder: Path,
    jobs: int | None,
    progress: Progress,
    file: ResponseFile | None = None,
) -> Sequence[str]:
    """Score the responses of a file, or of the folder; return the problems."""
    from evaluation.runner.response_files import (  # noqa: PLC0415 - where models answer
        RESPONSES,
        read_responses,
    )
    from evaluation.runner.scoring import score_into  # noqa: PLC0415 - as above

    if file is None and not (folder / RESPONSES).stat().st_size:
        return [f"no response to any of {len(records.records):,} records"]
    file = file or read_responses(folder / RESPONSES)
    with progress.bar("Scoring", len(file.responses)) as advance:
        problems = score_into(
            folder,
            choice,
            records.records,
            file.responses,
            jobs=jobs or len(usable_cores()),
            advance=advance,
        )
    return (*file.problems, *problems)


def _finished(
    head: Mapping[str, Any], tasks: Sequence[Task], totals: RunTotals, folder: Path
) -> dict[tuple[str, str], int]:
    """Return the number of rows by participant and task, of all runnable ones."""
    row_counts = open_run(folder).row_counts
    # The rows of a task that only reads come from the task that it reads.
    reads = {task.name: task.reads or task.name for task in tasks}
    names = dict.fromkeys(reads.get(name, name) for name in head["tasks"])
    return {
        (label, task): row_counts.get((label, task), 0)
        for label in (entry["engine"] for entry in head["engines"])
        if label not in totals.unavailable
        for task in names
    }


def header(
    participants: Sequence[Constraint],
    plan: RunPlan,
    data: Dataset | None,
    limit: int | None,
    models: Mapping[str, Json],
) -> dict[str, Json]:
    """Return the content of `run.json` for tasks.

    Two runs with the same member `plan` have the same cases, with any number of jobs.

    Args:
        participants: The engines of the run.
        plan: The tasks, and their limits.
        data: The records; None if no task reads any.
        limit: The most records; None for all.
        models: The facts of the model that writes, for tasks in which one does.
    """
    tokenizer = plan.tokenizer
    about: dict[str, Json] = {} if data is None else data.header()
    sources: dict[str, dict[str, Json]] = {
        task.name: dict(task.sources()) for task in plan.tasks if task.sources
    }
    tasks: list[Json] = [task.name for task in plan.tasks]
    decisive: dict[str, Json] = {
        "code": measuring_digest(),
        "writing": writing_digest() if models else None,
        "limits": asdict(plan.bounds),
        "settings": asdict(plan.settings),
        "limit": limit,
        "repeats": plan.repeats,
        "only": [*sorted(plan.only)],
    }
    return {
        **_head([participant.header() for participant in participants], tasks),
        "plan": fingerprint(
            **decisive,
            engines=[participant.identity for participant in participants],
            labels=[participant.label for participant in participants],
            tokenizer=tokenizer.digest,
            data=about.get("sha256"),
            tasks=tasks,
            models=dict(models),
            sources={name: facts["sha256"] for name, facts in sources.items()},
        ),
        **decisive,
        "jobs": plan.jobs,
        "tokenizer": {
            "name": tokenizer.name,
            "sha256": tokenizer.digest,
            "vocab_size": tokenizer.vocab_size,
        },
        "data": about,
        "sources": {**sources},
        "models": dict(models),
    }


def suite_header(
    choice: SuiteChoice,
    records: RecordSet,
    participants: Sequence[Mapping[str, Json]],
    facts: Mapping[str, Json],
) -> dict[str, Json]:
    """Return the content of `run.json` for a suite.

    Scoring settings are part of its member `plan`, so that a folder holds the rows of
    one reading, and so is the first prompt, as a file or a suite of yours may change.

    Args:
        choice: The suite, with its settings.
        records: The records of the run.
        participants: An entry for each model and condition, its label as `engine`.
        facts: What else decides the responses: seed, repairs, ...
    """
    digest, count = compute_digest(records.records), len(records.records)
    groups = {record.group for record in records.records}
    suite: dict[str, Json] = {**choice.header(), **facts}
    if choice.suite.facts is not None:
        suite |= choice.suite.facts(choice.settings)
    return {
        **_head(participants, [choice.suite.name]),
        "code": writing_digest(),
        "plan": fingerprint(
            code=writing_digest(),
            suite=suite,
            records=digest,
            engines=[dict(participant) for participant in participants],
            asked=[
                [turn.role, turn.content]
                for record in records.records[:1]
                for turn in choice.prompt(record).messages
            ],
        ),
        "data": {
            "name": records.name,
            "origin": records.origin,
            "sha256": digest,
            "records": count,
            "partial": [*partial_data(Path(records.name), records.origin, groups)],
        },
        "settings": {"seed": facts.get("seed", 0)},
        SUITE: {
            **suite,
            "data": records.name,
            "origin": records.origin,
            "generated": records.generated,
            "records": count,
        },
    }


def _head(
    participants: Sequence[Mapping[str, Json]], tasks: Sequence[Json]
) -> dict[str, Json]:
    """Return the members that every header has."""
    return {
        "csbdata": version("csbdata"),
        "command": [*redacted_words(absolute_words(command_line()))],
        "engines": [dict(participant) for participant in participants],
        "tasks": [*tasks],
        "machine": machine(),
        "finished": None,
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
