"""Tables of arXiv 2501.10868 in the paper's own form, beside what it prints.

`paper_figures.toml` has the figures that it prints.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import msgspec

from curation.system.errors import BadUsage, NoInput
from evaluation.analysis.run_report import reports
from evaluation.core.records import is_free
from evaluation.reporting.tables import Cell, FixedFigure, MissingFigure, Table
from evaluation.results.reader import run_names
from evaluation.results.suite_rows import SUITE, scored_run
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

    from curation.core.json_types import UntypedJson
    from evaluation.core.run_header import ParticipantHeader
    from evaluation.core.suite import ScoredResponse
    from evaluation.reporting.quantiles import Quantile
    from evaluation.results.reader import RecordedRun

#: By the number of a table, the dataset (empty where a table has none) and the
#: framework.
_Tables: TypeAlias = dict[str, dict[str, dict[str, list[int | float | str]]]]
#: Tables that are the first columns of another one: its number, and how many.
_PARTS: Final = {2: (12, 3), 3: (13, 3)}
#: The draft of the paper's suite.
PAPER_DRAFT: Final = "2020-12"
#: How the paper names engines, by their names here.
FRAMEWORKS: Final[Mapping[str, str]] = {
    "none": "LM only",
    "llguidance": "Guidance",
    "llama_cpp": "Llamacpp",
    "outlines_core": "Outlines",
    "xgrammar": "XGrammar",
    "openai": "OpenAI",
    "gemini": "Gemini",
}
#: The versions that its appendix names, in the order of the tables; empty: none.
_VERSIONS: Final[Mapping[str, str]] = {
    "LM only": "",
    "Guidance": "0.2.0rc",
    "Llamacpp": "0.3.2",
    "Outlines": "0.1.8",
    "XGrammar": "0.1.6",
    "OpenAI": "",
    "Gemini": "",
}
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
#: Frameworks behind a server of their own, for which no one command stands.
_SERVED: Final = frozenset({"OpenAI", "Gemini"})
_LLAMA_3_1: Final = "Llama-3.1-8B-Instruct"
_OUR_LOOP: Final = "csbdata's on transformers"
_OWN_LOOPS: Final = "each framework's own"
#: What all tables share: the graphics card, and most tokens of a text.
_DEVICE: Final = "A100"
_BUDGET: Final = 2048
#: Nanoseconds of a second and of a millisecond.
_S, _MS = 1e9, 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class _PaperTable:
    """A table of the paper, and how it was measured."""

    title: str
    columns: tuple[str, ...]
    note: str
    #: What measures it here.
    command: str
    #: The datasets that it has rows for, if any; the model, and what ran it.
    configs: tuple[str, ...] = ()
    model: str = _LLAMA_3_1
    loop: str = _OWN_LOOPS
    #: Frameworks that it has a row for.
    frameworks: frozenset[str] = frozenset()


_FAILURES: Final = _PaperTable(
    title="Table 5: categories in which a failure of each kind occurs",
    columns=("Compile-Error", "Over-constrained", "Under-constrained"),
    note="Mandatory tests of 2020-12 without those that need a remote schema. Each "
    "engine's tokenizer is that of the run; the paper's is Llama 3.1's. The highest "
    "share is that among the rows measured, in the paper among the four printed.",
    command="csbdata eval --task test-suite --set drafts=2020-12 --engine NAME@paper",
)
_TIMES: Final = ("GCT (s)", "TTFT (s)", "TPOT (ms)")
_LLAMA_CPP: Final = _PaperTable(
    title="Table 2: efficiency with LlamaCpp",
    columns=_TIMES,
    note="Medians over the schemas on which every framework of the runs wrote a text "
    "or ran out of time, as section 4.1 has it; a lower bound where budget or deadline "
    "cut it off. NA: nothing compiles.",
    command="csbdata eval --compat paper --task coverage --task efficiency",
    configs=("Glaiveai2K", "Github_easy", "Snowplow", "Github_medium", "Kubernetes"),
    loop="llama.cpp, Q8",
    frameworks=frozenset({"LM only", "Guidance", "Llamacpp", "Outlines"}),
)
_TRANSFORMERS: Final = replace(
    _LLAMA_CPP,
    title="Table 3: efficiency with Hugging Face Transformers",
    configs=("Glaiveai2K", "Github_easy", "Github_medium", "Github_hard"),
    loop="Hugging Face Transformers",
    frameworks=frozenset({"Guidance", "XGrammar"}),
)
_WHOLE_TIMES: Final = (*_TIMES, "TGT (s)", "Output Tokens", "(FF)")
_TABLES: Final[Mapping[int, _PaperTable]] = {
    2: _LLAMA_CPP,
    3: _TRANSFORMERS,
    4: replace(
        _LLAMA_CPP,
        title="Table 4: coverage of all the frameworks",
        columns=("Declared", "Empirical", "Compliant Rate"),
        note="Shares of the texts. Empirical and Compliant Rate by the paper's Listing "
        "10. A framework that the paper has no row for stands under its own name.",
        configs=tuple(_DATASETS),
        model="Llama-3.2-1B-Instruct",
        loop=_OWN_LOOPS,
        frameworks=frozenset(_VERSIONS) - {"LM only"},
    ),
    5: _FAILURES,
    6: replace(
        _FAILURES,
        title="Table 6: categories with a level of coverage",
        columns=(
            *("> 0%", "> 25%", "> 50%", "> 75%", "100%"),
            *("Tied for highest", "Single highest"),
        ),
    ),
    7: _PaperTable(
        title="Table 7: accuracy on the quality tasks",
        columns=("Last Letters (%)", "Shuffle Objects (%)", "GSM8K (%)"),
        note="The printed rows are of Llama-3.1-8B-Instruct, each framework at its "
        "version of the paper's time.",
        command="csbdata suite run quality --engine none --engine llguidance",
    ),
    12: replace(
        _LLAMA_CPP, title="Table 12: efficiency with LlamaCpp", columns=_WHOLE_TIMES
    ),
    13: replace(
        _TRANSFORMERS,
        title="Table 13: efficiency with Hugging Face Transformers",
        columns=_WHOLE_TIMES,
    ),
}
#: The numbers of the tables of texts, not of times, and of accuracy.
_COVERAGE, _QUALITY = 4, 7


class SetupDifference(NamedTuple):
    """One thing that was not as in the paper."""

    #: One word for a row: `version`, `model`, `loop`, ...
    what: str
    #: What it was, and what it was there.
    detail: str


class _Row(NamedTuple):
    """One participant's figures."""

    #: Empty in a table without datasets.
    dataset: str
    name: str
    cells: tuple[Cell, ...]
    differences: Sequence[SetupDifference]


