"""Tables of a run: the benchmark's, then mistakes by kind and place."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from statistics import fmean, median
from typing import TYPE_CHECKING, Final

from curation.json.values import is_number
from evaluation.reporting.bootstrap import mean_difference
from evaluation.reporting.tables import NOT_RUN, Cell, Rate, Shift, Table
from evaluation.results.suite_pairs import pair_sides, pairs_with_free
from evaluation.suites.sob.leaderboard import (
    CATEGORIES,
    SOURCES,
    SourceSummary,
    figure,
    standings,
    summarise,
    totals_of,
)
from evaluation.suites.sob.metrics import Metric
from evaluation.suites.sob.records import PUBLISHED, PUBLISHED_TOTALS
from evaluation.suites.sob.scorer import LEAF_MISTAKES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.core.suite import ScoredResponse, ScoredRun

    #: The counted answers of each model and condition.
    _Answers = Mapping[str, Sequence[ScoredResponse]]

_WEIGHTS: Final = "weighted by the schema's complexity (medium 2, hard 3)"
#: The seven metrics as columns.
_SHORT: Final = {
    Metric.VALUE_ACCURACY: "value",
    Metric.FAITHFULNESS: "faithful",
    Metric.JSON_PASS: "pass",
    Metric.PATH_RECALL: "recall",
    Metric.STRUCTURE_COVERAGE: "coverage",
    Metric.TYPE_SAFETY: "types",
    Metric.PERFECT: "perfect",
}


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's tables for one model or several."""
    counted = _counted(run)
    responses = [response for side in run.by_label.values() for response in side]
    summaries = _summaries(run)
    yield _leaderboard_table(run, responses, summaries)
    yield _source_table(summaries)
    yield _category_table(summaries)
    yield _paired_table(run)
    yield _leaf_table(counted)
    yield _breakdown_table(counted)
    yield _statistics_table(responses, summaries)


def _counted(run: ScoredRun) -> _Answers:
    return {
        label: [response for response in responses if response.verdict.counted]
        for label, responses in run.by_label.items()
    }


def _weights(responses: Iterable[ScoredResponse]) -> dict[str, float]:
    """Return the weight of each record that has one."""
    return {
        response.record: float(weight)
        for response in responses
        if is_number(weight := response.verdict.details.get("weight"))
    }


def _summaries(run: ScoredRun) -> list[SourceSummary]:
    """Return the figures of each model, by source."""
    weights = _weights(response for side in run.by_label.values() for response in side)
    return [
        summarise(label, source, answers, weights)
        for label, side in _counted(run).items()
        for source in SOURCES
        if (answers := [response for response in side if response.group == source])
    ]


def _leaderboard_table(
    run: ScoredRun,
    responses: Sequence[ScoredResponse],
    summaries: Iterable[SourceSummary],
) -> Table:
    """Return the board; the sample has none."""
    totals = PUBLISHED_TOTALS
    if not str(run.facts.get("data", "")).startswith(PUBLISHED):
        groups = {response.record: response.group for response in responses}
        weights = _weights(responses)
        totals = totals_of((groups[name], weights.get(name, 0.0)) for name in groups)
    settings = run.facts.get("settings")
    as_published = isinstance(settings, dict) and settings.get("reading") == "paper"
    weighted = [summary for summary in summaries if summary.weighted is not None]
    board = standings(weighted, totals, counted_coverage=not as_published)
    is_sample = any(response.verdict.details.get("cluster") for response in responses)
    if run.facts.get("generated") or is_sample:
        board = []
    sizes = ", ".join(f"{source} {of.records:,}" for source, of in totals.items())
    kind = "a source counts whole" if as_published else "records answered"
    rows: list[dict[str, Cell]] = [
        {
            "model": line.model,
            "overall": line.overall,
            "raw": line.raw,
            "of all": line.coverage,
            **{short: line.metrics.get(metric) for metric, short in _SHORT.items()},
        }
        for line in board
    ]
    note = (
        f"Sorted by overall = raw x of all; raw: mean of the seven; of all: share "
        f"of the set's records ({sizes}; {kind}). Each metric is {_WEIGHTS}, its "
        "sources by their weight; perfect without audio."
    )
    return Table.of_records("Leaderboard", rows, note, "leaderboard")


def _source_table(summaries: Iterable[SourceSummary]) -> Table:
    value = Metric.VALUE_ACCURACY
    rows: list[dict[str, Cell]] = [
        {
            "source": summary.source,
            "model": summary.model,
            "records": summary.records,
            **{short: summary.means[metric].value for metric, short in _SHORT.items()},
            "value, plain": summary.plain[value],
            "value, weighted": summary.weighted[value] if summary.weighted else NOT_RUN,
        }
        for summary in summaries
    ]
    rows.sort(key=lambda row: str(row["source"]), reverse=True)
    explained = "; ".join(
        f"{short}: {metric.explanation}" for metric, short in _SHORT.items()
    )
    note = (
        f"Means {_WEIGHTS}. {explained}. Figure 2 of the paper: pass and value. "
        "Intervals of value: percentile bootstrap over clusters (records of the sample "
        "that share a kind are one, published records one each), 1,000 resamples."
    )
    return Table.of_records("The seven metrics by source", rows, note, "sources")


