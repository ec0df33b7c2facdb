"""The tables of a run: from figures of records to means of sources to one ranking."""

from __future__ import annotations

from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from evaluation.reporting.bootstrap import bootstrap_means, mean_difference
from evaluation.reporting.tables import NOT_RUN, Cell, Estimate, Rate, Shift, Table
from evaluation.results.suite_pairs import pair_sides, pairs_with_free
from evaluation.suites.sob.metrics import SEVEN, Metric
from evaluation.suites.sob.records import PUBLISHED, PUBLISHED_TOTALS, SourceTotal
from evaluation.suites.sob.suite import LEAF_MISTAKES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evaluation.core.suite import ScoredResponse, ScoredRun

    Pair = tuple[ScoredResponse, ScoredResponse]

#: The sources in the order of the paper.
SOURCES: Final = ("text", "image", "audio")
#: Resamples and seed of the bootstrap, as the authors chose them.
RESAMPLES: Final = 1_000
SEED: Final = 42
#: Perfect Response is not reported for audio (equation 5).
PERFECT_SOURCES: Final = frozenset({"text", "image"})


#: The five categories (the paper's Table 11): a mean of some metrics of one record, by
#: the name of its column.
CATEGORIES: Final = {
    "long context": (
        "Long Context Extraction, are the right values found in a long context?",
        (Metric.VALUE_ACCURACY, Metric.FAITHFULNESS, Metric.PATH_RECALL),
    ),
    "schema": (
        "Complex Schema Handling, is a nested schema met, with the right types?",
        (Metric.JSON_PASS, Metric.STRUCTURE_COVERAGE, Metric.TYPE_SAFETY),
    ),
    "linking": (
        "Multi-Context Linking, are facts of several passages brought together?",
        (Metric.VALUE_ACCURACY, Metric.FAITHFULNESS),
    ),
    "contract": (
        "Output Contract Reliability, is the output usable at all?",
        (Metric.JSON_PARSE, Metric.JSON_PASS, Metric.TYPE_SAFETY),
    ),
    "strict": ("Strict Precision, is the whole answer right?", (Metric.PERFECT,)),
}


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


#: Facts of a record in the details of a verdict; the numbers and the texts.
_NUMBERS: Final = ("weight", "words", "properties", "required")
_TEXTS: Final = ("category", "complexity")


def answer_table(run: ScoredRun) -> pl.DataFrame:
    """Return the one table of a run: a line for each answer.

    Scoring that failed leaves figures of 0, and the weight of the record by its other
    answers; a record weighs nothing if no answer has its weight.
    """
    lines = []
    for label, side in run.by_label.items():
        for answer in side:
            details: Mapping[str, Any] = answer.verdict.details
            wrong = details.get("wrong", {})
            line = {
                "model": label,
                "source": answer.group,
                "record": answer.record,
                "cluster": answer.cluster,
                "is_sample": bool(details.get("cluster")),
                "counted": answer.verdict.counted,
                "leaves": details.get("leaves", 0),
            }
            line |= {fact: details.get(fact) for fact in (*_NUMBERS, *_TEXTS)}
            line |= {metric.value: figure(answer, metric) for metric in Metric}
            line |= {kind.value: wrong.get(kind, 0) for kind in LEAF_MISTAKES}
            lines.append(line)
    types: dict[str, Any] = {
        "model": pl.Enum([*run.by_label]),
        **dict.fromkeys(_NUMBERS, pl.Float64),
        **dict.fromkeys(_TEXTS, pl.String),
    }
    answers = pl.DataFrame(lines, schema_overrides=types, infer_schema_length=None)
    return answers.with_columns(weight=pl.max("weight").over("record").fill_null(0.0))


def summarise(answers: pl.DataFrame) -> list[SourceSummary]:
    """Return the means of each model on each source that it answered.

    The intervals are percentiles over 1,000 resamples with the seed 42, and 43 for the
    weighted means, as the authors' are; their generator of random numbers is not
    published, so that the last digits differ.

    Args:
        answers: Lines of `answer_table`.
    """
    on_sources = answers.filter(pl.col("source").is_in(SOURCES))
    order = ("model", pl.col("source").cast(pl.Enum(SOURCES)))
    parts = on_sources.sort(*order, maintain_order=True).partition_by(
        "model", "source", as_dict=True
    )
    summaries = []
    for (model, source), part in parts.items():
        values = part.select(metric.value for metric in Metric).to_numpy()
        weights = part["weight"].to_numpy()
        clusters = np.unique(part["cluster"].to_list(), return_inverse=True)[1]
        weighted = None
        if weights.sum():
            weighted = _means(values, weights, clusters, SEED + 1)
        summaries.append(
            SourceSummary(
                model=str(model),
                source=str(source),
                records=part["record"].n_unique(),
                plain=_means(values, np.ones(part.height), clusters, SEED),
                weighted=weighted,
            )
        )
    return summaries


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