def paper_table(number: int, runs: Sequence[RecordedRun]) -> Table:
    """Return a table of the paper, filled from runs, with what the paper prints.

    Args:
        number: 2, 3, 4, 12 or 13 for runs of the tasks `coverage` and `efficiency`;
            5 or 6 for runs of `test-suite`; 7 for runs of suite `quality`.
        runs: The runs.

    Raises:
        BadUsage: there is no such table here.
        NoInput: the runs have nothing for the table.
    """
    if number not in _TABLES:
        numbers = ", ".join(map(str, _TABLES))
        raise BadUsage(f"no table {number} here", then=f"say one of {numbers}")
    table = _TABLES[number]
    notes = [table.note]
    if table.configs:
        sides = _sides(runs, number)
        build = _coverage_rows if number == _COVERAGE else _time_rows
        rows = build(table, sides)
        unlike = [(side.framework, side.differences) for side in sides.values()]
        notes += [*describe_differences(unlike), *_absent(table, sides)]
    elif number == _QUALITY:
        rows = [*_quality_rows(runs)]
        notes += describe_differences([(row.name, row.differences) for row in rows])
    else:
        rows = _suite_rows(number, [*_suite_sides(runs)])
    if not rows:
        raise NoInput(
            f"nothing for the paper's Table {number}",
            ", ".join(str(run.folder) for run in runs),
            table.command,
        )
    return _with_printed(number, rows, " ".join(notes))


