"""Tables of arXiv 2501.10868 in the paper's own form, beside what it prints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.system.errors import BadUsage, NoInput
from evaluation.analysis.paper_setup import (
    FRAMEWORKS,
    PAPER_SETUPS,
    VERSIONS,
    PaperSetup,
    SetupDifference,
    describe_differences,
    differences,
    framework_of,
    printed,
    quality_differences,
    version_difference,
)
from evaluation.analysis.run_report import reports
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
    CommonTexts,
    GeneratedText,
    is_unconstrained,
    on_common_samples,
    texts_by_engine,
    texts_of_config,
)
from evaluation.suites.quality.report import PAPER_FORM
from evaluation.tasks.official_suite import NAME as TEST_SUITE
from evaluation.tasks.official_suite.report import (
    CaseOutcome,
    SuiteFailure,
    by_category,
    failing_categories,
    find_leaders,
    levels,
    outcome,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evaluation.reporting.quantiles import Quantile
    from evaluation.results.reader import RecordedRun

#: The draft of the paper's suite.
PAPER_DRAFT: Final = "2020-12"
_FAILURES: Final = (
    SuiteFailure.COMPILE_ERROR,
    SuiteFailure.OVER_CONSTRAINED,
    SuiteFailure.UNDER_CONSTRAINED,
)
_TITLES: Final[Mapping[int, str]] = {
    5: "Table 5: categories in which a failure of each kind occurs",
    6: "Table 6: categories with a level of coverage",
    7: "Table 7: accuracy on the quality tasks",
}
_COLUMNS: Final[Mapping[int, tuple[str, ...]]] = {
    5: ("Compile-Error", "Over-constrained", "Under-constrained"),
    6: (
        "> 0%",
        "> 25%",
        "> 50%",
        "> 75%",
        "100%",
        "Tied for highest",
        "Single highest",
    ),
    7: ("Last Letters (%)", "Shuffle Objects (%)", "GSM8K (%)"),
}
_COMMANDS: Final[Mapping[int, str]] = {
    5: "csbdata eval --task test-suite --set drafts=2020-12 --engine NAME@paper",
    6: "csbdata eval --task test-suite --set drafts=2020-12 --engine NAME@paper",
    7: "csbdata suite run quality --engine none --engine llguidance",
}
_SUITE_NOTE: Final = (
    "Mandatory tests of 2020-12 without those that need a remote schema. Each engine's "
    "tokenizer is that of the run; the paper's is Llama 3.1's. The highest share is "
    "that among the rows measured, in the paper among the four printed."
)
_QUALITY_NOTE: Final = (
    "The printed rows are of Llama-3.1-8B-Instruct, each framework at its version of "
    "the paper's time."
)
_QUALITY: Final = 7


class SuiteSide(NamedTuple):
    """An engine's cases of the official suite."""

    #: What rows call it.
    label: str
    #: What the paper calls it.
    framework: str
    cases: Sequence[CaseOutcome]


def _of_suite(number: int, runs: Sequence[RecordedRun]) -> Table:
    if number == _QUALITY and (sides := [*_quality_sides(runs)]):
        return _quality_table(sides)
    if number != _QUALITY and (cases := [*_suite_sides(runs)]):
        return suite_table(number, cases)
    raise NoInput(
        f"nothing for the paper's Table {number}",
        ", ".join(str(run.folder) for run in runs),
        _COMMANDS[number],
    )


def suite_table(number: int, sides: Sequence[SuiteSide]) -> Table:
    """Return Table 5 or 6 of engines' cases, with what the paper prints below."""
    return _numbered(number, [*_suite_rows(number, sides)], _SUITE_NOTE)


def _numbered(number: int, rows: Sequence[tuple[Cell, ...]], note: str) -> Table:
    known: list[tuple[Cell, ...]] = [
        (f"{framework}, as printed", *figures, "")
        for framework, figures in printed(number).items()
    ]
    return Table(
        title=_TITLES[number],
        columns=("Framework", *_COLUMNS[number], "not as in the paper"),
        rows=(*rows, *known),
        note=note,
        name=f"paper-table-{number}",
    )


