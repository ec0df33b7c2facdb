"""Tables of arXiv 2501.10868 in the paper's form, with the printed figures.

`paper_tables.toml` has its tables and how each was measured, `paper_figures.toml` the
figures that it prints.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import msgspec
import polars as pl

from curation.system.errors import BadUsage, NoInput
from evaluation.analysis.run_report import tables_by_task
from evaluation.core.records import is_free
from evaluation.reporting.tables import Cell, FixedFigure, MissingFigure, Table
from evaluation.results.reader import run_names
from evaluation.results.suite_rows import scored_run
from evaluation.suites.coverage.efficiency import (
    TextFigures,
    forced_tokens,
    median_of,
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
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evaluation.core.run_header import ParticipantHeader
    from evaluation.core.suite import ScoredResponse
    from evaluation.reporting.statistics import Quantile
    from evaluation.results.reader import RecordedRun

#: Tables that are the first columns of another: its number, and their number.
_PARTS: Final = {2: (12, 3), 3: (13, 3)}
#: The draft of the paper's suite.
PAPER_DRAFT: Final = "2020-12"
#: Frameworks on a separate server, without a single command.
_SERVED: Final = frozenset({"OpenAI", "Gemini"})
_OUR_LOOP: Final = "csbdata's on transformers"
#: What all tables share: the graphics card, and most tokens of a text.
_DEVICE: Final = "A100"
_BUDGET: Final = 2048
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
    #: The datasets that it has rows for, if any; the model, and what ran it.
    configs: tuple[str, ...] = ()
    model: str = ""
    loop: str = ""
    #: Frameworks that it has a row for.
    frameworks: frozenset[str] = frozenset()


class _Paper(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `paper_tables.toml`."""

    frameworks: dict[str, str]
    versions: dict[str, str]
    datasets: dict[str, str]
    tables: dict[int, _PaperTable]


def _read(name: str, kind: Any) -> Any:  # noqa: ANN401 - of the named kind
    text = files(__package__).joinpath(name).read_text("utf-8")
    return msgspec.toml.decode(text, type=kind)


_PAPER: Final[_Paper] = _read("paper_tables.toml", _Paper)
#: By the number of a table, the dataset and the framework.
_Figures: TypeAlias = dict[str, dict[str, dict[str, list[int | float | str]]]]
_FIGURES: Final[_Figures] = _read("paper_figures.toml", _Figures)
#: How the paper names engines, by their names here.
FRAMEWORKS: Final = _PAPER.frameworks
#: Differences of a participant and its run from the paper: one word for a row, and
#: both values.
_Differences: TypeAlias = "dict[str, str]"


class _Row(NamedTuple):
    """One participant's figures."""

    #: Empty in a table without datasets.
    dataset: str
    name: str
    cells: tuple[Cell, ...]
    differences: _Differences


def paper_table(number: int, runs: Sequence[RecordedRun]) -> Table:
    """Return a table of the paper, filled from runs, with the printed figures.

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
    notes = [table.note]
    if table.configs:
        sides = _sides(runs, number)
        rows = _text_rows(number, sides)
        unlike = [(side.framework, side.differences) for side in sides.values()]
        notes += [*_described(unlike), *_absent(table, sides)]
    elif number == _QUALITY:
        rows = [*_quality_rows(runs)]
        notes += _described([(row.name, row.differences) for row in rows])
    else:
        rows = _run_suite_rows(number, runs)
    if not rows:
        raise NoInput(
            f"nothing for the paper's Table {number}",
            ", ".join(str(run.folder) for run in runs),
            table.command,
        )
    return _with_printed(number, rows, " ".join(notes))


def _with_printed(number: int, rows: Sequence[_Row], note: str) -> Table:
    """Return a table of rows; each dataset's are followed by the printed ones."""
    table = _PAPER.tables[number]
    lines: list[tuple[Cell, ...]] = []
    for dataset, measured in groupby(rows, key=itemgetter(0)):
        head = (dataset,) if dataset else ()
        lines += [
            (*head, row.name, *row.cells, ", ".join(row.differences))
            for row in measured
        ]
        texts = (None,) if dataset else ()
        lines += [
            (*head, f"{framework}, as printed", *figures, *texts, "")
            for framework, figures in printed(number, dataset).items()
        ]
    columns = ("Framework", *table.columns)
    if table.configs:
        columns = ("Dataset", *columns, "texts")
    return Table(
        title=table.title,
        columns=(*columns, "not as in the paper"),
        rows=tuple(lines),
        note=note,
        name=f"paper-table-{number}",
    )


def by_dataset(table: Table) -> list[Table]:
    """Return a paper's table in parts, one for each dataset; itself if it has none."""
    if table.columns[0] != "Dataset":
        return [table]
    return [
        replace(
            table,
            title=f"{table.title}: {dataset}",
            columns=table.columns[1:],
            rows=tuple(row[1:] for row in rows),
            name=f"{table.name}-{dataset}",
        )
        for dataset, rows in groupby(table.rows, key=itemgetter(0))
    ]


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


