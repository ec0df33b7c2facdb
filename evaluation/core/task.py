"""The task: records in, cases out; rows in, tables out.

A task is a folder of `evaluation.tasks` whose module `task` holds a `TASK`. It never
runs an engine: it says what is asked of engines, and what their answers mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import polars as pl

    from curation.core.json_types import Json, UntypedJson
    from curation.download.acquire import FetchSettings
    from evaluation.core.cases import Case, Row
    from evaluation.core.records import Record
    from evaluation.core.run_header import RunHeader, TaskSettings
    from evaluation.reporting.charts import Plot
    from evaluation.reporting.tables import Table


class RunRows(Protocol):
    """A finished (or still growing) run, as `evaluation.results.reader` opens it."""

    @property
    def header(self) -> RunHeader:
        """Return what was asked of whom."""

    @property
    def raw_header(self) -> Mapping[str, UntypedJson]:
        """Return the whole content of `run.json`."""

    @property
    def suite(self) -> Mapping[str, UntypedJson]:
        """Return what the header says of the suite; empty if tasks were run."""

    def rows(self, task: str = "") -> Iterator[Row]:
        """Yield each case's first row, by engine, task, config and id."""

    def attempts(self, task: str) -> pl.DataFrame:
        """Return the attempts of a task, each case's repetitions together."""

    def frame(self) -> pl.DataFrame:
        """Return the first attempt at each case."""

    def walks(self, task: str = "", *, times: bool = True) -> pl.DataFrame:
        """Return one line a walk, its times as lists of nanoseconds if wanted."""


class TaskInput(StrEnum):
    """What the cases of a task are made of."""

    OWN = "own"
    """The task makes its schemas itself; `--data` is not read."""
    SCHEMAS = "schemas"
    """The schemas of `--data`."""
    INSTANCES = "instances"
    """The schemas of `--data` with their instances; those without get some."""
    MODEL = "model"
    """What a model writes for the schemas of `--data`; there are no cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedSetting:
    """One setting that a task reads; the others are refused."""

    #: As `--set NAME=VALUE` names it, or one that has an option of its own.
    name: str
    #: What it decides, in a few words.
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task for engines.

    Example:
        A task that asks each engine to compile every schema, with the tables of any
        task (`evaluation.results.overview`):

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
    #: Yields its plots of a run.
    plots: Callable[[RunRows], Iterable[Plot]] = lambda _run: ()
    #: Returns what is asked of every engine, in the same order every time.
    cases: Callable[[Iterable[Record], TaskSettings], Iterator[Case]] = (
        lambda _records, _settings: iter(())
    )
    #: Whether a row is as it should be; None: its outcome says so (`passed`).
    passes: Callable[[Row], bool] | None = None
    #: What it reads beside `--data`, with the `sha256` of it; for the run's header.
    sources: Callable[[], Mapping[str, Json]] | None = None
    #: Returns the task with what it fetches beside `--data` within reach: given where
    #: to look, and what tells people of work that takes time.
    prepare: Callable[[FetchSettings, Callable[[str], None]], Task] | None = None
    #: What it reads of `TaskSettings`, but for the seed.
    settings: tuple[AcceptedSetting, ...] = ()
    #: The task whose rows the tables are of; empty: its own.
    reads: str = ""
    #: Whether `eval` runs it where no task is named, if it can.
    by_default: bool = True
    #: Whether its results depend on what a model has learnt, and not on times alone.
    judges_texts: bool = False

    def prepared(self, fetch: FetchSettings, say: Callable[[str], None]) -> Task:
        """Return the task, ready to be asked for its cases.

        Args:
            fetch: Where to look for what the task fetches.
            say: Tells people of what takes time.
        """
        return self.prepare(fetch, say) if self.prepare else self

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
