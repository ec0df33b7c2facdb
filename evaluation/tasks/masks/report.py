"""The tables of task `masks`: what any run has, and whose fault each wrong mask is."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evaluation.core.cases import WalkVerdict
from evaluation.reporting.report import Report
from evaluation.reporting.tables import Rate, Table
from evaluation.results.measurements import measure_run
from evaluation.results.outcomes import engine_is_right, is_judged_apart
from evaluation.results.overview import plots, tables
from evaluation.tasks.masks import NAME
from evaluation.tasks.masks.time_tables import (
    EngineLimits,
    by_length,
    slowest_first_masks,
    slowest_schemas,
)
from evaluation.tasks.masks.warm_times import WarmTimes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.core.cases import InstanceResult, Row
    from evaluation.core.task import RunRows

_MOST_KEYWORDS = 30


@dataclass(slots=True)
class _EngineTotals:
    """What is gathered of one engine while its rows go by."""

    verdicts: Counter[WalkVerdict] = field(default_factory=Counter)
    #: Keyword to how many of the near misses that violate it were blocked, or not.
    keywords: dict[str, Counter[bool | None]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    orders: Counter[bool | None] = field(default_factory=Counter)
    forced: int = 0
    forced_of: int = 0

    def add(self, row: Row) -> None:
        """Take the walks of one row."""
        for walked in row.walks:
            if is_judged_apart(walked):
                self.orders[engine_is_right(walked)] += 1
            else:
                self._add(walked)

    def _add(self, walked: InstanceResult) -> None:
        self.verdicts[walked.verdict] += 1
        if not walked.valid:
            keyword = str(walked.label.get("keyword") or "(unknown)")
            self.keywords[keyword][engine_is_right(walked)] += 1
        elif walked.forced is not None and walked.mask_ns:
            self.forced += walked.forced
            self.forced_of += len(walked.mask_ns)


def report_of(run: RunRows) -> Report:
    """Return the tables and plots of a run."""
    engines: dict[str, _EngineTotals] = {}
    limits, warm = EngineLimits(), WarmTimes()
    for row in run.rows():
        if row.task == NAME:
            engines.setdefault(row.engine, _EngineTotals()).add(row)
            limits.add(row)
            warm.add(row)
    if not engines:
        return Report(tables=())
    cases_by_engine = measure_run(run, NAME)
    own = [_instances(engines), _keywords(engines)]
    if any(totals.orders for totals in engines.values()):
        own.append(_orders(engines))
    coverage, outcomes, *others = tables(cases_by_engine)
    times = (
        warm.table(),
        by_length(cases_by_engine),
        slowest_schemas(cases_by_engine),
        slowest_first_masks(cases_by_engine),
        limits.table(),
    )
    return Report(
        tables=(
            coverage,
            outcomes,
            *own,
            *others,
            *(table for table in times if table.rows),
        ),
        plots=tuple(plots(cases_by_engine, NAME)),
    )


def _instances(engines: Mapping[str, _EngineTotals]) -> Table:
    return Table(
        title="Instances",
        name="masks-instances",
        columns=(
            "engine",
            "walked",
            "not run",
            "lied about",
            "mask gaps",
            "contradicted",
            "engine errors",
            "tokens forced",
        ),
        rows=tuple(
            (
                name,
                totals.verdicts.total() - totals.verdicts[WalkVerdict.NOT_RUN],
                totals.verdicts[WalkVerdict.NOT_RUN],
                totals.verdicts[WalkVerdict.LIED],
                totals.verdicts[WalkVerdict.MASK_GAP],
                totals.verdicts[WalkVerdict.CONTRADICTED],
                totals.verdicts[WalkVerdict.ENGINE_ERROR],
                Rate(totals.forced, totals.forced_of) if totals.forced_of else None,
            )
            for name, totals in engines.items()
        ),
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
        for keyword, counts in totals.keywords.items():
            near_misses[keyword] += counts[True] + counts[False]
    asked = [pair for pair in near_misses.most_common(_MOST_KEYWORDS) if pair[1]]
    return Table(
        title="Near misses blocked, by the keyword that they violate",
        name="masks-keywords",
        columns=("keyword", *engines),
        rows=tuple(
            (
                keyword,
                *(_right(totals.keywords[keyword]) for totals in engines.values()),
            )
            for keyword, _ in asked
        ),
        note="Of the near misses walked to a verdict, in schemas that compile; what "
        "is not blocked was accepted: the engine does not enforce the keyword there.",
    )


def _orders(engines: Mapping[str, _EngineTotals]) -> Table:
    return Table(
        title="Valid instances with the members of their objects in another order",
        name="masks-orders",
        columns=("engine", "accepted"),
        rows=tuple((name, _right(totals.orders)) for name, totals in engines.items()),
        note="Apart from all other figures: the specification gives members no order.",
    )


def _right(counts: Counter[bool | None]) -> Rate | None:
    known = counts[True] + counts[False]
    return Rate(counts[True], known) if known else None
