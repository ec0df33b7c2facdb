"""Tables that every suite's report may have: pass rates, classes, tokens and costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from curation.core.json_types import Json
from evaluation.core.suite import COMMON_CLASSES, ScoredResponse, ScoredRun, Suite
from evaluation.reporting.statistics import holm
from evaluation.reporting.tables import (
    BRACKETS,
    Cell,
    Duration,
    MissingFigure,
    Rate,
    Table,
)
from evaluation.results.suite_pairs import (
    is_passed,
    pair_sides,
    paired_p,
    paired_rates,
)

#: Not reported by the server or the list of prices.
NOT_TOLD = MissingFigure("not told")
#: The line over all groups.
ALL = "all"
_NS = 1e9
CLUSTERED = "Answers about one schema, or one kind of thing, are a cluster."


def suite_tables(suite: Suite[Any], run: ScoredRun) -> Iterator[Table]:
    """Yield the standings, a suite's own tables, and those that every suite has."""
    suite_specific = suite.tables(run) if suite.tables else (pass_rates(run),)
    description = reading(run.facts)
    for table in (standings(run), *suite_specific, *tables_of_all(run, suite.classes)):
        yield replace(table, note=f"{description} {table.note}".strip())


def tables_of_all(run: ScoredRun, classes: Mapping[str, str]) -> tuple[Table, ...]:
    """Return the tables that every suite has after its own."""
    return (
        paired_rates(pair_sides(run.by_label)),
        repairs_table(run),
        classes_table(run, classes),
        costs(run),
    )


def reading(facts: Mapping[str, Json]) -> str:
    """Describe the records, the reading, and the maximum length of a text.

    Args:
        facts: The suite's facts in a run's header.
    """
    compat = facts.get("compat") or "the recommended one"
    settings: Any = facts.get("settings") or {}
    models: Any = facts.get("models") or ({},)
    budgets = {model.get("budget") or settings.get("budget") for model in models} - {
        None
    }
    tokens = " or ".join(f"{budget:,}" for budget in sorted(budgets))
    data = str(facts.get("data", "not recorded")).split(", ")
    # Reports are handed on: where on a machine a folder was is nobody's affair.
    names = ", ".join(
        Path(path).name if Path(path).is_absolute() else path for path in data
    )
    return (
        f"Records: {names} ({facts.get('origin', '?')}). "
        f"Reading: {compat}.{f' At most {tokens} tokens a text.' * bool(budgets)}"
    )


def pass_rates(run: ScoredRun) -> Table:
    """Return each side's pass rate, by group and over all."""
    rows: list[tuple[Cell, ...]] = []
    for group in make_groups(run.by_label):
        for label, responses in run.by_label.items():
            texts = texts_of_group(responses, group)
            rows.append((group, label, len(texts), passed(texts)))
    return Table(
        title="Pass rate",
        columns=("group", "model", "responses", "passed"),
        rows=tuple(rows),
        note=f"Of the responses that count. {BRACKETS}",
        name="pass-rate",
    )


def standings(run: ScoredRun) -> Table:
    """Return the first table: which model, how sure, at what price, failing how.

    Of the records that every model answered, where there are any.
    """
    by_label, apart = _answered_by_all(run.by_label)
    answered = len(
        {response.record for side in run.by_label.values() for response in side}
    )
    records = run.facts.get("records")
    if isinstance(records, int) and answered < records:
        apart += f"{answered:,} of {records:,} records were answered. "
    rates = {label: passed(responses) for label, responses in by_label.items()}
    order = sorted(rates, key=lambda label: -(rates[label].share or 0.0))
    pairs = pair_sides(by_label, [(label, order[0]) for label in order[1:]])
    ps = {pair.a: paired_p(pair.by_cluster(is_passed)) for pair in pairs}
    adjusted = holm(ps)
    rows: list[dict[str, Cell]] = []
    for label in order:
        responses = by_label[label]
        counted = [response for response in responses if response.verdict.counted]
        failed = Counter(response.verdict.failure_class for response in counted)
        del failed[""]
        frequent = [f"{name} {count:,}" for name, count in failed.most_common(2)]
        envelopes = Counter(
            str(name)
            for response in responses
            if (name := response.verdict.details.get("envelope")) not in (None, "bare")
        )
        rows.append(
            {
                "model": label,
                "passed": rates[label],
                "p against the first": adjusted.get(label),
                "cost": total_cost(response.cost for response in responses),
                "p50": _time(responses, 50),
                "fails most": ", ".join(frequent),
                "envelope": ", ".join(
                    f"{name} {count:,}" for name, count in envelopes.most_common()
                )
                or None,
            }
        )
    return Table.of_records(
        "Standings",
        rows,
        note=f"{apart}{BRACKETS} {CLUSTERED} p: the exact test of the pair by "
        "clusters, adjusted by Holm. p50: half of the answers took less. "
        "envelope: answers in a fence, among words, after thinking; others are bare.",
        name="standings",
    ).without_empty_columns("envelope")


