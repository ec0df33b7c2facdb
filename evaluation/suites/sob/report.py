"""The report of a run: the benchmark's tables, then mistakes by kind and place."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Final

from curation.json.values import is_number
from evaluation.reporting.bootstrap import mean_difference
from evaluation.reporting.charts import Point, points
from evaluation.reporting.report import Plot, Report
from evaluation.reporting.tables import NOT_RUN, Cell, Rate, Shift, Table
from evaluation.results.suite_pairs import pair_sides, pairs_with_free
from evaluation.suites.sob.leaderboard import CATEGORIES, RunFigures, figure
from evaluation.suites.sob.metrics import SEVEN, Metric
from evaluation.suites.sob.scorer import LEAF_MISTAKES, LENIENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from curation.core.json_types import Json
    from evaluation.core.suite import ScoredResponse, ScoredRun
    from evaluation.reporting.statistics import Interval

#: Upper ends of the classes of breadth: how many leaves a truth has.
_BREADTHS: Final = (5, 10, 15, 20, 40)
_WEIGHTS: Final = "weighted by the schema's complexity (medium 2, hard 3)"
_SHORT: Final = {
    Metric.VALUE_ACCURACY: "value",
    Metric.FAITHFULNESS: "faithful",
    Metric.JSON_PASS: "pass",
    Metric.PATH_RECALL: "recall",
    Metric.STRUCTURE_COVERAGE: "coverage",
    Metric.TYPE_SAFETY: "types",
    Metric.PERFECT: "perfect",
}


def report(run: ScoredRun) -> Report:
    """Return the tables and plots of a scored run, of one model or of several."""
    figures = RunFigures(run)
    tables = (
        _leaderboard_table(figures),
        _source_table(figures),
        _interval_table(figures),
        _category_table(figures),
        _paired_table(run),
        _lenient_table(figures),
        _leaf_table(figures),
        _breakdown_table(figures),
        _quality_table(run),
    )
    return Report(
        tables=tuple(table for table in tables if table.rows),
        plots=tuple(_plots(figures)),
    )


def _leaderboard_table(figures: RunFigures) -> Table:
    sizes = ", ".join(
        f"{source} {total.records:,}" for source, total in figures.totals.items()
    )
    kind = "a source counts whole" if figures.is_published else "records answered"
    return Table(
        title="Leaderboard",
        columns=("model", "overall", "raw", "of all", *_SHORT.values()),
        rows=tuple(
            (
                line.model,
                line.overall,
                line.raw,
                line.coverage,
                *(line.metrics.get(metric) for metric in SEVEN),
            )
            for line in figures.standings
        ),
        note=f"Sorted by overall = raw x of all; raw: mean of the seven; of all: share "
        f"of the set's records ({sizes}; {kind}). Each metric is {_WEIGHTS}, its "
        "sources by their weight; perfect without audio.",
        name="leaderboard",
    )


def _source_table(figures: RunFigures) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for summary in figures.summaries:
        values = (summary.means[metric].value for metric in SEVEN)
        rows.append((summary.source, summary.model, summary.records, *values))
    rows.sort(key=lambda row: str(row[0]), reverse=True)
    explained = "; ".join(
        f"{short}: {metric.explanation}" for metric, short in _SHORT.items()
    )
    return Table(
        title="The seven metrics by source",
        columns=("source", "model", "records", *_SHORT.values()),
        rows=tuple(rows),
        note=f"Means {_WEIGHTS}. {explained}.",
        name="sources",
    )


def _interval_table(figures: RunFigures) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for summary in figures.summaries:
        plain = summary.plain[Metric.VALUE_ACCURACY]
        heavy = summary.weighted
        weighted = heavy[Metric.VALUE_ACCURACY] if heavy else NOT_RUN
        rows.append((summary.source, summary.model, plain, weighted))
    return Table(
        title="Value Accuracy with its 95 % intervals",
        columns=("source", "model", "plain", "weighted"),
        rows=tuple(rows),
        note="Percentile bootstrap over clusters (records of the sample that share a "
        "form are one, published records one each), 1,000 resamples.",
        name="intervals",
    )


def _category_table(figures: RunFigures) -> Table:
    names = {Metric.JSON_PARSE: "parse", **_SHORT}
    explained = "; ".join(
        f"{category.short}: {category.name}, {category.question} "
        f"({', '.join(names[metric] for metric in category.metrics)})"
        for category in CATEGORIES
    )
    rows: list[tuple[Cell, ...]] = []
    for summary in figures.summaries:
        values = (category.mean(summary.means) for category in CATEGORIES)
        rows.append((summary.source, summary.model, *values))
    return Table(
        title="The five categories",
        columns=("source", "model", *(category.short for category in CATEGORIES)),
        rows=tuple(rows),
        note=f"Means {_WEIGHTS}. {explained}.",
        name="categories",
    )


def _ends(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)


def _plots(figures: RunFigures) -> Iterator[Plot]:
    """Yield a plot a source: JSON pass against Value Accuracy (the paper's Fig. 2)."""
    for source in figures.totals:
        models = {}
        for summary in figures.summaries:
            if summary.source == source:
                passed = summary.plain[Metric.JSON_PASS]
                value = summary.plain[Metric.VALUE_ACCURACY]
                models[summary.model] = Point(
                    x=passed.value,
                    y=value.value,
                    x_interval=_ends(passed.interval),
                    y_interval=_ends(value.interval),
                )
        if models:
            yield points(
                f"pass-and-value-{source}",
                f"Valid JSON is not right JSON: {source}",
                models,
                x_label="JSON pass",
                y_label="Value Accuracy",
            )


def _paired_table(run: ScoredRun) -> Table:
    """Return the effect of each condition, record by record.

    A constrained side is compared with the free one of its model; if there is none,
    every side with the first.
    """
    rows: list[tuple[Cell, ...]] = []
    labels = [*run.by_label]
    conditions = pairs_with_free(run.by_label) or product(labels[:1], labels[1:])
    for sides in pair_sides(run.by_label, conditions):
        pairs = sorted(sides.answers, key=lambda pair: (pair[0].record, pair[0].repeat))
        if not pairs:
            continue
        figures = (
            _shift(pairs, Metric.JSON_PASS),
            _shift(pairs, Metric.VALUE_ACCURACY),
        )
        rows.append((sides.b, sides.a, len(pairs), *figures))
    return Table(
        title="Conditions compared on the same records",
        columns=("condition", "against", "records", "pass", "value"),
        rows=tuple(rows),
        note="pass, value: mean difference of JSON pass and Value Accuracy, with a "
        "95 % bootstrap interval over clusters.",
        name="conditions",
    )


def _shift(
    pairs: Sequence[tuple[ScoredResponse, ScoredResponse]], metric: Metric
) -> Cell:
    difference = mean_difference(
        [figure(before, metric) for before, _ in pairs],
        [figure(after, metric) for _, after in pairs],
        [before.cluster for before, _ in pairs],
    )
    return Shift.of(difference)


def _lenient_table(figures: RunFigures) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label, responses in figures.counted.items():
        cells: list[Cell] = [label, len(responses)]
        for metric in (Metric.JSON_PARSE, Metric.JSON_PASS, Metric.VALUE_ACCURACY):
            cells.append(_mean(responses, metric))
            cells.append(_mean(responses, f"{LENIENT}{metric}"))
        rows.append(tuple(cells))
    return Table(
        title="Read strictly and leniently",
        columns=(
            "model",
            "records",
            *("parse", "lenient parse"),
            *("pass", "lenient pass"),
            *("value", "lenient value"),
        ),
        rows=tuple(rows),
        note="Strictly the answer is JSON and nothing else, as the paper counts. "
        "Leniently thinking, a fence and words around the braces are taken away. "
        "Plain means over all sources.",
        name="lenient",
    )


def _mean(responses: Sequence[ScoredResponse], name: str) -> float | None:
    return fmean(figure(one, name) for one in responses) if responses else None


def _leaf_table(figures: RunFigures) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label, responses in figures.counted.items():
        parsed = [one for one in responses if figure(one, Metric.JSON_PARSE)]
        leaves = sum(_whole(one.verdict.details.get("leaves")) for one in parsed)
        wrong = Counter[str]()
        for one in parsed:
            for mistake, entry in _members(one.verdict.details.get("wrong")).items():
                wrong[mistake] += _whole(_members(entry).get("count"))
        rows.append(
            (label, len(parsed), leaves, *(wrong[mistake] for mistake in LEAF_MISTAKES))
        )
    explained = "; ".join(f"{kind}: {kind.explanation}" for kind in LEAF_MISTAKES)
    return Table(
        title="Wrong leaves",
        columns=("model", "answers", "leaves", *(str(kind) for kind in LEAF_MISTAKES)),
        rows=tuple(rows),
        note=f"Of the answers that parse, valid or not. {explained}.",
        name="leaves",
    )


def _breakdown_table(figures: RunFigures) -> Table:
    rows: list[tuple[Cell, ...]] = []
    slices: tuple[tuple[str, Callable[[ScoredResponse], str]], ...] = (
        ("complexity", lambda one: str(one.verdict.details.get("complexity") or "?")),
        ("leaves", _breadth),
        ("deepest leaf", lambda one: str(one.verdict.details.get("depth", "?"))),
    )
    metrics = (Metric.JSON_PASS, Metric.VALUE_ACCURACY, Metric.PERFECT)
    for kind, slice_of in slices:
        for label, responses in figures.counted.items():
            parts: dict[str, list[ScoredResponse]] = defaultdict(list)
            for one in responses:
                parts[slice_of(one)].append(one)
            for name in sorted(filter(None, parts), key=_in_order):
                means = (_mean(parts[name], metric) for metric in metrics)
                rows.append((kind, name, label, len(parts[name]), *means))
    return Table(
        title="By complexity, breadth and depth of the truth",
        columns=("of", "is", "model", "records", "pass", "value", "perfect"),
        rows=tuple(rows),
        note="Plain means.",
        name="breakdown",
    )


def _breadth(one: ScoredResponse) -> str:
    leaves = _whole(one.verdict.details.get("leaves"))
    low = 0
    for high in _BREADTHS:
        if leaves <= high:
            return f"{low + 1}-{high}"
        low = high
    return f"over {low}"


def _in_order(part: str) -> tuple[int, str]:
    digits = "".join(sign for sign in part.partition("-")[0] if sign.isdigit())
    return (int(digits or 0) + (part.startswith("over")), part)


def _quality_table(run: ScoredRun) -> Table:
    doubtful: dict[str, set[str]] = defaultdict(set)
    records: set[str] = set()
    for responses in run.by_label.values():
        for one in responses:
            records.add(one.record)
            doubts = one.verdict.details.get("doubts")
            for doubt in doubts if isinstance(doubts, list) else ():
                doubtful[str(doubt)].add(one.record)
    explained = {
        "unusable_schema": "no validator takes the schema",
        "invalid_truth": "the schema refuses the truth itself",
        "no_leaves": "the truth has no leaf to be met; --set empty_leaf=true counts "
        "an empty object or array as one",
    }
    return Table(
        title="Data quality",
        columns=("what", "records", "means"),
        rows=tuple(
            (doubt, Rate(len(doubtful[doubt]), len(records)), why)
            for doubt, why in explained.items()
        ),
        note="Such records are counted like others; no answer to them can be right.",
        name="quality",
    )


def _members(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _whole(value: Json) -> int:
    return int(value) if is_number(value) else 0
