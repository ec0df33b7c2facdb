"""The task: records in, cases out; rows in, tables out.

A task is a folder of `evaluation.tasks` whose module `task` holds a `TASK`. It never
runs an engine: it defines the cases, and the meaning of their outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import polars as pl

    from curation.core.json_types import Json, UntypedJson
    from curation.download.cache import FetchSettings
    from evaluation.core.cases import Case, Row
    from evaluation.core.records import Record
    from evaluation.core.run_header import RunHeader, TaskSettings
    from evaluation.reporting.tables import Table


class RunRows(Protocol):
    """A finished (or still growing) run, as `evaluation.results.reader` opens it."""

    @property
    def header(self) -> RunHeader:
        """Return the header: tasks, participants and conditions."""

    @property
    def raw_header(self) -> Mapping[str, UntypedJson]:
        """Return the whole content of `run.json`."""

    @property
    def suite(self) -> Mapping[str, UntypedJson]:
        """Return the header's facts on the suite; empty for runs of tasks."""

    def rows(self, task: str = "") -> Iterator[Row]:
        """Yield each case's first row, by engine, task, config and id."""

    def attempts(self, task: str) -> pl.DataFrame:
        """Return the attempts of a task, each case's repetitions together."""

    def frame(self) -> pl.DataFrame:
        """Return the first attempt at each case."""

    def walks(self, task: str = "") -> pl.DataFrame:
        """Return one line a walk."""


class TaskInput(StrEnum):
    """What the cases of a task are made of."""

    OWN = "own"
    """The task makes its schemas itself; `--data` is not read."""
    SCHEMAS = "schemas"
    """The schemas of `--data`."""
    INSTANCES = "instances"
    """The schemas of `--data` with their instances; those without get some."""
    MODEL = "model"
    """Texts that a model writes for the schemas of `--data`; no cases."""


class AcceptedSetting(NamedTuple):
    """One setting that a task reads; the others are refused."""

    #: Its name in `--set NAME=VALUE`, or the name of its option.
    name: str
    #: What it decides, in a few words.
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task for engines.

    Example:
        A task that asks each engine to compile every schema, with the tables of any
        task (`evaluation.results.headline`):

        >>> def cases(records, settings):
        ...     for record in records:
        ...         yield Case(
        ...             task="compiles",
        ...             id=record.id,
        ...             config=record.group,
        ...             schema=record.constraint,
        ...         )
        >>> TASK = Task(
        ...     name="compiles",
        ...     summary="Which schemas an engine compiles.",
        ...     timed=False,
        ...     input=TaskInput.SCHEMAS,
        ...     cases=cases,
        ...     tables=lambda run: tables(run.attempts("compiles")),
        ... )
    """

    #: What `--task` calls it.
    name: str
    #: One sentence for the help text.
    summary: str
    #: Whether its times are results: one thread, one core, one worker by default.
    timed: bool
    input: TaskInput
    #: Yields its tables of a run, from the rows of its name; those without rows are
    #: not shown.
    tables: Callable[[RunRows], Iterable[Table]]
    #: Returns the cases for every engine, always in the same order.
    cases: Callable[[Iterable[Record], TaskSettings], Iterator[Case]] = (
        lambda _records, _settings: iter(())
    )
    #: Whether a row is as expected; None to decide by its outcome (`passed`).
    passes: Callable[[Row], bool] | None = None
    #: Inputs besides `--data`, with their `sha256`; for the run's header.
    sources: Callable[[], Mapping[str, Json]] | None = None
    #: Fetches the task's inputs besides `--data` and returns the task: given the
    #: fetch settings, and a function that reports slow steps.
    prepare: Callable[[FetchSettings, Callable[[str], None]], Task] | None = None
    #: What it reads of `TaskSettings`, but for the seed.
    settings: tuple[AcceptedSetting, ...] = ()
    #: The task whose rows the tables are of; empty: its own.
    reads: str = ""

    def prepared(self, fetch: FetchSettings, log: Callable[[str], None]) -> Task:
        """Return the task, ready to be asked for its cases.

        Args:
            fetch: Where to look for files that the task fetches.
            log: Progress of slow steps.
        """
        return self.prepare(fetch, log) if self.prepare else self

    @property
    def takes_turns(self) -> bool:
        """Whether engines take turns in it, and cases may be measured repeatedly."""
        return self.timed and not self.needs_model

    @property
    def needs_data(self) -> bool:
        """Whether it reads `--data`."""
        return self.input is not TaskInput.OWN

    @property
    def needs_instances(self) -> bool:
        """Whether records without instances are to be given some."""
        return self.input in (TaskInput.INSTANCES, TaskInput.MODEL)

    @property
    def needs_model(self) -> bool:
        """Whether a model writes."""
        return self.input is TaskInput.MODEL
