"""One failure of a run, asked for again and again on ever smaller schemas."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import jsonschema_rs

from curation.system.errors import BadConfiguration, NoInput, Unavailable
from curation.workers.process import exchange
from evaluation.analysis.failing_texts import needed_texts, see_failure
from evaluation.analysis.schema_shrinking import shrink
from evaluation.results.outcomes import Outcome, outcome_of
from evaluation.setup.engine_files import FAITHFUL
from evaluation.setup.environments import install_line
from evaluation.walking.engine_worker import Bounds, EngineWorker, PendingCase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.download.acquire import FetchSettings
    from evaluation.core.cases import Case, InstanceWalk, Row
    from evaluation.results.reader import RecordedRun
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles

#: Outcomes in which nothing fails.
_WELL: Final = frozenset({Outcome.PASSED, Outcome.UNTESTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrunkFailure:
    """A failure before and after."""

    schema: str
    walks: Sequence[InstanceWalk]
    before: int
    after: int
    row: Row

    def as_json(self, description: str) -> Json:
        """Return it as a file in MaskBench's form."""
        tests = [
            {"valid": walk.valid, "text": walk.text, "data": json.loads(walk.text)}
            for walk in self.walks
        ]
        detailed = f"{description} {self.row.detail}".strip()
        return {
            "description": detailed,
            "schema": json.loads(self.schema),
            "tests": tests,
        }


@contextmanager
def open_engine(
    participant: EngineUnderTest, tokenizer: TokenizerFiles, bounds: Bounds
) -> Iterator[Callable[[Case], Row]]:
    """Open a worker; the context is a function that puts one case to the engine.

    Raises:
        Unavailable: the engine cannot be used here.
    """
    if participant.unavailable:
        then = install_line(participant.file)
        raise Unavailable(participant.unavailable, participant.label, then)
    encode = tokenizer.encoder()
    with EngineWorker(participant, tokenizer, bounds, ()) as worker:

        def ask(case: Case) -> Row:
            tokens = encode([walk.text for walk in case.walks])
            worker.give([PendingCase(case=case, tokens=tokens, fingerprint="")])
            while True:
                exchange([worker.child] if worker.child else [], worker.patience())
                for _, row in worker.collect():
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


def shrink_failure(
    case: Case,
    ask: Callable[[Case], Row],
    most: int,
    ask_afresh: Callable[[Case], Row] | None = None,
) -> ShrunkFailure:
    """Return the smallest schema found that fails as the case's does.

    The texts that the failure depends on are kept, in their order, and under every
    smaller schema each has to be as valid as under the whole one (jsonschema-rs,
    formats on). What is returned has failed once more, in a process of its own.

    Args:
        case: The case that fails.
        ask: Puts a case to the engine; see `open_engine`.
        most: How many schemas are tried at most, and how many sets of texts.
        ask_afresh: Puts a case to the engine in a new process; `ask` by default.

    Raises:
        NoInput: the case does not fail (any more), or only sometimes.
    """
    ask_afresh = ask_afresh or ask
    row = ask(case)
    if outcome_of(row) in _WELL:
        raise NoInput(
            f"{outcome_of(row)}: nothing fails here", f"{case.config}/{case.id}"
        )
    small = needed_texts(case, row, ask, most)

    def fails_alike(schema: Json) -> bool:
        if not _is_schema(schema, small.case.walks):
            return False
        smaller = replace(small.case, schema=json.dumps(schema))
        return small.fails_alike(ask(smaller))

    found = json.dumps(shrink(json.loads(case.schema), fails_alike, most))
    smallest = replace(small.case, schema=found)
    whole = see_failure(case, row)
    for seen, candidate in ((small, smallest), (small, small.case), (whole, case)):
        last = ask_afresh(candidate)
        if seen.fails_alike(last):
            return ShrunkFailure(
                schema=candidate.schema,
                walks=candidate.walks,
                before=len(case.schema),
                after=len(candidate.schema),
                row=last,
            )
    raise NoInput(
        f"{outcome_of(row)}, but not when it was asked again in a new process",
        f"{case.config}/{case.id}",
        "csbdata results show RUN --failures has the command for the whole run",
    )


def _is_schema(schema: Json, walks: Sequence[InstanceWalk]) -> bool:
    """Return whether it is a schema under which each text is as valid as stated."""
    if not isinstance(schema, dict | bool):
        return False
    try:
        validator = jsonschema_rs.validator_for(schema, validate_formats=True)
        return all(
            validator.is_valid(json.loads(walk.text)) is walk.valid for walk in walks
        )
    except (ValueError, TypeError, jsonschema_rs.ReferencingError):
        return False


def case_of(run: RecordedRun, task: str, name: str, fetch: FetchSettings) -> Case:
    """Return a case of a run, made again from its data.

    Raises:
        NoInput: the run's data has it no more.
        CsbdataError: the data cannot be had.
    """
    from evaluation.data import open_data  # noqa: PLC0415 (reads tables)
    from evaluation.tasks.registry import task_named  # noqa: PLC0415 (imports tasks)

    kind = task_named(task).prepared(fetch, lambda _message: None)
    where = run.header.data.name
    data = open_data(where, settings=fetch) if kind.needs_data else None
    samples = data.samples() if data else ()
    wanted = (sample for sample in samples if f"{sample.config}/{sample.id}" == name)
    for case in kind.cases(wanted, run.header.settings):
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

    labels = [
        row.engine
        for row in run.rows()
        if row.task == task and f"{row.config}/{row.id}" == name
        if label in (None, row.engine)
    ]
    if not labels:
        raise NoInput(f"no row of {name} in task {task}", str(run.folder))
    if len(labels) > 1:
        raise BadConfiguration("which engine?", "--engine", f"one of {labels}")
    known = run.header.participant(labels[0])
    options = [f"{name}={text}" for name, text in (known.assigned or {}).items()]
    spec, preset = known.spec or labels[0], known.preset or FAITHFUL
    return select_engines(cache, [spec], preset, options)[0]
