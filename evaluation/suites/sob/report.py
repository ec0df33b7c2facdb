"""The tables of a run: from figures of records to means of sources to one ranking."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from statistics import fmean, median
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from curation.json.values import is_number
from evaluation.reporting.bootstrap import bootstrap_means, mean_difference
from evaluation.reporting.tables import NOT_RUN, Cell, Estimate, Rate, Shift, Table
from evaluation.results.suite_pairs import pair_sides, pairs_with_free
from evaluation.suites.sob.metrics import SEVEN, Metric
from evaluation.suites.sob.records import PUBLISHED, PUBLISHED_TOTALS, SourceTotal
from evaluation.suites.sob.scorer import LEAF_MISTAKES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.core.suite import ScoredResponse, ScoredRun

    #: The counted answers of each model and condition.
    _Answers = Mapping[str, Sequence[ScoredResponse]]

#: The sources in the order of the paper.
SOURCES: Final = ("text", "image", "audio")
#: Resamples and seed of the bootstrap, as the authors chose them.
RESAMPLES: Final = 1_000
SEED: Final = 42
#: Perfect Response is not reported for audio (equation 5).
PERFECT_SOURCES: Final = frozenset({"text", "image"})
# Ties are broken by four digits of Overall, as in the authors' table.
_DIGITS: Final = 4


class Category(NamedTuple):
    """A mean of some metrics of one record (the paper's Table 11)."""

    #: The name of its column.
    short: str
    name: str
    question: str
    metrics: tuple[Metric, ...]

    def mean(self, means: Mapping[Metric, Estimate]) -> float:
        """Return the mean of its metrics (appendix G)."""
        return fmean(means[metric].value for metric in self.metrics)


CATEGORIES: Final = (
    Category(
        "long context",
        "Long Context Extraction",
        "are the right values found in a long context?",
        (Metric.VALUE_ACCURACY, Metric.FAITHFULNESS, Metric.PATH_RECALL),
    ),
    Category(
        "schema",
        "Complex Schema Handling",
        "is a nested schema met, with the right types?",
        (Metric.JSON_PASS, Metric.STRUCTURE_COVERAGE, Metric.TYPE_SAFETY),
    ),
    Category(
        "linking",
        "Multi-Context Linking",
        "are facts of several passages brought together?",
        (Metric.VALUE_ACCURACY, Metric.FAITHFULNESS),
    ),
    Category(
        "contract",
        "Output Contract Reliability",
        "is the output usable at all?",
        (Metric.JSON_PARSE, Metric.JSON_PASS, Metric.TYPE_SAFETY),
    ),
    Category(
        "strict", "Strict Precision", "is the whole answer right?", (Metric.PERFECT,)
    ),
)


class SourceSummary(NamedTuple):
    """One model on one source: the means of its metrics with their intervals."""

    model: str
    source: str
    #: How many records were answered and scored.
    records: int
    #: Every record counts the same.
    plain: Mapping[Metric, Estimate]
    #: Every record counts by its complexity; None if no record has a weight.
    weighted: Mapping[Metric, Estimate] | None

    @property
    def means(self) -> Mapping[Metric, Estimate]:
        """The weighted means; the plain ones if no record has a weight."""
        return self.weighted or self.plain


def summarise(
    model: str,
    source: str,
    responses: Sequence[ScoredResponse],
    weights: Mapping[str, float],
) -> SourceSummary:
    """Return the means of one model's answers on one source.

    The intervals are percentiles over 1,000 resamples with the seed 42, and 43 for the
    weighted means, as the authors' are; their generator of random numbers is not
    published, so that the last digits differ.

    Args:
        model: The model.
        source: The source.
        responses: Its answers, one at least.
        weights: The weight of each record; missing ones weigh nothing.
    """
    values = np.array(
        [[figure(response, name) for name in Metric] for response in responses]
    )
    heavy = np.array([weights.get(response.record, 0.0) for response in responses])
    names = [response.cluster for response in responses]
    clusters = np.unique(names, return_inverse=True)[1]
    return SourceSummary(
        model=model,
        source=source,
        records=len({response.record for response in responses}),
        plain=_means(values, np.ones(len(responses)), clusters, SEED),
        weighted=_means(values, heavy, clusters, SEED + 1) if heavy.sum() else None,
    )


def _means(
    values: np.ndarray, weights: np.ndarray, clusters: np.ndarray, seed: int
) -> Mapping[Metric, Estimate]:
    means = (weights @ values) / weights.sum()
    intervals = bootstrap_means(
        values, weights, clusters=clusters, resamples=RESAMPLES, seed=seed
    )
    return {
        metric: Estimate(float(mean), interval)
        for metric, mean, interval in zip(Metric, means, intervals, strict=True)
    }


def totals_of(records: Iterable[tuple[str, float]]) -> dict[str, SourceTotal]:
    """Return the totals by source of pairs of a record's source and weight."""
    totals: dict[str, SourceTotal] = {}
    for source, weight in records:
        before = totals.get(source, SourceTotal(0, 0.0))
        totals[source] = SourceTotal(before.records + 1, before.weight + weight)
    return totals


class Standing(NamedTuple):
    """One model's line of the leaderboard."""

    model: str
    #: Overall (Raw) times coverage: the sort key of the board (equation 7).
    overall: float
    #: Mean of the available metrics (equation 6).
    raw: float
    #: Share of the data set's records that were answered.
    coverage: float
    #: Each of the seven over its sources (equations 4 and 5), if it has any.
    metrics: Mapping[Metric, float]


def standings(
    summaries: Iterable[SourceSummary],
    totals: Mapping[str, SourceTotal],
    *,
    counted_coverage: bool,
) -> list[Standing]:
    """Return the leaderboard, the best first (section 6.1, equations 4 to 7).

    Args:
        summaries: Every model on every source that it answered.
        totals: The data set's sources; a source that is not one of them is left out.
        counted_coverage: Whether coverage counts answered records. Else a source
            counts as a whole as soon as it has any summary.
    """
    by_model: dict[str, dict[str, SourceSummary]] = {}
    for summary in summaries:
        if summary.source in totals:
            by_model.setdefault(summary.model, {})[summary.source] = summary
    board = [
        _standing(model, sources, totals, counted=counted_coverage)
        for model, sources in by_model.items()
    ]
    return sorted(
        board,
        key=lambda line: (
            -round(line.overall, _DIGITS),
            -line.metrics.get(Metric.VALUE_ACCURACY, 0.0),
            line.model,
        ),
    )


def _standing(
    model: str,
    sources: Mapping[str, SourceSummary],
    totals: Mapping[str, SourceTotal],
    *,
    counted: bool,
) -> Standing:
    metrics: dict[Metric, float] = {}
    for metric in SEVEN:
        mean = _over_sources(metric, sources, totals)
        if mean is not None:
            metrics[metric] = mean
    raw = sum(metrics.values()) / len(metrics) if metrics else 0.0
    answered = sum(
        min(summary.records, totals[source].records)
        if counted
        else totals[source].records
        for source, summary in sources.items()
    )
    coverage = answered / sum(total.records for total in totals.values())
    return Standing(
        model=model, overall=raw * coverage, raw=raw, coverage=coverage, metrics=metrics
    )


def _over_sources(
    metric: Metric,
    sources: Mapping[str, SourceSummary],
    totals: Mapping[str, SourceTotal],
) -> float | None:
    """Return a metric's mean, each source by its weight; None without a source."""
    means = {
        source: summary.means[metric].value
        for source, summary in sources.items()
        if metric in summary.means
        and (metric is not Metric.PERFECT or source in PERFECT_SOURCES)
    }
    weight = sum(totals[source].weight for source in means)
    if not weight:
        return None
    return sum(totals[source].weight * mean for source, mean in means.items()) / weight


def figure(response: ScoredResponse, name: str) -> float:
    """Return a figure of one response; 0 if scoring failed."""
    return response.verdict.scores.get(name, 0.0)


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
    responses = [response for side in run.by_label.values() for response in side]
    summaries = _summaries(run)
    yield _leaderboard_table(run, responses, summaries)
    yield _source_table(summaries)
    yield _category_table(summaries)
    yield _paired_table(run)
    yield _leaf_table(run.counted)
    yield _breakdown_table(run.counted)
    yield _statistics_table(responses, summaries)


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
        for label, side in run.counted.items()
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
