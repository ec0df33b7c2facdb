"""Tables of task `masks`."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from evaluation.core.cases import Row, WalkVerdict
from evaluation.reporting.quantiles import Quantiles
from evaluation.reporting.report import Report
from evaluation.reporting.tables import Cell, Rate, Table, duration, quantile_cell
from evaluation.results.measurements import (
    CaseMeasurement,
    measure_run,
    of_length_bounds,
)
from evaluation.results.outcomes import engine_is_right, is_judged_apart
from evaluation.results.overview import plots, tables
from evaluation.results.why_classes import WhyClasses
from evaluation.tasks.masks import NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evaluation.core.task import RunRows

    #: Measurements by engine.
    Cases = Mapping[str, Sequence[CaseMeasurement]]

#: Upper ends of the classes of texts, in masks that were computed.
_LENGTHS: Final = (64, 512, 4096)
_BOUNDS: Final = "near misses of length bounds"
#: Schemas that are named for each engine.
_MOST: Final = 5


def by_length(cases_by_engine: Cases) -> Table:
    """Return what texts of each length cost, near misses of length bounds apart."""
    rows: list[dict[str, Cell]] = []
    for name, cases in cases_by_engine.items():
        classes = list(_classes(cases))
        total = sum(float(times.values.sum()) for _, _, times in classes)
        for label, texts, times in classes:
            all_ns = float(times.values.sum())
            rows.append(
                {
                    "engine": name,
                    "masks of a text": label,
                    "texts": texts,
                    "masks": len(times),
                    "% of time": 100 * all_ns / total if total else None,
                    "p50": quantile_cell(times, 50.0),
                    "p99": quantile_cell(times, 99.0),
                    "max": quantile_cell(times, 100.0),
                    "mean": duration(times.mean),
                }
            )
    return Table.of_records(
        "Time between masks by length of text",
        rows,
        name="masks-lengths",
        note="Near misses of length bounds (maxLength, minItems, ...) are as long as "
        "the bound: they have a line of their own here and are in no other table of "
        "times between masks but that of the slowest schemas.",
    )


def _classes(
    cases: Sequence[CaseMeasurement],
) -> Iterator[tuple[str, int | None, Quantiles]]:
    """Yield the classes that have texts: name, number of texts, times."""
    texts: dict[str, list[np.ndarray]] = defaultdict(list)
    texts_of_cases = (text for case in cases for text in case.ordinary.texts())
    for times in texts_of_cases:
        texts[_class(len(times))].append(np.frombuffer(times, dtype=np.int64))
    for label in (_class(length) for length in (*_LENGTHS, _LENGTHS[-1] + 1)):
        if label in texts:
            yield label, len(texts[label]), Quantiles.of(np.concatenate(texts[label]))
    bound = of_length_bounds(cases)
    if len(bound):
        number = sum(len(case.length_misses.masks) for case in cases)
        yield _BOUNDS, number, bound


def _class(masks: int) -> str:
    for low, high in zip((0, *_LENGTHS), _LENGTHS, strict=False):
        if masks <= high:
            return f"{low + 1:,} to {high:,}"
    return f"more than {_LENGTHS[-1]:,}"


def slowest_schemas(cases_by_engine: Cases) -> Table:
    """Name the schemas that take each engine longest, from compile to last mask."""
    rows: list[dict[str, Cell]] = []
    for name, cases in cases_by_engine.items():
        for case in sorted(cases, key=_total, reverse=True)[:_MOST]:
            if _total(case):
                times = (*case.ordinary.between_ns, *case.length_misses.between_ns)
                rows.append(
                    {
                        "engine": name,
                        "schema": "/".join(case.case_key),
                        "outcome": case.outcome.replace("_", " "),
                        "all": duration(_total(case)),
                        "compile": duration(case.compile_ns),
                        "masks": len(times),
                        "mean": duration(case.ordinary.mean_between_ns),
                        "longest": duration(max(times, default=None)),
                    }
                )
    return Table.of_records(
        "Slowest schemas",
        rows,
        name="masks-slowest",
        note="all: the compile call and every mask and commit, near misses of length "
        f"bounds too; mean: without these. Of each engine the first {_MOST}.",
    )


def _total(case: CaseMeasurement) -> int:
    return (
        (case.compile_ns or 0)
        + sum(case.ordinary.between_ns)
        + sum(case.length_misses.between_ns)
    )


_MOST_KEYWORDS = 30


@dataclass(slots=True)
class _EngineTotals:
    verdicts: Counter[WalkVerdict] = field(default_factory=Counter)
    #: Keyword to whether near misses that violate it were blocked, by schema.
    keywords: dict[str, list[Rate]] = field(default_factory=lambda: defaultdict(list))
    #: Whether valid texts in other orders were accepted, by schema.
    orders: list[Rate] = field(default_factory=list)
    #: Tokens forced, by schema.
    forced: list[Rate] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Take the walks of one row."""
        rights: dict[str, list[bool]] = defaultdict(list)
        for walked in row.walks:
            apart = is_judged_apart(walked)
            right = engine_is_right(walked)
            if not apart:
                self.verdicts[walked.verdict] += 1
            if right is not None and (apart or not walked.valid):
                keyword = str(walked.label.get("keyword") or "(unknown)")
                rights["" if apart else keyword].append(right)
            if walked.forced is not None and walked.mask_ns and walked.valid:
                self.forced.append(Rate(walked.forced, len(walked.mask_ns)))
        for keyword, own in rights.items():
            rates = self.keywords[keyword] if keyword else self.orders
            rates.append(Rate(sum(own), len(own)))


