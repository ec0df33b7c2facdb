"""Put a run's cases to its engines again: each rebuilt from the run's data."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from curation.system.errors import (
    BadConfiguration,
    BadData,
    NoInput,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.workers.process import exchange
from evaluation.core.cases import Bounds, Case, Result, Row
from evaluation.masks.engine_worker import EngineWorker, PendingCase
from evaluation.results.headline import with_keys
from evaluation.setup.engine_files import FAITHFUL, install_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.download.cache import FetchSettings
    from evaluation.results.reader import RecordedRun
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles

_QUIETER: Final = "try again when the machine is quieter"


@contextmanager
def open_engine(
    participant: EngineUnderTest, tokenizer: TokenizerFiles, bounds: Bounds
) -> Iterator[Callable[[Case], Row]]:
    """Open a worker; the context is a function that puts one case to the engine.

    Raises:
        Unavailable: the engine cannot be used here.
        TemporarilyUnavailable: the machine is too busy.
    """
    if participant.unavailable:
        hint = install_line(participant.file)
        raise Unavailable(participant.unavailable, participant.label, hint)
    encode = tokenizer.encoder()
    with EngineWorker(participant, tokenizer, bounds, ()) as worker:

        def ask(case: Case) -> Row:
            tokens = encode([walk.text for walk in case.walks])
            worker.give(PendingCase(case=case, tokens=tokens, fingerprint=""))
            row: Row | None = None
            while row is None:
                exchange([worker.child] if worker.child else [], worker.patience())
                row = worker.collect()
            if row.result is Result.UNDECIDED:
                raise TemporarilyUnavailable(
                    f"undecided: {row.detail}", participant.label, _QUIETER
                )
            return row

        yield ask


def ask_in_new_process(
    participant: EngineUnderTest, tokenizer: TokenizerFiles, bounds: Bounds
) -> Callable[[Case], Row]:
    """Return a function that puts one case to the engine, each in a new process."""

    def ask(case: Case) -> Row:
        with open_engine(participant, tokenizer, bounds) as ask_once:
            return ask_once(case)

    return ask


def make_case(run: RecordedRun, task: str, name: str, fetch: FetchSettings) -> Case:
    """Return a case of a run by name, made again from its data.

    Raises:
        NoInput: the run's data has it no more.
        BadData: the data changed since.
        CsbdataError: the data is unavailable.
    """
    from evaluation.data import open_data  # noqa: PLC0415 (reads tables)
    from evaluation.tasks import task_named  # noqa: PLC0415 (imports tasks)

    kind = task_named(task).prepared(fetch, lambda _message: None)
    recorded = run.header.data
    where = recorded.place or recorded.name
    data = open_data(where, settings=fetch) if kind.needs_data else None
    source = run.header.sources.get(task, recorded)
    today: Json = data.sha256 if data else None
    if not data and kind.sources:
        today = kind.sources()["sha256"]
    if today and source.sha256 not in (None, today):
        raise BadData(
            "changed since the run",
            str(where) if data else task,
            "csbdata eval measures it again",
        )
    records = data.records() if data else ()
    matching = (record for record in records if record.key == name)
    for case in kind.cases(matching, run.header.settings):
        if f"{case.config}/{case.id}" == name:
            return case
    raise NoInput(f"no case {name} of task {task}", str(where))


def engine_of_failure(
    run: RecordedRun, label: str | None, name: str, task: str, cache: Path
) -> EngineUnderTest:
    """Return the engine of a run that failed on a case, as it took part.

    Raises:
        BadConfiguration: there are several, and none is named.
        NoInput: the run has no such row.
    """
    from evaluation.setup.selected_engines import select_engines  # noqa: PLC0415 (reads every engine's file)

    names = run.header.names()
    cases = with_keys(run.frame()).filter(task=task, key=name)
    labels = [
        engine
        for engine in cases["engine"]
        if label in (None, engine, names.get(engine))
    ]
    if not labels:
        raise NoInput(f"no row of {name} in task {task}", str(run.folder))
    if len(labels) > 1:
        raise BadConfiguration("which engine?", "--engine", f"one of {labels}")
    participant = run.header.participant(labels[0])
    options = [f"{name}={text}" for name, text in (participant.assigned or {}).items()]
    spec = participant.spec or labels[0]
    preset = participant.preset or FAITHFUL
    return select_engines(cache, [spec], preset, options)[0]