def standings(
    summaries: Sequence[SourceSummary],
    totals: Mapping[str, SourceTotal],
    *,
    counted_coverage: bool,
) -> list[dict[str, Any]]:
    """Return the leaderboard, the best first (section 6.1, equations 4 to 7).

    overall is raw, the mean of the available metrics, times the share of the set's
    records that were answered.

    Args:
        summaries: Every model on every source that it answered.
        totals: The data set's sources.
        counted_coverage: Whether coverage counts answered records. Else a source
            counts as a whole as soon as it has any summary.
    """
    board = []
    for model in dict.fromkeys(summary.model for summary in summaries):
        sources = [summary for summary in summaries if summary.model == model]
        metrics = {
            short: _over_sources(metric, sources, totals)
            for metric, short in SEVEN.items()
        }
        present = [mean for mean in metrics.values() if mean is not None]
        raw = fmean(present) if present else 0.0
        answered = 0
        for summary in sources:
            records = totals[summary.source].records
            answered += min(summary.records, records) if counted_coverage else records
        share = answered / sum(total.records for total in totals.values())
        line = {"model": model, "overall": raw * share, "raw": raw, "of all": share}
        board.append({**line, **metrics})
    # Overall is compared by four digits, as in the authors' table.
    return sorted(
        board,
        key=lambda line: (
            -round(line["overall"], 4),
            -(line["value"] or 0.0),
            line["model"],
        ),
    )


def _over_sources(
    metric: Metric,
    sources: Sequence[SourceSummary],
    totals: Mapping[str, SourceTotal],
) -> float | None:
    """Return a metric's mean, each source by its weight; None without a source."""
    means = {
        summary.source: summary.means[metric].value
        for summary in sources
        if metric is not Metric.PERFECT or summary.source in PERFECT_SOURCES
    }
    weight = sum(totals[source].weight for source in means)
    if not weight:
        return None
    return sum(totals[source].weight * mean for source, mean in means.items()) / weight


def figure(response: ScoredResponse, name: str) -> float:
    """Return a figure of one response; 0 if scoring failed."""
    return response.verdict.scores.get(name, 0.0)


_WEIGHTS: Final = "weighted by the schema's complexity (medium 2, hard 3)"


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's tables for one model or several."""
    answers = answer_table(run)
    counted = answers.filter("counted")
    summaries = summarise(counted)
    yield _leaderboard_table(run, answers, summaries)
    yield _source_table(summaries)
    yield _category_table(summaries)
    yield _paired_table(run)
    yield _leaf_table(counted)
    yield _breakdown_table(counted)
    yield _statistics_table(answers, summaries)


def _leaderboard_table(
    run: ScoredRun, answers: pl.DataFrame, summaries: Iterable[SourceSummary]
) -> Table:
    """Return the board; the sample has none."""
    totals = PUBLISHED_TOTALS
    if not str(run.facts.get("data", "")).startswith(PUBLISHED):
        records = answers.unique("record", keep="first", maintain_order=True)
        sources = records.group_by("source", maintain_order=True)
        sums = sources.agg(pl.len(), pl.col("weight").sum())
        totals = {source: SourceTotal(*sizes) for source, *sizes in sums.iter_rows()}
    settings = run.facts.get("settings")
    as_published = isinstance(settings, dict) and settings.get("reading") == "paper"
    weighted = [summary for summary in summaries if summary.weighted is not None]
    board = standings(weighted, totals, counted_coverage=not as_published)
    if run.facts.get("generated") or answers["is_sample"].any():
        board = []
    sizes = ", ".join(f"{source} {of.records:,}" for source, of in totals.items())
    kind = "a source counts whole" if as_published else "records answered"
    note = (
        f"Sorted by overall = raw x of all; raw: mean of the seven; of all: share "
        f"of the set's records ({sizes}; {kind}). Each metric is {_WEIGHTS}, its "
        "sources by their weight; perfect without audio."
    )
    return Table.of_records("Leaderboard", board, note, "leaderboard")


