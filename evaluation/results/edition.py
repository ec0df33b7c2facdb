"""A published edition of results: its rows, its index, and their figures.

`rows.parquet` has a line for each engine, task and schema. Every figure of an engine is
computed from these lines alone, so that anybody can compute it again. Scorecards of
suites are counted from runs, which `csbdata suite run` makes again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import msgspec
import polars as pl

from curation.core.json_types import UntypedJson
from curation.system.errors import BadData, NoInput
from curation.system.user_files import reading_parquet
from curation.system.words import counted
from evaluation.reporting.tables import NOT_RUN, Cell, Rate, Table
from evaluation.results.headline import (
    ALL,
    best_first,
    outcomes,
    outcomes_table,
    times_table,
)
from evaluation.results.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: Names in the folder of an edition.
ROWS: Final = "rows.parquet"
INDEX: Final = "index.json"
#: The tables of engines, as the dataset's card and the documentation show them.
TABLE: Final = "table.md"
#: Every figure of the headline, by config and engine.
HEADLINE: Final = "headline.csv"
#: The same tables by config.
BY_CONFIG: Final = "configs.md"
#: `CONFIG/ID` of each record of the sample, a line each; it may be missing.
SAMPLE: Final = "sample.txt"
#: The tasks of an edition; a task that an engine skipped is marked.
TASKS: Final = ("masks", "probe", "test-suite")
#: The columns of `rows.parquet`, with their meaning.
COLUMNS: Final[dict[str, tuple[Any, str]]] = {
    "engine": (pl.String, "name, version and preset"),
    "task": (pl.String, "what was asked"),
    "config": (pl.String, "config of the record, or group of the task's own case"),
    "id": (pl.String, "id of the record or case"),
    "outcome": (pl.String, "as docs/results.md lists them"),
    "compiled": (pl.Boolean, "whether the schema compiled"),
    "passed": (pl.Boolean, "by the task's own criterion; null without texts"),
    "phase": (pl.String, "where it ended: compile, walk, or empty"),
    "valid": (pl.Int32, "valid texts that were walked"),
    "valid_accepted": (pl.Int32, "those that could be written to the end"),
    "invalid": (pl.Int32, "invalid texts that were walked"),
    "invalid_blocked": (pl.Int32, "those that were blocked"),
    "wrong": (pl.String, "TEXT:TOKENS of each wrong text, with the tokens before that"),
    "why": (
        pl.String,
        "classes of its wrong texts: what stands there; keyword; setting",
    ),
    "compile_ns": (pl.Int64, "the compile call; of one that was cut off the limit"),
    "first_mask_ns": (pl.Int64, "making a matcher and its first mask"),
    "between_ns": (pl.Int64, "mean time of a mask and a commit"),
    "tokens": (pl.Int32, "masks in that mean"),
    "rss_mib": (pl.Int32, "resident memory of the engine's process"),
    "quiet": (pl.Boolean, "whether the process had its core to itself"),
    "weight": (pl.Float64, "1 / the records in its cluster of near-duplicates"),
    "warned": (
        pl.Boolean,
        "whether it warned of the keyword of each invalid text it accepted, if known",
    ),
    "message": (pl.String, "digest of the engine's message: equal messages are equal"),
    "case": (pl.String, "digest of schema, texts, engine, options, limits and code"),
}
#: Their types.
SCHEMA: Final = {name: kind for name, (kind, _) in COLUMNS.items()}
Line: TypeAlias = "dict[str, Any]"


def is_cut(row: Line) -> bool:
    """Return whether a deadline has cut off the compile call of a line."""
    return row["outcome"] == "timeout" and not row["compiled"]


class TaskFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What one engine came to in one task; `headline.csv` has more of task masks."""

    #: Schemas with a line.
    asked: int
    #: Schemas that a busy machine left undecided; they have no line.
    undecided: int
    outcomes: dict[str, int]
    #: Schemas that pass, of those tested.
    passed: int
    tested: int

    @classmethod
    def of_rows(cls, rows: Sequence[Line], undecided: int = 0) -> TaskFigures:
        """Return the figures of the lines of one engine and task."""
        tested = [row["passed"] for row in rows if row["passed"] is not None]
        return cls(
            asked=len(rows),
            undecided=undecided,
            outcomes=dict(sorted(Counter(row["outcome"] for row in rows).items())),
            passed=sum(tested),
            tested=len(tested),
        )


#: The figures of each task, or that it was not run.
Tasks: TypeAlias = dict[str, TaskFigures | Literal["not run"]]


class EngineEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An engine in `index.json`, as it took part, and its figures."""

    #: Name, version and preset, as in `rows.parquet`.
    engine: str
    name: str
    version: str
    preset: str
    #: What `csbdata eval --engine` takes.
    spec: str
    options: dict[str, UntypedJson]
    #: Those of them that `--option` gave.
    assigned: dict[str, str] = {}
    tasks: Tasks


class DatasetEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The dataset that engines were asked."""

    name: str
    #: Digest of ids, schema texts, instances and their labels.
    content: str
    #: Records and instances in it.
    rows: int
    #: Digest of its files, as runs record it.
    sha256: str
    #: Records that some engine was asked.
    asked: int
    #: Records that every engine was asked in task masks.
    common: int
    #: Records of the sample that all are to be asked; None without one.
    sample: int | None