def _category_table(summaries: Iterable[SourceSummary]) -> Table:
    names = {Metric.JSON_PARSE: "parse", **_SHORT}
    explained = "; ".join(
        f"{category.short}: {category.name}, {category.question} "
        f"({', '.join(names[metric] for metric in category.metrics)})"
        for category in CATEGORIES
    )
    rows: list[dict[str, Cell]] = [
        {
            "source": summary.source,
            "model": summary.model,
            **{category.short: category.mean(summary.means) for category in CATEGORIES},
        }
        for summary in summaries
    ]
    note = f"Means {_WEIGHTS}. {explained}."
    return Table.of_records("The five categories", rows, note, "categories")


def _paired_table(run: ScoredRun) -> Table:
    """Return the effect of each condition, record by record.

    A constrained side is compared with the free one of its model; without a free one,
    every side with the first.
    """
    labels = [*run.by_label]
    conditions = pairs_with_free(run.by_label) or product(labels[:1], labels[1:])
    rows: list[dict[str, Cell]] = []
    for sides in pair_sides(run.by_label, conditions):
        pairs = sorted(sides.answers, key=lambda pair: (pair[0].record, pair[0].repeat))
        if pairs:
            rows.append(
                {
                    "condition": sides.b,
                    "against": sides.a,
                    "records": len(pairs),
                    "pass": _shift(pairs, Metric.JSON_PASS),
                    "value": _shift(pairs, Metric.VALUE_ACCURACY),
                }
            )
    note = (
        "pass, value: mean difference of JSON pass and Value Accuracy, with a 95 % "
        "bootstrap interval over clusters."
    )
    title = "Conditions compared on the same records"
    return Table.of_records(title, rows, note, "conditions")


def _shift(
    pairs: Sequence[tuple[ScoredResponse, ScoredResponse]], metric: Metric
) -> Cell:
    difference = mean_difference(
        [figure(before, metric) for before, _ in pairs],
        [figure(after, metric) for _, after in pairs],
        [before.cluster for before, _ in pairs],
    )
    return Shift.of(difference)


def _mean(responses: Sequence[ScoredResponse], name: str) -> float | None:
    return (
        fmean(figure(response, name) for response in responses) if responses else None
    )


def _leaf_table(counted: _Answers) -> Table:
    rows: list[dict[str, Cell]] = []
    for label, responses in counted.items():
        parsed = [answer for answer in responses if figure(answer, Metric.JSON_PARSE)]
        wrong = Counter[str]()
        for response in parsed:
            counts = response.verdict.details.get("wrong")
            for mistake, count in counts.items() if isinstance(counts, dict) else ():
                wrong[mistake] += _whole(count)
        leaves = sum(_whole(answer.verdict.details.get("leaves")) for answer in parsed)
        rows.append(
            {
                "model": label,
                "answers": len(parsed),
                "leaves": leaves,
                **{str(kind): wrong[kind] for kind in LEAF_MISTAKES},
            }
        )
    explained = "; ".join(f"{kind}: {kind.explanation}" for kind in LEAF_MISTAKES)
    note = f"Of the answers that parse, valid or not. {explained}."
    return Table.of_records("Wrong leaves", rows, note, "leaves")


def _breakdown_table(counted: _Answers) -> Table:
    rows: list[dict[str, Cell]] = []
    for kind in ("category", "complexity"):
        for label, responses in counted.items():
            parts: dict[str, list[ScoredResponse]] = defaultdict(list)
            for response in responses:
                name = str(response.verdict.details.get(kind) or "?")
                parts[name].append(response)
            rows += [
                {
                    "of": kind,
                    "is": name,
                    "model": label,
                    "records": len(parts[name]),
                    "pass": _mean(parts[name], Metric.JSON_PASS),
                    "value": _mean(parts[name], Metric.VALUE_ACCURACY),
                    "perfect": _mean(parts[name], Metric.PERFECT),
                }
                for name in sorted(parts)
            ]
    title = "By category of the source and complexity"
    return Table.of_records(title, rows, "Plain means.", "breakdown")


def _statistics_table(
    responses: Iterable[ScoredResponse], summaries: Iterable[SourceSummary]
) -> Table:
    """Return the form of the paper's Table 8."""
    details = {answer.record: answer.verdict.details for answer in responses}
    rows: list[dict[str, Cell]] = []
    for source in SOURCES:
        records = [facts for facts in details.values() if facts.get("source") == source]
        models = [summary.means for summary in summaries if summary.source == source]
        if not records:
            continue
        levels = Counter(str(facts["complexity"]).lower() for facts in records)
        rows.append(
            {
                "source": source,
                "records": len(records),
                "words": fmean(_whole(facts["words"]) for facts in records),
                "properties": median(_whole(facts["properties"]) for facts in records),
                "required": median(_whole(facts["required"]) for facts in records),
                "medium": Rate(levels["medium"], len(records)),
                "hard": Rate(levels["hard"], len(records)),
                "categories": len({str(facts["category"]) for facts in records}),
                "models": len(models),
                "best value": max(it[Metric.VALUE_ACCURACY].value for it in models),
                "best perfect": max(it[Metric.PERFECT].value for it in models),
            }
        )
    note = (
        "The form of the paper's Table 8. words: the mean of a context (the paper has "
        "tokens); properties, required: medians at the schema's root; medium, hard: by "
        "complexity; best: of the models' figures above."
    )
    return Table.of_records("The data by source", rows, note, "data")


def _whole(value: Json) -> int:
    return int(value) if is_number(value) else 0
