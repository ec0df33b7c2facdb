"""What a task is: samples in, units out; rows in, tables out.

A task is one file of this folder with a module-level `TASK`. It never runs an
engine: the driver does, and the task only says what to ask and what it means.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import polars as pl

    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import Case, Row, Sample
    from evaluation.reporting.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the command line says to all tasks; recorded in the run's header."""

    seed: int = 0
    #: Seeded permutations of the members of each valid instance's objects.
    orders: int = 0
    #: Whatever one task alone understands, by name: `dialects`, `sizes`, ...
    values: Mapping[str, UntypedJson] = field(default_factory=dict)


class RunRows(Protocol):
    """A finished (or still growing) run, as `evaluation.results.reader` opens it."""

    @property
    def header(self) -> Mapping[str, UntypedJson]:
        """Return the content of `run.json`."""

    def rows(self) -> Iterator[Row]:
        """Yield every row, by engine, task, config and id."""

    def frame(self) -> pl.DataFrame:
        """Return one line a unit."""

    def walks(self) -> pl.DataFrame:
        """Return one line a walk, its times as lists of nanoseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A question put to engines."""

    #: What `--task` calls it.
    name: str
    #: One sentence for the help text.
    summary: str
    #: Whether its times are results: one thread, one core, one worker by default.
    timed: bool
    #: Whether `cases` wants the samples of `--data`; otherwise it makes its own.
    needs_data: bool
    cases: Callable[[Iterable[Sample], Settings], Iterator[Case]]
    #: Reads a whole run, of which only the rows of its own name are its business.
    report: Callable[[RunRows], Report]
    #: Whether a row is as it should be; None: its outcome says so (`passed`).
    passes: Callable[[Row], bool] | None = None
    #: Whether samples without instances are of no use: then some are made for them.
    needs_instances: bool = True
    #: Whether a model writes: then there are no units, and whoever writes is asked.
    needs_model: bool = False
    #: What it reads beside `--data`, with the `sha256` of it; for the run's header.
    sources: Callable[[], Mapping[str, UntypedJson]] | None = None
    #: What a unit repeats, where units are repeated: once one has ended at its
    #: deadline, those that repeat it get the same row and are not asked.
    repeats: Callable[[Case], str] | None = None
    #: The task whose rows the report reads; empty: its own.
    reads: str = ""