def suite_table(
    number: int, cases: pl.DataFrame, names: Mapping[Any, tuple[str, str]]
) -> Table:
    """Return Table 5 or 6 of engines' cases, followed by the printed figures.

    Args:
        number: 5 or 6.
        cases: Cases of the official suite, as `summary` accepts them.
        names: For each engine, its name in rows and in the paper.
    """
    rows = _suite_rows(number, cases, names)
    return _with_printed(number, rows, _PAPER.tables[number].note)


def _suite_rows(
    number: int, cases: pl.DataFrame, names: Mapping[Any, tuple[str, str]]
) -> list[_Row]:
    columns = ["compile_error", "over_constrained", "under_constrained"]
    if number != _FAILURES:
        columns = [*LEVELS, "highest", "single"]
    rows = []
    for engine, *cells in summary(cases).select("engine", *columns).iter_rows():
        label, framework = names[engine]
        differences = _version_difference(label, framework)
        rows.append(_Row("", label, tuple(cells), differences))
    return rows


def _run_suite_rows(number: int, runs: Sequence[RecordedRun]) -> list[_Row]:
    """Return the rows of runs, with each run's engines kept apart."""
    names: dict[int, tuple[str, str]] = {}
    frames = []
    for run in runs:
        cases = suite_cases(run).filter(config=PAPER_DRAFT)
        for (label,), rows in sorted(
            cases.partition_by("engine", as_dict=True).items()
        ):
            frames.append(rows.with_columns(engine=pl.lit(len(names))))
            names[len(names)] = label, _framework_of(run.header.participant(label))
    return _suite_rows(number, pl.concat(frames), names) if frames else []


def _quality_rows(runs: Sequence[RecordedRun]) -> Iterator[_Row]:
    for run in runs:
        for name, tables in tables_by_task(run).items():
            for table in tables:
                if table.name != PAPER_FORM:
                    continue
                scored = scored_run(run, name).by_label
                for label, *cells in table.rows:
                    answer = scored[str(label)][0]
                    unlike = _quality_differences(run, str(label), answer)
                    yield _Row("", str(label), tuple(cells), unlike)


class _Side(NamedTuple):
    """One participant of one run of texts."""

    framework: str
    texts: Sequence[GeneratedText]
    run: RecordedRun
    differences: _Differences


def _sides(runs: Sequence[RecordedRun], number: int) -> dict[str, _Side]:
    """Return the participants of runs by their names, in the paper's order."""
    table = _PAPER.tables[number]
    sides: dict[str, _Side] = {}
    folders = run_names(runs)
    for run in runs:
        for label, texts in texts_by_engine(scored_run(run, "coverage")).items():
            framework = _framework_of(run.header.participant(label))
            if framework == "LM only" and framework not in table.frameworks:
                continue
            name = label if label not in sides else f"{folders[run.folder]}: {label}"
            unlike = _text_differences(run, label, number)
            sides[name] = _Side(framework, texts, run, unlike)
    order = {framework: rank for rank, framework in enumerate(_PAPER.versions)}
    return dict(
        sorted(sides.items(), key=lambda side: order.get(side[1].framework, len(order)))
    )


def _absent(table: _PaperTable, sides: Mapping[str, _Side]) -> Iterator[str]:
    """Say which of the paper's frameworks no run has, and the command for them."""
    present = {side.framework for side in sides.values()}
    names = {
        framework: f"--engine {name}"
        for name, framework in FRAMEWORKS.items()
        if framework in table.frameworks - present - _SERVED
    }
    if names:
        engines = " ".join(names.values())
        yield f"Not run: {', '.join(names)} (csbdata eval --compat paper {engines})."


def _text_rows(number: int, sides: Mapping[str, _Side]) -> list[_Row]:
    table = _PAPER.tables[number]
    texts = {
        name: [text for text in side.texts if text.scored.group in table.configs]
        for name, side in sides.items()
    }
    if number != _COVERAGE:
        common = on_common_samples(texts).sides
        texts = {name: [*common.get(name, ())] for name in texts}
    rows = []
    for config in table.configs:
        for name, side in sides.items():
            texts_of_group = [*texts_of_config(texts[name], config)]
            if texts_of_group:
                find = _shares if number == _COVERAGE else _times
                cells = (
                    *find(side, texts_of_group)[: len(table.columns)],
                    len(texts_of_group),
                )
                dataset = _PAPER.datasets[config]
                rows.append(_Row(dataset, side.framework, cells, side.differences))
    return rows


def _shares(_side: _Side, texts: Sequence[GeneratedText]) -> list[Cell]:
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