class Scorecard(msgspec.Struct, frozen=True, kw_only=True):
    """What one model came to in a suite, free or under an engine."""

    suite: str
    #: The records, where they are from, and the reading of the suite.
    records: str
    model: str
    #: Answers that pass, of those that count, and how many independent ones these are.
    passed: int
    of: int
    independent: float
    #: The two most frequent classes of the others.
    fails_most: str


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """`index.json`: participants, data and conditions of an edition."""

    edition: str
    dataset: DatasetEntry
    #: Digests of what tasks read alongside the dataset.
    sources: dict[str, str | None]
    tokenizer: dict[str, UntypedJson]
    limits: dict[str, UntypedJson]
    machine: dict[str, UntypedJson]
    csbdata: str
    #: Digest of the code that measured.
    code: str
    #: Days of the first and the last run.
    days: tuple[str, str]
    #: The file of all lines, and how many there are.
    rows: dict[str, int]
    #: Those that pass most of the common records first.
    engines: list[EngineEntry]
    scorecards: list[Scorecard] = []


def read_index(folder: Path) -> Index:
    """Read the index of an edition.

    Raises:
        NoInput: the file is missing.
        BadData: not an edition's index.
    """
    path = folder / INDEX
    try:
        return msgspec.json.decode(path.read_bytes(), type=Index)
    except OSError as error:
        hint = "csbdata results publish RUN... --out DIR makes one"
        raise NoInput(str(error.strerror), str(path), hint) from error
    except msgspec.DecodeError as error:
        raise BadData(f"not of an edition ({error})", str(path)) from error


def read_rows(folder: Path) -> pl.DataFrame:
    """Read the rows of an edition.

    Raises:
        BadData: the file cannot be read, or not all of its columns.
    """
    path = folder / ROWS
    with reading_parquet(path):
        frame = pl.read_parquet(path, glob=False)
    if wrong := sorted(
        column for column, kind in SCHEMA.items() if frame.schema.get(column) != kind
    ):
        raise BadData(f"no column {', '.join(wrong)}", str(path))
    texts = frame.select(*SCHEMA).select(pl.col(pl.String))
    if wrong := [column.name for column in texts if column.null_count()]:
        raise BadData(f"no text in every row of {', '.join(wrong)}", str(path))
    if wrong := sorted({*frame["outcome"]} - {*Outcome}):
        raise BadData(f"no outcome: {', '.join(wrong)}", str(path))
    return frame


def headline_tables(index: Index, lines: pl.DataFrame) -> list[Table]:
    """Return outcomes and times of the engines of an edition, the best first.

    Args:
        index: Its index.
        lines: The lines of `evaluation.results.headline.headline`.
    """
    limits = index.limits
    records = counted(index.dataset.common, "record")
    title = f"Results {index.edition}: the {records} that every engine was asked"
    overall = lines.filter(config=ALL)
    outcomes = outcomes_table(overall, title)
    tasks = {entry.engine: entry.tasks for entry in index.engines}
    rows: list[tuple[Cell, ...]] = []
    for row in outcomes.rows:
        figures = [tasks[str(row[0])][task] for task in TASKS[1:]]
        passed = [
            NOT_RUN if isinstance(each, str) else Rate(each.passed, each.tested)
            for each in figures
        ]
        rows.append((*row, *passed))
    note = (
        f"{outcomes.note} Probes and official suite have cases of their own. Limits of "
        f"a schema: {limits['compile_seconds']:g} s of processor time to compile, "
        f"{limits['run_seconds']:g} s to walk its texts, {limits['memory_mb']:,} MiB."
    )
    columns = (*outcomes.columns, "probes passed", "official suite passed")
    table = replace(
        outcomes, columns=columns, rows=tuple(rows), note=note, name="results"
    )
    return [table, times_table(overall)]


def all_asked_table(index: Index, rows: pl.DataFrame) -> Table:
    """Return task masks of every engine on all the records that it was asked.

    Args:
        index: The index of an edition.
        rows: Its rows.
    """
    sample = f" of a sample of {index.dataset.sample:,}" if index.dataset.sample else ""
    undecided = sum(
        figures.undecided
        for entry in index.engines
        for figures in entry.tasks.values()
        if not isinstance(figures, str)
    )
    masks = rows.filter(task=TASKS[0]).with_columns(config=pl.lit(ALL))
    return replace(
        outcomes_table(
            best_first(outcomes(masks)),
            "Each engine on all the records that it was asked",
        ),
        name="all-asked",
        note=f"Some engine was asked {counted(index.dataset.asked, 'record')}, every "
        f"engine {index.dataset.common:,}{sample}. Engines with other denominators are "
        f"not to be compared. Left out, since the machine was busy: "
        f"{counted(undecided, 'case')}.",
    )


def scorecards_table(index: Index) -> Table:
    """Return one line for a suite and a model, free or under an engine."""
    return Table(
        title="Suites",
        columns=("suite", "model", "passed", "fails most"),
        rows=tuple(
            (
                card.suite,
                card.model,
                Rate(card.passed, card.of, card.independent),
                card.fails_most,
            )
            for card in index.scorecards
        ),
        note=" ".join(
            dict.fromkeys(f"{card.suite}: {card.records}" for card in index.scorecards)
        ),
    )