def _quality_table(sides: Sequence[_QualitySide]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (*side.cells, ", ".join(one.what for one in side.differences)) for side in sides
    ]
    unlike = describe_differences([(side.label, side.differences) for side in sides])
    return _numbered(_QUALITY, rows, " ".join([_QUALITY_NOTE, *unlike]))


class _QualitySide(NamedTuple):
    label: str
    #: The row without its last cell.
    cells: tuple[Cell, ...]
    differences: tuple[SetupDifference, ...]


def _quality_sides(runs: Sequence[RecordedRun]) -> Iterator[_QualitySide]:
    for run in runs:
        for name, report in reports(run).items():
            for table in report.tables:
                if table.name != PAPER_FORM:
                    continue
                scored = scored_run(run, name, run.raw_header).by_label
                for row in table.rows:
                    label = str(row[0])
                    unlike = quality_differences(run, label, scored[label][0])
                    yield _QualitySide(label, row, tuple(unlike))


def _suite_rows(number: int, sides: Sequence[SuiteSide]) -> Iterator[tuple[Cell, ...]]:
    coverage = {str(i): by_category(side.cases) for i, side in enumerate(sides)}
    leaders = find_leaders(coverage)
    for (key, covered), side in zip(coverage.items(), sides, strict=True):
        failing = failing_categories(side.cases)
        cells: tuple[Cell, ...] = (
            tuple(failing[failure] for failure in _FAILURES)
            if number == 5  # noqa: PLR2004 (its number)
            else (*levels(covered), len(leaders[key].highest), len(leaders[key].single))
        )
        differs = version_difference(side.label, side.framework)
        yield (side.label, *cells, differs.what if differs else "")


def _suite_sides(runs: Sequence[RecordedRun]) -> Iterator[SuiteSide]:
    for run in runs:
        by_engine: dict[str, list[CaseOutcome]] = {}
        for row in run.rows():
            if (row.task, row.config) == (TEST_SUITE, PAPER_DRAFT):
                by_engine.setdefault(row.engine, []).append(outcome(row))
        for label, cases in sorted(by_engine.items()):
            yield SuiteSide(label, framework_of(run.header.participant(label)), cases)


#: The number of the table that is of texts, not of times.
_COVERAGE_TABLE: Final = 4
#: How the paper names the configs, in the order of its Table 4.
_DATASETS: Final[Mapping[str, str]] = {
    "Glaiveai2K": "GlaiveAI",
    "Github_easy": "GitHub Easy",
    "Snowplow": "Snowplow",
    "Github_medium": "GitHub Medium",
    "Kubernetes": "Kubernetes",
    "WashingtonPost": "Washington Post",
    "Github_hard": "GitHub Hard",
    "JsonSchemaStore": "JsonSchemaStore",
}
_LLAMA_CPP: Final = (
    *("Glaiveai2K", "Github_easy", "Snowplow", "Github_medium", "Kubernetes"),
)
_TRANSFORMERS: Final = ("Glaiveai2K", "Github_easy", "Github_medium", "Github_hard")
#: Frameworks behind a server of their own, for which no one command stands.
_SERVED: Final = frozenset({"OpenAI", "Gemini"})
#: Nanoseconds of a second and of a millisecond.
_S, _MS = 1e9, 1e6


@dataclass(frozen=True, slots=True)
class _PaperTable:
    title: str
    configs: tuple[str, ...]
    #: Frameworks that it has a row for.
    frameworks: frozenset[str]
    #: Whether it has the whole time and the tokens.
    long: bool = False


