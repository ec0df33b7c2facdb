"""Tables of arXiv 2501.10868 in the paper's form, with the printed figures.

`paper_tables.toml` has its tables and how each was measured, `paper_figures.toml` the
figures that it prints.
"""

from __future__ import annotations

from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
import polars as pl

from curation.system.errors import BadUsage, NoInput
from evaluation.analysis.run_report import tables_by_task
from evaluation.reporting.tables import Cell, FixedFigure, MissingFigure, Table
from evaluation.results.description import describe
from evaluation.results.reader import run_names
from evaluation.results.suite_rows import scored_run
from evaluation.suites.coverage.efficiency import (
    TextFigures,
    compute_median,
    forced_tokens,
    tokens,
)
from evaluation.suites.coverage.texts import (
    GeneratedText,
    is_unconstrained,
    on_common_samples,
    texts_by_engine,
    texts_of_config,
)
from evaluation.suites.quality.report import PAPER_FORM
from evaluation.tasks.official_suite.report import LEVELS, suite_cases, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evaluation.core.run_header import LimitsHeader
    from evaluation.results.reader import RecordedRun

#: Tables that are the first columns of another: its number, and their number.
_PARTS: Final = {2: (12, 3), 3: (13, 3)}
#: The draft of the paper's suite.
PAPER_DRAFT: Final = "2020-12"
#: How the paper names the model without an engine.
_FREE: Final = "LM only"
#: Nanoseconds of a second and of a millisecond.
_S, _MS = 1e9, 1e6
#: The number of the table of texts, not of times, and of accuracy.
_COVERAGE, _QUALITY, _FAILURES = 4, 7, 5


class _PaperTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table of the paper, and how it was measured."""

    title: str
    columns: tuple[str, ...]
    note: str
    #: What measures it here.
    command: str
    #: The datasets that it has rows for, if any.
    configs: tuple[str, ...] = ()


class _Paper(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `paper_tables.toml`."""

    versions: str
    datasets: dict[str, str]
    tables: dict[int, _PaperTable]


def _read(name: str, kind: Any) -> Any:  # noqa: ANN401 - of the named kind
    text = files(__package__).joinpath(name).read_text("utf-8")
    return msgspec.toml.decode(text, type=kind)


_PAPER: Final[_Paper] = _read("paper_tables.toml", _Paper)
#: By the number of a table, the dataset and the framework.
_Figures: TypeAlias = dict[str, dict[str, dict[str, list[int | float | str]]]]
_FIGURES: Final[_Figures] = _read("paper_figures.toml", _Figures)
#: The dataset, empty in a table without, and one participant's cells.
_Row: TypeAlias = "tuple[str, tuple[Cell, ...]]"


def paper_table(number: int, runs: Sequence[RecordedRun]) -> Table:
    """Return a table of the paper, filled from runs, with the printed figures.

    The note has what the paper and the runs were measured with.

    Args:
        number: 2, 3, 4, 12 or 13 for runs of the tasks `coverage` and `efficiency`;
            5 or 6 for runs of `test-suite`; 7 for runs of suite `quality`.
        runs: The runs.

    Raises:
        BadUsage: unknown table.
        NoInput: the runs have nothing for the table.
    """
    if number not in _PAPER.tables:
        numbers = ", ".join(map(str, _PAPER.tables))
        raise BadUsage(f"no table {number} here", hint=f"say one of {numbers}")
    table = _PAPER.tables[number]
    names = run_names(runs)
    prefixes = [f"{names[run.folder]}: " if len(runs) > 1 else "" for run in runs]
    if table.configs:
        rows = _text_rows(number, dict(zip(prefixes, runs, strict=True)))
    elif number == _QUALITY:
        rows = _quality_rows(runs)
    else:
        cases = [
            suite_cases(run)
            .filter(config=PAPER_DRAFT)
            .with_columns(engine=prefix + pl.col("engine"))
            for prefix, run in zip(prefixes, runs, strict=True)
        ]
        rows = _suite_rows(number, pl.concat(cases))
    if not rows:
        raise NoInput(
            f"nothing for the paper's Table {number}",
            ", ".join(str(run.folder) for run in runs),
            table.command,
        )
    here = [f"{names[run.folder]}: {'; '.join(describe(run.header))}." for run in runs]
    return _with_printed(number, rows, here)


def _with_printed(number: int, rows: Sequence[_Row], here: Sequence[str] = ()) -> Table:
    """Return a table of rows; each dataset's are followed by the printed ones.

    Args:
        number: The number of the table.
        rows: Its rows, by dataset.
        here: What was measured with what, a sentence for each run.
    """
    table = _PAPER.tables[number]
    lines: list[tuple[Cell, ...]] = []
    for dataset, measured in groupby(rows, key=itemgetter(0)):
        lines += [(dataset, *cells) for _, cells in measured]
        texts = (None,) if dataset else ()
        lines += [
            (dataset, f"{framework}, as printed", *figures, *texts)
            for framework, figures in printed(number, dataset).items()
        ]
    columns = ("Dataset", "Framework", *table.columns)
    if table.configs:
        columns = (*columns, "texts")
    else:
        columns = columns[1:]
        lines = [line[1:] for line in lines]
    return Table(
        title=table.title,
        columns=columns,
        rows=tuple(lines),
        note=" ".join([f"{table.note} {_PAPER.versions}", *here]),
        name=f"paper-table-{number}",
    )


