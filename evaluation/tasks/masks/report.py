"""Tables of task `masks`."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from evaluation.core.cases import Row, WalkVerdict
from evaluation.reporting.report import Report
from evaluation.reporting.tables import Cell, Rate, Table, duration
from evaluation.results.measurements import CaseMeasurement, measure_run
from evaluation.results.outcomes import engine_is_right, is_judged_apart
from evaluation.results.overview import plots, tables
from evaluation.results.why_classes import WhyClasses
from evaluation.tasks.masks import NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.core.task import RunRows

    #: Measurements by engine.
    Cases = Mapping[str, Sequence[CaseMeasurement]]

#: Schemas that are named for each engine.
_MOST: Final = 5


def slowest_schemas(cases_by_engine: Cases) -> Table:
    """Name the schemas that take each engine longest, from compile to last mask."""
    rows: list[dict[str, Cell]] = []
    for name, cases in cases_by_engine.items():
        for case in sorted(cases, key=_total, reverse=True)[:_MOST]:
            if _total(case):
                times = (*case.ordinary_ns, *case.length_misses_ns)
                rows.append(
                    {
                        "engine": name,
                        "schema": "/".join(case.case_key),
                        "outcome": case.outcome.replace("_", " "),
                        "all": duration(_total(case)),
                        "compile": duration(case.compile_ns),
                        "masks": len(times),
                        "mean": duration(case.mean_between_ns),
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
    return (case.compile_ns or 0) + sum(case.ordinary_ns) + sum(case.length_misses_ns)


_MOST_KEYWORDS = 30


@dataclass(slots=True)
class _EngineTotals:
    verdicts: Counter[WalkVerdict] = field(default_factory=Counter)
    #: Keyword to whether near misses that violate it were blocked, by schema.
    keywords: dict[str, list[Rate]] = field(default_factory=lambda: defaultdict(list))
    #: Tokens forced, by schema.
    forced: list[Rate] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Take the walks of one row."""
        rights: dict[str, list[bool]] = defaultdict(list)
        for walked in row.walks:
            if not is_judged_apart(walked):
                self.verdicts[walked.verdict] += 1
                right = engine_is_right(walked)
                if right is not None and not walked.valid:
                    keyword = str(walked.label.get("keyword") or "(unknown)")
                    rights[keyword].append(right)
            if walked.forced is not None and walked.mask_ns and walked.valid:
                self.forced.append(Rate(walked.forced, len(walked.mask_ns)))
        for keyword, own in rights.items():
            self.keywords[keyword].append(Rate(sum(own), len(own)))


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
    coverage, outcomes, *more = tables(cases_by_engine)
    slowest = slowest_schemas(cases_by_engine)
    return Report(
        tables=(
            coverage,
            outcomes,
            *(table for table in [why.table("why")] if table.rows),
            _keywords(engines),
            _instances(engines),
            *more,
            *([slowest] if slowest.rows else []),
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


def _total_of(rates: Sequence[Rate]) -> Rate | None:
    return Rate.total(rates) if rates else None