def _with_printed(number: int, rows: Sequence[_Row], note: str) -> Table:
    """Return a table of rows; below those of a dataset stands what is printed."""
    table = _TABLES[number]
    lines: list[tuple[Cell, ...]] = []
    for dataset, measured in groupby(rows, key=itemgetter(0)):
        head = (dataset,) if dataset else ()
        for row in measured:
            differs = ", ".join(difference.what for difference in row.differences)
            lines.append((*head, row.name, *row.cells, differs))
        for framework, figures in printed(number, dataset).items():
            texts = (None,) if dataset else ()
            lines.append((*head, f"{framework}, as printed", *figures, *texts, ""))
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
    whole, columns = _PARTS.get(number, (number, None))
    rows = _figures()[str(whole)].get(dataset, {})
    return {
        framework: tuple(map(_printed_cell, figures[:columns]))
        for framework, figures in rows.items()
    }


def _printed_cell(figure: float | str) -> Cell:
    match figure:
        case str():
            return MissingFigure(figure)
        case int():
            return figure
        case _:
            return FixedFigure(figure)


@cache
def _figures() -> _Tables:
    text = files(__package__).joinpath("paper_figures.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), _Tables)


class SuiteSide(NamedTuple):
    """An engine's cases of the official suite."""

    #: What rows call it.
    label: str
    #: What the paper calls it.
    framework: str
    cases: Sequence[CaseOutcome]


def suite_table(number: int, sides: Sequence[SuiteSide]) -> Table:
    """Return Table 5 or 6 of engines' cases, with what the paper prints below."""
    return _with_printed(number, _suite_rows(number, sides), _FAILURES.note)


def _suite_rows(number: int, sides: Sequence[SuiteSide]) -> list[_Row]:
    coverage = {str(i): by_category(side.cases) for i, side in enumerate(sides)}
    leaders = find_leaders(coverage)
    rows = []
    for (key, covered), side in zip(coverage.items(), sides, strict=True):
        cells = (*levels(covered), len(leaders[key].highest), len(leaders[key].single))
        if _TABLES[number] is _FAILURES:
            failing = failing_categories(side.cases)
            cells = (
                failing[SuiteFailure.COMPILE_ERROR],
                failing[SuiteFailure.OVER_CONSTRAINED],
                failing[SuiteFailure.UNDER_CONSTRAINED],
            )
        differs = [*_version_difference(side.label, side.framework)]
        rows.append(_Row("", side.label, cells, differs))
    return rows


def _suite_sides(runs: Sequence[RecordedRun]) -> Iterator[SuiteSide]:
    for run in runs:
        by_engine: dict[str, list[CaseOutcome]] = {}
        for row in run.rows():
            if (row.task, row.config) == (TEST_SUITE, PAPER_DRAFT):
                by_engine.setdefault(row.engine, []).append(outcome(row))
        for label, cases in sorted(by_engine.items()):
            yield SuiteSide(label, _framework_of(run.header.participant(label)), cases)


def _quality_rows(runs: Sequence[RecordedRun]) -> Iterator[_Row]:
    for run in runs:
        for name, report in reports(run).items():
            for table in report.tables:
                if table.name != PAPER_FORM:
                    continue
                scored = scored_run(run, name).by_label
                for label, *cells in table.rows:
                    answer = scored[str(label)][0]
                    unlike = [*_quality_differences(run, str(label), answer)]
                    yield _Row("", str(label), tuple(cells), unlike)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One participant of one run of texts."""

    framework: str
    texts: Sequence[GeneratedText]
    run: RecordedRun
    differences: tuple[SetupDifference, ...]


def _sides(runs: Sequence[RecordedRun], number: int) -> dict[str, _Side]:
    """Return the participants of runs by their names, in the paper's order."""
    table = _TABLES[number]
    sides: dict[str, _Side] = {}
    folders = run_names(runs)
    for run in runs:
        if number == _COVERAGE and run.header.models.random_weights:
            continue
        for label, texts in texts_by_engine(scored_run(run, "coverage")).items():
            framework = _framework_of(run.header.participant(label))
            if framework == "LM only" and framework not in table.frameworks:
                continue
            name = label if label not in sides else f"{folders[run.folder]}: {label}"
            sides[name] = _Side(
                framework=framework,
                texts=texts,
                run=run,
                differences=tuple(_text_differences(run, label, number)),
            )
    order = {framework: place for place, framework in enumerate(_VERSIONS)}
    names = sorted(sides, key=lambda name: order.get(sides[name].framework, len(order)))
    return {name: sides[name] for name in names}


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


def _coverage_rows(table: _PaperTable, sides: Mapping[str, _Side]) -> list[_Row]:
    rows = []
    for config in table.configs:
        for side in sides.values():
            texts = list(texts_of_config(side.texts, config))
            if not texts:
                continue
            known = [text for text in texts if text.is_declaration_known]
            declared = [text for text in texts if text.declared]
            cells = (
                _share(known, lambda text: text.declared),
                _share(texts, lambda text: text.compliant_by_listing_10),
                _share(declared, lambda text: text.compliant_by_listing_10),
                len(texts),
            )
            dataset = _DATASETS[config]
            rows.append(_Row(dataset, side.framework, cells, side.differences))
    return rows


def _share(
    texts: Sequence[GeneratedText], good: Callable[[GeneratedText], bool]
) -> Cell:
    if not texts:
        return MissingFigure("NA")
    return FixedFigure(sum(map(good, texts)) / len(texts))


def _time_rows(table: _PaperTable, sides: Mapping[str, _Side]) -> list[_Row]:
    common = on_common_samples(
        {
            name: [text for text in side.texts if text.config in table.configs]
            for name, side in sides.items()
        }
    )
    rows = []
    for config in table.configs:
        for name, side in sides.items():
            own = texts_of_config(common.sides.get(name, ()), config)
            texts = [text.generation for text in own]
            if not texts:
                continue
            figures = TextFigures(side.run.header.limits)
            cells: list[Cell] = [
                _figure(median_of(texts, figures.compile), _S),
                _figure(median_of(texts, figures.first_token), _S),
                _figure(median_of(texts, figures.per_token), _MS),
                _figure(median_of(texts, figures.total), _S),
                _figure(median_of(texts, tokens)),
                _figure(median_of(texts, forced_tokens)),
            ]
            if is_unconstrained(side.texts[0].engine):
                cells[0] = MissingFigure("NA")
            shown = (*cells[: len(table.columns)], len(texts))
            dataset = _DATASETS[config]
            rows.append(_Row(dataset, side.framework, shown, side.differences))
    return rows


def _figure(quantile: Quantile | None, scale: float = 1.0) -> Cell:
    if quantile is None:
        return None
    return FixedFigure(quantile.value / scale, at_least=quantile.at_least)


def _framework_of(participant: ParticipantHeader) -> str:
    """Return how the paper calls a participant; its own label where it does not."""
    name = participant.name or participant.engine.partition(" ")[0]
    return FRAMEWORKS.get(name, participant.engine)


def _version_difference(label: str, framework: str) -> Iterator[SetupDifference]:
    """Yield how a participant differs from the paper's; nothing for the model alone.

    Args:
        label: The participant, as a run's rows name it.
        framework: What `_framework_of` calls it.
    """
    if framework not in _VERSIONS:
        yield SetupDifference("framework", f"{label} is not in the paper")
    elif framework != "LM only":
        then = f"{framework} {_VERSIONS[framework]}".strip()
        yield SetupDifference("version", f"{label}, not {then}")


def _text_differences(
    run: RecordedRun, label: str, number: int
) -> Iterator[SetupDifference]:
    """Yield what of a participant and its run is not as in a table of texts.

    Args:
        run: The run.
        label: The participant, as the run's rows name it.
        number: The number of the table.
    """
    table, timed = _TABLES[number], number != _COVERAGE
    framework = _framework_of(run.header.participant(label))
    yield from _version_difference(label, framework)
    header = run.raw_header.get("models")
    models: Mapping[str, UntypedJson] = header if isinstance(header, dict) else {}
    model = str(models.get("model") or "no model named")
    if table.model not in model:
        yield SetupDifference("model", f"{model}, not {table.model}")
    loop = "the server's" if "://" in model else _OUR_LOOP
    yield SetupDifference("loop", f"{loop}, not {table.loop}")
    device = str(models.get("device") or "not known")
    if timed and _DEVICE not in device:
        yield SetupDifference("device", f"{device}, not {_DEVICE}")
    shots = models.get("shots")
    prompt = f"{models.get('prompt')}, {len(shots) if isinstance(shots, list) else 0}"
    if prompt != "sections, 2":
        yield SetupDifference("prompt", f"{prompt} shots, not sections, 2")
    budget = models.get("budget")
    if budget != _BUDGET:
        used = f"{budget or 'by witnesses'}, not {_BUDGET} tokens"
        yield SetupDifference("budget", used)
    batch = models.get("batch")
    if timed and batch not in {None, 1}:
        yield SetupDifference("batch", f"{batch}, not 1")
    options = models.get("options")
    forced = isinstance(options, dict) and bool(options.get("forced"))
    if timed and framework == "Guidance" and not forced:
        yield SetupDifference("forced tokens", "not taken (--set forced=true)")


def _quality_differences(
    run: RecordedRun, label: str, answer: ScoredResponse
) -> Iterator[SetupDifference]:
    """Yield what of a model and its condition is not as in the paper's Table 7.

    Args:
        run: A run of suite `quality`.
        label: The model and its condition, as the run's rows name them.
        answer: One of its answers.
    """
    name = "none" if is_free(answer.condition) else answer.condition.partition(" ")[0]
    framework = FRAMEWORKS.get(name, answer.condition)
    yield from _version_difference(answer.condition, framework)
    if _LLAMA_3_1 not in answer.model:
        yield SetupDifference("model", f"{answer.model}, not {_LLAMA_3_1}")
    entries = run.raw_header.get("engines") or ()
    entry: Mapping[str, UntypedJson] = next(
        (one for one in entries if one.get("engine") == label), {}
    )
    # Who scores a file of responses has not seen what wrote them.
    loop = _OUR_LOOP if isinstance(entry.get("model"), dict) else "not known"
    loop = "the server's" if "server" in entry else loop
    yield SetupDifference("loop", f"{loop}, not {_OWN_LOOPS}")
    facts = run.raw_header.get(SUITE)
    origin = str(facts.get("origin")) if isinstance(facts, dict) else "not recorded"
    if "generated" in origin:
        yield SetupDifference("problems", f"{origin}, not the published ones")


def describe_differences(
    sides: Sequence[tuple[str, Sequence[SetupDifference]]],
) -> Iterator[str]:
    """Yield what was not as in the paper, a sentence each, with who it is true of.

    Args:
        sides: The name of each participant, and how it differs.
    """
    whose: dict[SetupDifference, list[str]] = {}
    for name, differing in sides:
        for one in differing:
            whose.setdefault(one, []).append(name)
    for one, named in whose.items():
        of = "" if len(named) == len(sides) else f" of {', '.join(named)}"
        yield f"{one.what[0].upper()}{one.what[1:]}{of}: {one.detail}."