def printed(number: int, dataset: str = "") -> Mapping[str, tuple[Cell, ...]]:
    """Return the figures that the paper prints, by framework, in its own order.

    Args:
        number: 2, 3, 4, 5, 6, 7, 12 or 13.
        dataset: As the paper names it; empty for a table without datasets.

    Example:
        >>> [str(cell) for cell in printed(3, "GlaiveAI")["XGrammar"]]
        ['0.12', '0.30', '66.78']
    """
    number_of_table, columns = _PARTS.get(number, (number, None))
    kinds: dict[type, Callable[[Any], Cell]]
    kinds = {str: MissingFigure, int: int, float: FixedFigure}
    rows = _FIGURES[str(number_of_table)].get(dataset, {})
    return {
        framework: tuple(kinds[type(figure)](figure) for figure in figures[:columns])
        for framework, figures in rows.items()
    }


def suite_table(number: int, cases: pl.DataFrame) -> Table:
    """Return Table 5 or 6 of engines' cases, followed by the printed figures.

    Args:
        number: 5 or 6.
        cases: Cases of the official suite, as `summary` accepts them.
    """
    return _with_printed(number, _suite_rows(number, cases))


def _suite_rows(number: int, cases: pl.DataFrame) -> list[_Row]:
    columns = ["compile_error", "over_constrained", "under_constrained"]
    if number != _FAILURES:
        columns = [*LEVELS, "highest", "single"]
    return [("", row) for row in summary(cases).select("engine", *columns).iter_rows()]


def _quality_rows(runs: Sequence[RecordedRun]) -> list[_Row]:
    return [
        ("", row)
        for run in runs
        for tables in tables_by_task(run).values()
        for table in tables
        if table.name == PAPER_FORM
        for row in table.rows
    ]


def _text_rows(number: int, runs: Mapping[str, RecordedRun]) -> list[_Row]:
    """Return the rows of a table of texts.

    Args:
        number: The number of the table.
        runs: The runs, by what comes before the labels of their participants.
    """
    table = _PAPER.tables[number]
    has_free = _FREE in printed(number, _PAPER.datasets[table.configs[0]])
    texts: dict[str, Sequence[GeneratedText]] = {}
    limits: dict[str, LimitsHeader] = {}
    for prefix, run in runs.items():
        for label, written in texts_by_engine(scored_run(run, "coverage")).items():
            if has_free or not is_unconstrained(label):
                name = prefix + label
                limits[name] = run.header.limits
                texts[name] = [
                    text for text in written if text.scored.group in table.configs
                ]
    sides: Mapping[str, Sequence[GeneratedText]] = texts
    if number != _COVERAGE:
        sides = on_common_samples(texts).sides
    rows: list[_Row] = []
    for config in table.configs:
        for name, side in sides.items():
            selected = [*texts_of_config(side, config)]
            if not selected:
                continue
            if number == _COVERAGE:
                cells = _shares(selected)
            else:
                cells = _times(selected, limits[name])[: len(table.columns)]
            rows.append((_PAPER.datasets[config], (name, *cells, len(selected))))
    return rows


def _shares(texts: Sequence[GeneratedText]) -> list[Cell]:
    """Return the shares of Table 4."""
    measured = [text for text in texts if text.is_declaration_known]
    declared = [text for text in texts if text.declared]
    goods = [
        [text.declared for text in measured],
        [text.accepted_by("paper") for text in texts],
        [text.accepted_by("paper") for text in declared],
    ]
    return [
        FixedFigure(sum(good) / len(good)) if good else MissingFigure("NA")
        for good in goods
    ]


def _times(texts: Sequence[GeneratedText], limits: LimitsHeader) -> list[Cell]:
    """Return the medians of Table 12."""
    figures = TextFigures(limits)
    generations = [text.generation for text in texts]
    cells: list[Cell] = []
    for figure, scale in (
        (figures.compile, _S),
        (figures.first_token, _S),
        (figures.per_token, _MS),
        (figures.total, _S),
        (tokens, 1.0),
        (forced_tokens, 1.0),
    ):
        median = compute_median(generations, figure)
        if median is None:
            cells.append(None)
        else:
            cells.append(FixedFigure(median.value / scale, median.at_least))
    if is_unconstrained(texts[0].scored.label):
        cells[0] = MissingFigure("NA")
    return cells