def _source_table(summaries: Iterable[SourceSummary]) -> Table:
    value = Metric.VALUE_ACCURACY
    rows: list[dict[str, Cell]] = [
        {
            "source": summary.source,
            "model": summary.model,
            "records": summary.records,
            **{short: summary.means[metric].value for metric, short in SEVEN.items()},
            "value, plain": summary.plain[value],
            "value, weighted": summary.weighted[value] if summary.weighted else NOT_RUN,
        }
        for summary in sorted(
            summaries, key=lambda summary: summary.source, reverse=True
        )
    ]
    explained = "; ".join(
        f"{short}: {metric.explanation}" for metric, short in SEVEN.items()
    )
    note = (
        f"Means {_WEIGHTS}. {explained}. Figure 2 of the paper: pass and value. "
        "Intervals of value: percentile bootstrap over clusters (records of the sample "
        "that share a kind are one, published records one each), 1,000 resamples."
    )
    return Table.of_records("The seven metrics by source", rows, note, "sources")


def _category_table(summaries: Iterable[SourceSummary]) -> Table:
    names = {Metric.JSON_PARSE: "parse", **SEVEN}
    explained = "; ".join(
        f"{short}: {category} ({', '.join(names[metric] for metric in metrics)})"
        for short, (category, metrics) in CATEGORIES.items()
    )
    # The mean of metrics is the mean of the records' categories (appendix G).
    rows: list[dict[str, Cell]] = [
        {
            "source": summary.source,
            "model": summary.model,
            **{
                short: fmean(summary.means[metric].value for metric in metrics)
                for short, (_, metrics) in CATEGORIES.items()
            },
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


def _shift(pairs: Sequence[Pair], metric: Metric) -> Cell:
    changes = ((a.cluster, figure(a, metric), figure(b, metric)) for a, b in pairs)
    return Shift.of(mean_difference(changes))


def _leaf_table(counted: pl.DataFrame) -> Table:
    is_parsed = pl.col(Metric.JSON_PARSE.value) > 0
    lines = counted.group_by("model", maintain_order=True).agg(
        is_parsed.sum().alias("answers"),
        *(
            pl.col(name).filter(is_parsed).sum()
            for name in ("leaves", *(kind.value for kind in LEAF_MISTAKES))
        ),
    )
    explained = "; ".join(f"{kind}: {kind.explanation}" for kind in LEAF_MISTAKES)
    note = f"Of the answers that parse, valid or not. {explained}."
    return Table.of_records("Wrong leaves", lines.to_dicts(), note, "leaves")


def _breakdown_table(counted: pl.DataFrame) -> Table:
    rows: list[dict[str, Cell]] = []
    for kind in ("category", "complexity"):
        name = pl.col(kind).replace("", None).fill_null("?").alias("is")
        lines = counted.group_by(pl.lit(kind).alias("of"), name, "model").agg(
            records=pl.len(),
            **{
                "pass": pl.col(Metric.JSON_PASS.value).mean(),
                "value": pl.col(Metric.VALUE_ACCURACY.value).mean(),
                "perfect": pl.col(Metric.PERFECT.value).mean(),
            },
        )
        ordered = ("of", "is", "model", "records", "pass", "value", "perfect")
        rows += lines.sort("model", "is").select(ordered).to_dicts()
    title = "By category of the source and complexity"
    return Table.of_records(title, rows, "Plain means.", "breakdown")


def _statistics_table(
    answers: pl.DataFrame, summaries: Iterable[SourceSummary]
) -> Table:
    """Return the form of the paper's Table 8."""
    records = answers.drop_nulls("words").unique("record", maintain_order=True)
    complexity = pl.col("complexity").str.to_lowercase()
    facts = records.group_by("source").agg(
        records=pl.len(),
        words=pl.col("words").mean(),
        properties=pl.col("properties").median(),
        required=pl.col("required").median(),
        medium=(complexity == "medium").sum(),
        hard=(complexity == "hard").sum(),
        categories=pl.col("category").n_unique(),
    )
    rows: list[dict[str, Cell]] = []
    for line in facts.sort(pl.col("source").cast(pl.Enum(SOURCES))).to_dicts():
        means = [
            summary.means for summary in summaries if summary.source == line["source"]
        ]
        values = [figures[Metric.VALUE_ACCURACY].value for figures in means]
        perfect = [figures[Metric.PERFECT].value for figures in means]
        best = {
            "models": len(means),
            "best value": max(values, default=None),
            "best perfect": max(perfect, default=None),
        }
        rates = {
            level: Rate(line[level], line["records"]) for level in ("medium", "hard")
        }
        rows.append({**line, **rates, **best})
    note = (
        "The form of the paper's Table 8. words: the mean of a context (the paper has "
        "tokens); properties, required: medians at the schema's root; medium, hard: by "
        "complexity; best: of the models' figures above."
    )
    return Table.of_records("The data by source", rows, note, "data")