_ALL_LLAMA_CPP: Final = frozenset({"LM only", "Guidance", "Llamacpp", "Outlines"})
_ALL_TRANSFORMERS: Final = frozenset({"Guidance", "XGrammar"})
_TABLES: Final[Mapping[int, _PaperTable]] = {
    2: _PaperTable("Table 2: efficiency with LlamaCpp", _LLAMA_CPP, _ALL_LLAMA_CPP),
    3: _PaperTable(
        "Table 3: efficiency with Hugging Face Transformers",
        _TRANSFORMERS,
        _ALL_TRANSFORMERS,
    ),
    4: _PaperTable(
        "Table 4: coverage of all the frameworks",
        tuple(_DATASETS),
        frozenset({"Guidance", "Llamacpp", "Outlines", "XGrammar", "OpenAI", "Gemini"}),
    ),
    12: _PaperTable(
        "Table 12: efficiency with LlamaCpp", _LLAMA_CPP, _ALL_LLAMA_CPP, long=True
    ),
    13: _PaperTable(
        "Table 13: efficiency with Hugging Face Transformers",
        _TRANSFORMERS,
        _ALL_TRANSFORMERS,
        long=True,
    ),
}
_COVERAGE_NOTE: Final = (
    "Shares of the texts. Empirical and Compliant Rate by the paper's Listing 10. "
    "A framework that the paper has no row for stands under its own name."
)
_TIME_NOTE: Final = (
    "Medians over the schemas on which every framework of the runs wrote a text or ran "
    "out of time, as section 4.1 has it; a lower bound where budget or deadline cut it "
    "off. NA: nothing compiles."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One participant of one run, with its row's last cell."""

    framework: str
    texts: Sequence[GeneratedText]
    run: RecordedRun
    differences: tuple[SetupDifference, ...]

    @property
    def differs(self) -> str:
        """What was not as in the paper, a word each."""
        return ", ".join(one.what for one in self.differences)


def paper_table(number: int, runs: Sequence[RecordedRun]) -> Table:
    """Return a table of the paper, filled from runs, with what the paper prints.

    Args:
        number: 2, 3, 4, 12 or 13 for runs of the tasks `coverage` and `efficiency`;
            5 or 6 for runs of `test-suite`; 7 for runs of suite `quality`.
        runs: The runs.

    Raises:
        BadUsage: there is no such table here.
        NoInput: the runs have no text for the datasets of the table.
    """
    if number in _TITLES:
        return _of_suite(number, runs)
    if number not in _TABLES:
        numbers = ", ".join(map(str, sorted({*_TABLES, *_TITLES})))
        raise BadUsage(f"no table {number} here", then=f"say one of {numbers}")
    table = _TABLES[number]
    if number == _COVERAGE_TABLE:
        runs = [run for run in runs if not run.header.models.random_weights]
    sides = _sides(runs, table, PAPER_SETUPS[number])
    build, note = (
        (_coverage_rows, _COVERAGE_NOTE)
        if number == _COVERAGE_TABLE
        else (_time_rows, _TIME_NOTE)
    )
    columns, rows = build(table, sides)
    if not rows:
        raise NoInput(
            f"no text for a dataset of the paper's Table {number}",
            ", ".join(str(run.folder) for run in runs),
            "csbdata eval --compat paper --task coverage --task efficiency",
        )
    return Table(
        title=table.title,
        columns=("Dataset", "Framework", *columns, "not as in the paper"),
        rows=tuple(_with_printed(number, rows)),
        note=" ".join(
            [
                note,
                *describe_differences(
                    [(side.framework, side.differences) for side in sides.values()]
                ),
                *_absent(table, sides),
            ]
        ),
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


def _with_printed(
    number: int, rows: Sequence[tuple[Cell, ...]]
) -> Iterator[tuple[Cell, ...]]:
    for dataset, measured in groupby(rows, key=itemgetter(0)):
        yield from measured
        for framework, figures in printed(number, str(dataset)).items():
            yield (dataset, f"{framework}, as printed", *figures, None, "")


def _absent(table: _PaperTable, sides: Mapping[str, _Side]) -> Iterator[str]:
    """Say which of the paper's frameworks no run has, and the command for them."""
    present = {side.framework for side in sides.values()}
    names = [
        (framework, name)
        for name, framework in FRAMEWORKS.items()
        if framework in table.frameworks - present - _SERVED
    ]
    if names:
        engines = " ".join(f"--engine {name}" for _, name in names)
        yield (
            f"Not run: {', '.join(framework for framework, _ in names)} "
            f"(csbdata eval --compat paper {engines})."
        )


def _sides(
    runs: Sequence[RecordedRun], table: _PaperTable, setup: PaperSetup
) -> dict[str, _Side]:
    sides: dict[str, _Side] = {}
    folders = run_names(runs)
    for run in runs:
        for label, texts in texts_by_engine(scored_run(run, "coverage", {})).items():
            framework = framework_of(run.header.participant(label))
            if framework == "LM only" and framework not in table.frameworks:
                continue
            name = label if label not in sides else f"{folders[run.folder]}: {label}"
            sides[name] = _Side(
                framework=framework,
                texts=texts,
                run=run,
                differences=tuple(differences(run, label, setup)),
            )
    order = list(VERSIONS)
    return dict(
        sorted(
            sides.items(),
            key=lambda item: (
                order.index(item[1].framework)
                if item[1].framework in order
                else len(order)
            ),
        )
    )


def _coverage_rows(
    table: _PaperTable, sides: Mapping[str, _Side]
) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    rows: list[tuple[Cell, ...]] = []
    for config in table.configs:
        for side in sides.values():
            texts = list(texts_of_config(side.texts, config))
            if not texts:
                continue
            known = [text for text in texts if text.is_declaration_known]
            declared = [text for text in texts if text.declared]
            rows.append(
                (
                    _DATASETS[config],
                    side.framework,
                    _share(known, lambda text: text.declared),
                    _share(texts, lambda text: text.compliant_by_listing_10),
                    _share(declared, lambda text: text.compliant_by_listing_10),
                    len(texts),
                    side.differs,
                )
            )
    return ("Declared", "Empirical", "Compliant Rate", "texts"), rows


def _share(
    texts: Sequence[GeneratedText], good: Callable[[GeneratedText], bool]
) -> Cell:
    if not texts:
        return MissingFigure("NA")
    return FixedFigure(sum(map(good, texts)) / len(texts))


def _time_rows(
    table: _PaperTable, sides: Mapping[str, _Side]
) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    columns = ["GCT (s)", "TTFT (s)", "TPOT (ms)"]
    columns += ["TGT (s)", "Output Tokens", "(FF)"] if table.long else []
    common = on_common_samples(
        {
            name: [text for text in side.texts if text.config in table.configs]
            for name, side in sides.items()
        }
    )
    rows: list[tuple[Cell, ...]] = []
    for config in table.configs:
        for name, side in sides.items():
            cells = _times(config, name, side, common, long=table.long)
            if cells:
                head = (_DATASETS[config], side.framework)
                rows.append((*head, *cells, side.differs))
    return (*columns, "texts"), rows


def _times(
    config: str, name: str, side: _Side, common: CommonTexts, *, long: bool
) -> tuple[Cell, ...]:
    own_texts = texts_of_config(common.sides.get(name, ()), config)
    texts = [text.generation for text in own_texts]
    if not texts:
        return ()
    figures = TextFigures(side.run.header.limits)
    free = is_unconstrained(side.texts[0].engine)
    cells: list[Cell] = [
        MissingFigure("NA") if free else _figure(median_of(texts, figures.compile), _S),
        _figure(median_of(texts, figures.first_token), _S),
        _figure(median_of(texts, figures.per_token), _MS),
    ]
    if long:
        cells += [
            _figure(median_of(texts, figures.total), _S),
            _figure(median_of(texts, tokens)),
            _figure(median_of(texts, forced_tokens)),
        ]
    return (*cells, len(texts))


def _figure(quantile: Quantile | None, scale: float = 1.0) -> Cell:
    if quantile is None:
        return None
    return FixedFigure(quantile.value / scale, at_least=quantile.at_least)
