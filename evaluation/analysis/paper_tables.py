"""Tables of arXiv 2501.10868 in the paper's own form, beside what it prints.

Datasets, frameworks, columns, units and digits are those of the paper. What the paper
did otherwise stands in the last column of each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from curation.system.errors import BadUsage, NoInput
from evaluation.analysis.paper_setup import (
    FRAMEWORKS,
    PAPER_SETUPS,
    differences,
    framework_of,
    printed,
    told,
)
from evaluation.analysis.paper_suites import SUITE_TABLES, suite_table
from evaluation.reporting.tables import Cell, FixedFigure, MissingFigure, Table
from evaluation.results.suite_rows import scored_run
from evaluation.suites.coverage.efficiency import (
    TextFigures,
    forced_tokens,
    median_of,
    tokens,
)
from evaluation.suites.coverage.texts import (
    is_unconstrained,
    on_common_samples,
    texts_by_engine,
    texts_of_config,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evaluation.analysis.paper_setup import PaperSetup, SetupDifference
    from evaluation.reporting.quantiles import Quantile
    from evaluation.results.reader import RecordedRun
    from evaluation.suites.coverage.texts import CommonTexts, GeneratedText

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
_NS_PER: Final = {"s": 1e9, "ms": 1e6}


@dataclass(frozen=True, slots=True, kw_only=True)
class _PaperTable:
    """What one table of the paper holds."""

    title: str
    configs: tuple[str, ...]
    #: Frameworks that it has a row for.
    frameworks: frozenset[str]
    #: Whether it has the whole time and the tokens.
    long: bool = False


_ALL_LLAMA_CPP: Final = frozenset({"LM only", "Guidance", "Llamacpp", "Outlines"})
_TABLES: Final[Mapping[int, _PaperTable]] = {
    2: _PaperTable(
        title="Table 2: efficiency with LlamaCpp",
        configs=_LLAMA_CPP,
        frameworks=_ALL_LLAMA_CPP,
    ),
    3: _PaperTable(
        title="Table 3: efficiency with Hugging Face Transformers",
        configs=_TRANSFORMERS,
        frameworks=frozenset({"Guidance", "XGrammar"}),
    ),
    4: _PaperTable(
        title="Table 4: coverage of all the frameworks",
        configs=tuple(_DATASETS),
        frameworks=frozenset(
            {"Guidance", "Llamacpp", "Outlines", "XGrammar", "OpenAI", "Gemini"}
        ),
    ),
    12: _PaperTable(
        title="Table 12: efficiency with LlamaCpp",
        configs=_LLAMA_CPP,
        frameworks=_ALL_LLAMA_CPP,
        long=True,
    ),
    13: _PaperTable(
        title="Table 13: efficiency with Hugging Face Transformers",
        configs=_TRANSFORMERS,
        frameworks=frozenset({"Guidance", "XGrammar"}),
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
    if number in SUITE_TABLES:
        return suite_table(number, runs)
    if number not in _TABLES:
        numbers = ", ".join(map(str, sorted({*_TABLES, *SUITE_TABLES})))
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
                *told([(side.framework, side.differences) for side in sides.values()]),
                *_absent(table, sides),
            ]
        ),
        name=f"paper-table-{number}",
    )


def _with_printed(
    number: int, rows: Sequence[tuple[Cell, ...]]
) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of each dataset, and then those that the paper prints for it."""
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
    """Return the participants in the paper's order, by unique names."""
    sides: dict[str, _Side] = {}
    for run in runs:
        for label, texts in texts_by_engine(scored_run(run, "coverage", {})).items():
            framework = framework_of(run.header.participant(label))
            if framework == "LM only" and framework not in table.frameworks:
                continue
            name = label if label not in sides else f"{run.folder.name}: {label}"
            sides[name] = _Side(
                framework=framework,
                texts=texts,
                run=run,
                differences=tuple(differences(run, label, setup)),
            )
    order = list(setup.versions)
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
            declared = [text for text in texts if text.declared]
            rows.append(
                (
                    _DATASETS[config],
                    side.framework,
                    _share(texts, lambda text: text.declared),
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
    """Return a row's figures; nothing where there is no text."""
    own_texts = texts_of_config(common.sides.get(name, ()), config)
    texts = [text.generation for text in own_texts]
    if not texts:
        return ()
    figures = TextFigures(side.run.header.limits)
    free = is_unconstrained(side.texts[0].engine)
    cells: list[Cell] = [
        MissingFigure("NA") if free else _in(median_of(texts, figures.compile), "s"),
        _in(median_of(texts, figures.first_token), "s"),
        _in(median_of(texts, figures.per_token), "ms"),
    ]
    if long:
        cells += [
            _in(median_of(texts, figures.total), "s"),
            _fixed(median_of(texts, tokens)),
            _fixed(median_of(texts, forced_tokens)),
        ]
    return (*cells, len(texts))


def _in(quantile: Quantile | None, unit: str) -> Cell:
    if quantile is None:
        return None
    return FixedFigure(quantile.value / _NS_PER[unit], at_least=quantile.at_least)


def _fixed(quantile: Quantile | None) -> Cell:
    return (
        None
        if quantile is None
        else FixedFigure(quantile.value, at_least=quantile.at_least)
    )