def _answered_by_all(
    by_label: Mapping[str, Sequence[ScoredResponse]],
) -> tuple[Mapping[str, Sequence[ScoredResponse]], str]:
    """Keep the records that all sides answered; count the others.

    An engine answers fewer records than a free model if some answers of a suite are
    not JSON: rates of other records would not compare the two.
    """
    records = [
        {response.record for response in responses} for responses in by_label.values()
    ]
    common = set.intersection(*records) if records else set()
    others_count = len(set().union(*records) - common)
    if not common or not others_count:
        return by_label, ""
    shared = {
        label: [response for response in responses if response.record in common]
        for label, responses in by_label.items()
    }
    return shared, (
        "Of the records that every model answered: "
        f"{len(common):,} of {len(common) + others_count:,}. "
    )


def passed(responses: Iterable[ScoredResponse]) -> Rate:
    """Return the share that passes, with an interval by clusters."""
    return Rate.of_answers(
        (response.cluster, response.verdict.passed)
        for response in responses
        if response.verdict.counted
    )


def compute_share(responses: Iterable[ScoredResponse], score: str) -> Rate:
    """Return the share with a score of 1, with an interval by clusters."""
    return Rate.of_answers(
        (response.cluster, response.verdict.scores.get(score, 0.0) == 1.0)
        for response in responses
    )


def repairs_table(run: ScoredRun) -> Table:
    """Return the pass rates at once and after each repair; empty without any."""
    rounds = max(
        (
            len(response.verdicts)
            for responses in run.by_label.values()
            for response in responses
        ),
        default=1,
    )
    rows: list[tuple[Cell, ...]] = []
    for label, responses in run.by_label.items() if rounds > 1 else ():
        counted = [response for response in responses if response.verdict.counted]
        rates = [
            Rate.of_answers(
                (
                    response.cluster,
                    any(verdict.passed for verdict in response.verdicts[: repairs + 1]),
                )
                for response in counted
            )
            for repairs in range(rounds)
        ]
        rows.append((label, *rates))
    return Table(
        title="Validate and retry",
        columns=("model", "at once", *(f"after {n}" for n in range(1, rounds))),
        rows=tuple(rows),
        note="Answers that pass at once (pass@1), and after each repair: a failed "
        "answer was returned with its faults. The other tables have the "
        "last attempt.",
        name="repairs",
    )


def make_groups(by_label: Mapping[str, Sequence[ScoredResponse]]) -> list[str]:
    """Return the groups in order of their names, and `all`."""
    names = {scored.group for responses in by_label.values() for scored in responses}
    return [*sorted(names), ALL] if len(names) > 1 else [ALL]


def texts_of_group(
    responses: Iterable[ScoredResponse], group: str
) -> list[ScoredResponse]:
    """Return the responses of one group, or of all."""
    return [scored for scored in responses if group in (ALL, scored.group)]


def classes_table(run: ScoredRun, explained: Mapping[str, str]) -> Table:
    """Return how many responses of each side are in each class.

    Args:
        run: The scored run.
        explained: The suite's classes in order, each with its sentence.
    """
    explained = {**explained, **COMMON_CLASSES}
    counts = {
        label: Counter(scored.verdict.failure_class or "passed" for scored in responses)
        for label, responses in run.by_label.items()
    }
    used = [
        name for name in explained if any(counter[name] for counter in counts.values())
    ]
    unexplained = {name for counter in counts.values() for name in counter}
    used += sorted(unexplained - {*used, "passed"})
    columns = ["passed", *used]
    return Table(
        title="What became of every response",
        columns=("model", "responses", *columns),
        rows=tuple(
            (label, len(run.by_label[label]), *(counter[name] for name in columns))
            for label, counter in counts.items()
        ),
        note="; ".join(f"{name}: {explained.get(name, '?')}" for name in used),
        name="classes",
    )


def costs(run: ScoredRun) -> Table:
    """Return time, tokens and cost of each side; unknown figures stay empty."""
    return Table.of_records(
        "Time, tokens and cost",
        (
            {
                "model": label,
                "p50": _time(responses, 50),
                "p95": _time(responses, 95),
                "prompt tokens": _total(responses, "prompt_tokens"),
                "output tokens": _total(responses, "output_tokens"),
                "thinking": _total(responses, "reasoning_tokens"),
                "cost": total_cost(response.cost for response in responses),
            }
            for label, responses in run.by_label.items()
        ),
        note="p50, p95: from request to end of an answer, repairs included. thinking: "
        "tokens of the output besides the answer, where they were counted.",
        name="costs",
    )


def _time(responses: Iterable[ScoredResponse], percent: float) -> Duration | None:
    """Return a percentile of the times of answers; None if no time is known."""
    times = [response.seconds * _NS for response in responses if response.seconds]
    return Duration(float(np.percentile(times, percent))) if times else None


def total_cost(costs: Iterable[float | None]) -> float | MissingFigure | None:
    """Return a sum; None if no cost is known, and no figure if some are not.

    Example:
        >>> total_cost([0.5, 0.25]), str(total_cost([0.5, None])), total_cost([None])
        (0.75, 'not told', None)
    """
    every = list(costs)
    priced = [cost for cost in every if cost is not None]
    if len(priced) < len(every):
        return NOT_TOLD if priced else None
    return sum(priced) if priced else None


def _total(responses: Iterable[ScoredResponse], name: str) -> int | None:
    """Return the sum of a figure that is known; None if none is."""
    figures = [getattr(response, name) for response in responses]
    present = [figure for figure in figures if figure is not None]
    return sum(present) if present else None