def _times(side: _Side, texts: Sequence[GeneratedText]) -> list[Cell]:
    """Return the medians of Table 12."""
    figures = TextFigures(side.run.header.limits)
    generations = [text.generation for text in texts]
    cells: list[Cell] = [
        _figure(median_of(generations, figure), scale)
        for figure, scale in (
            (figures.compile, _S),
            (figures.first_token, _S),
            (figures.per_token, _MS),
            (figures.total, _S),
            (tokens, 1.0),
            (forced_tokens, 1.0),
        )
    ]
    if is_unconstrained(texts[0].scored.label):
        cells[0] = MissingFigure("NA")
    return cells


def _figure(quantile: Quantile | None, scale: float) -> Cell:
    if quantile is None:
        return None
    return FixedFigure(quantile.value / scale, at_least=quantile.at_least)


def _framework_of(participant: ParticipantHeader) -> str:
    """Return how the paper calls a participant; its own label where it does not."""
    name = participant.name or participant.engine.partition(" ")[0]
    return FRAMEWORKS.get(name, participant.engine)


def _version_difference(label: str, framework: str) -> _Differences:
    """Return how a participant differs from the paper's; nothing for the model alone.

    Args:
        label: The participant, as a run's rows name it.
        framework: What `_framework_of` calls it.
    """
    if framework not in _PAPER.versions:
        return {"framework": f"{label} is not in the paper"}
    if framework == "LM only":
        return {}
    hint = f"{framework} {_PAPER.versions[framework]}".strip()
    return {"version": f"{label}, not {hint}"}


def _text_differences(run: RecordedRun, label: str, number: int) -> _Differences:
    """Return what of a participant and its run is not as in a table of texts.

    Args:
        run: The run.
        label: The participant, as the run's rows name it.
        number: The number of the table.
    """
    table = _PAPER.tables[number]
    timed = number != _COVERAGE
    framework = _framework_of(run.header.participant(label))
    models: Any = run.raw_header.get("models")
    models = models if isinstance(models, dict) else {}
    model = str(models.get("model") or "no model named")
    loop = "the server's" if "://" in model else _OUR_LOOP
    device = str(models.get("device") or "not known")
    shots = models.get("shots")
    prompt = f"{models.get('prompt')}, {len(shots) if isinstance(shots, list) else 0}"
    budget = models.get("budget")
    batch = models.get("batch")
    differing = {
        "model": (table.model in model, model, table.model),
        "loop": (loop == table.loop, loop, table.loop),
        "device": (not timed or _DEVICE in device, device, _DEVICE),
        "prompt": (prompt == "sections, 2", f"{prompt} shots", "sections, 2"),
        "budget": (
            budget == _BUDGET,
            budget or "by witnesses",
            f"{_BUDGET} tokens",
        ),
        "batch": (not timed or batch in {None, 1}, batch, 1),
    }
    differences = _version_difference(label, framework) | {
        name: f"{used}, not {theirs}"
        for name, (alike, used, theirs) in differing.items()
        if not alike
    }
    options = models.get("options")
    forced = isinstance(options, dict) and bool(options.get("forced"))
    if timed and framework == "Guidance" and not forced:
        differences["forced tokens"] = "not taken (--set forced=true)"
    return differences


def _quality_differences(
    run: RecordedRun, label: str, answer: ScoredResponse
) -> _Differences:
    """Return what of a model and its condition is not as in the paper's Table 7.

    Args:
        run: A run of suite `quality`.
        label: The model and its condition, as the run's rows name them.
        answer: One of its answers.
    """
    table = _PAPER.tables[_QUALITY]
    name = "none" if is_free(answer.condition) else answer.condition.partition(" ")[0]
    framework = FRAMEWORKS.get(name, answer.condition)
    differences = _version_difference(answer.condition, framework)
    if table.model not in answer.model:
        differences["model"] = f"{answer.model}, not {table.model}"
    entries: Any = run.raw_header.get("engines") or ()
    entry: Any = next(
        (
            entry_of_engine
            for entry_of_engine in entries
            if entry_of_engine.get("engine") == label
        ),
        {},
    )
    # Who scores a file of responses has not seen what wrote them.
    loop = _OUR_LOOP if isinstance(entry.get("model"), dict) else "not known"
    loop = "the server's" if "server" in entry else loop
    differences["loop"] = f"{loop}, not {table.loop}"
    if run.suite.get("generated"):
        differences["problems"] = f"{run.suite['origin']}, not the published ones"
    return differences


def _described(sides: Sequence[tuple[str, _Differences]]) -> Iterator[str]:
    """Yield the differences from the paper, a sentence each, with its engines.

    Args:
        sides: The name of each participant, and how it differs.
    """
    whose: dict[tuple[str, str], list[str]] = {}
    for name, differences in sides:
        for difference in differences.items():
            whose.setdefault(difference, []).append(name)
    for (subject, detail), named in whose.items():
        of = "" if len(named) == len(sides) else f" of {', '.join(named)}"
        yield f"{subject[0].upper()}{subject[1:]}{of}: {detail}."