def report_of(run: RunRows) -> Report:
    """Return the tables and plots of a run."""
    engines: dict[str, _EngineTotals] = {}
    why = WhyClasses()
    for row in run.rows():
        if row.task == NAME:
            engines.setdefault(row.engine, _EngineTotals()).add(row)
            why.add(row)
    if not engines:
        return Report(tables=())
    cases_by_engine = measure_run(run, NAME)
    own = [_keywords(engines), _instances(engines)]
    if any(totals.orders for totals in engines.values()):
        own.append(_orders(engines))
    coverage, outcomes, *more = tables(cases_by_engine)
    times = (
        by_length(cases_by_engine),
        slowest_schemas(cases_by_engine),
    )
    return Report(
        tables=(
            coverage,
            outcomes,
            *(table for table in [why.table("why")] if table.rows),
            *own,
            *more,
            *(table for table in times if table.rows),
        ),
        plots=tuple(plots(cases_by_engine, NAME)),
    )


def _instances(engines: Mapping[str, _EngineTotals]) -> Table:
    return Table.of_records(
        "Instances",
        (
            {
                "engine": name,
                "walked": verdicts.total() - verdicts[WalkVerdict.NOT_RUN],
                "not run": verdicts[WalkVerdict.NOT_RUN],
                "lied about": verdicts[WalkVerdict.LIED],
                "mask gaps": verdicts[WalkVerdict.MASK_GAP],
                "contradicted": verdicts[WalkVerdict.CONTRADICTED],
                "engine errors": verdicts[WalkVerdict.ENGINE_ERROR],
                "tokens forced": Rate.total(totals.forced) if totals.forced else None,
            }
            for name, totals in engines.items()
            for verdicts in [totals.verdicts]
        ),
        name="masks-instances",
        note="not run: the schema did not compile, or the engine died before. lied "
        "about: mask and commit disagree about a token. mask gaps: a valid text is "
        "blocked at a token that commit takes. contradicted: a token was "
        "blocked which after the same tokens was let through in another text of the "
        "schema. engine errors: the engine raised, or said that it had failed, as at "
        "a limit of its own; these are no blocks. tokens forced: the engine "
        "offers the token as the only way on, of the tokens of each schema's first "
        "valid instance.",
    )


def _keywords(engines: Mapping[str, _EngineTotals]) -> Table:
    near_misses: Counter[str] = Counter()
    for totals in engines.values():
        for keyword, rates in totals.keywords.items():
            near_misses[keyword] += sum(rate.of for rate in rates)
    return Table(
        title="Near misses blocked, by the keyword that they violate",
        name="masks-keywords",
        columns=("keyword", *engines),
        rows=tuple(
            (
                keyword,
                *(_total_of(totals.keywords[keyword]) for totals in engines.values()),
            )
            for keyword, _ in near_misses.most_common(_MOST_KEYWORDS)
        ),
        note="Of the near misses walked to a verdict, in schemas that compile; what "
        "is not blocked was accepted: the engine does not enforce the keyword there. "
        f"The {_MOST_KEYWORDS} keywords with most near misses.",
    )


def _orders(engines: Mapping[str, _EngineTotals]) -> Table:
    return Table(
        title="Valid instances with the members of their objects in another order",
        name="masks-orders",
        columns=("engine", "accepted"),
        rows=tuple(
            (name, _total_of(totals.orders)) for name, totals in engines.items()
        ),
        note="Apart from all other figures: the specification gives members no order.",
    )


def _total_of(rates: Sequence[Rate]) -> Rate | None:
    return Rate.total(rates) if rates else None
