"""The figures of a build's instances: what is proven, covered and agreed, by config.

Counts come from the build's ledger, seconds from its run folder. Every share has
its denominator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import msgspec
import polars as pl

from curation.core.benchmark import in_benchmark_order
from curation.core.json_types import Json
from curation.instances.dataset.make_instances import PROOF
from curation.instances.dataset.parquet import (
    INSTANCE_LEDGER,
    MISSING,
    InstanceLedgerRow,
)
from curation.instances.dataset.tasks import COSTS, InstanceCosts
from curation.lint.satisfiability import Satisfiability
from curation.system.errors import NoInput, other_version
from curation.system.words import counted

#: Name of the line that sums up all configs.
TOTAL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of one config, or of all."""

    records: int
    #: Records with a witness that jsonschema-rs accepts, formats on.
    satisfiable: int
    #: Records with a witness that both validators accept, formats on.
    witnessed: int
    #: Records with a proof that nothing is accepted.
    refuted: int
    #: Named reason to records that have neither a witness nor a proof.
    reasons: Mapping[str, int]
    witnesses: int
    #: Witnesses that hold by each interpretation of their schema.
    unrefused: int
    #: Witnesses that sources give, and by keyword the given instances that fail it.
    given: int
    given_refused: Mapping[str, int]
    near_misses: int
    #: Records of which near misses were made, and their (place, keyword) pairs.
    with_near_misses: int
    pairs: int
    pairs_covered: int
    pairs_implied: int
    #: Pairs that the cap on near misses lets be covered.
    pairs_possible: int
    #: The same, a keyword counting once for each record.
    keywords: int
    keywords_covered: int
    keywords_implied: int
    #: Instances that both validators judged, and those on which they differ.
    judged_by_both: int
    disputed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceReport:
    """All figures of one build."""

    build: Path
    #: By config in benchmark order, then `all`.
    figures: Mapping[str, Figures]
    #: Records without an agreed witness: (config/id, reason, detail).
    without: Sequence[tuple[str, str, str]]
    #: Keyword to (place, keyword) pairs that have neither a near miss nor a proof.
    missing: Mapping[str, int]
    #: What the run folder tells of time and memory; None if it is gone.
    costs: InstanceCosts | None = None


#: Figures that are sums of a column of the ledger.
_SUMS = [
    field.name
    for field in fields(Figures)
    if field.name in InstanceLedgerRow.__dataclass_fields__
]


def report_of(build: Path) -> InstanceReport:
    """Return the figures of a build that was made with instances.

    Raises:
        NoInput: it was not, or there is no build.
        BadData: its ledger cannot be read.
    """
    path = build / INSTANCE_LEDGER
    if not path.is_file():
        raise NoInput("no such file", str(path), "csbdata build --instances")
    try:
        content = pl.read_parquet(path, glob=False).to_dicts()
        rows = msgspec.convert(content, list[InstanceLedgerRow])
        missing = Counter(pl.read_parquet(build / MISSING, glob=False)["keyword"])
    except (pl.exceptions.PolarsError, OSError, msgspec.ValidationError) as error:
        raise other_version(error, path) from error
    configs = in_benchmark_order({row.config for row in rows})
    figures = {
        config: _figures([row for row in rows if row.config == config])
        for config in configs
    }
    return InstanceReport(
        build=build,
        figures={**figures, TOTAL: _figures(rows)},
        without=[_without(row) for row in rows if not row.agreed],
        missing=dict(sorted(missing.items(), key=lambda item: (-item[1], item[0]))),
        costs=_costs(build),
    )


def _figures(rows: Sequence[InstanceLedgerRow]) -> Figures:
    with_pairs = [row for row in rows if row.pairs is not None]
    unknown = [row for row in rows if row.answer == Satisfiability.UNKNOWN]

    def total(name: str) -> int:
        return sum(getattr(row, name) or 0 for row in rows)

    return Figures(
        records=len(rows),
        satisfiable=sum(row.answer == Satisfiability.SATISFIABLE for row in rows),
        witnessed=sum(row.agreed > 0 for row in rows),
        refuted=sum(row.reason == PROOF for row in rows),
        reasons=dict(sorted(Counter(row.reason for row in unknown).items())),
        with_near_misses=len(with_pairs),
        given_refused=_added(row.examples_refused for row in rows),
        **{name: total(name) for name in _SUMS},
    )


def _added(texts: Iterable[str | None]) -> Mapping[str, int]:
    """Return the sum of counts by name, each of them a JSON text or null."""
    total: Counter[str] = Counter()
    for text in texts:
        total.update(msgspec.json.decode(text or "{}", type=dict[str, int]))
    return dict(sorted(total.items()))


def _without(row: InstanceLedgerRow) -> tuple[str, str, str]:
    """Return the name of a record without an agreed witness, and why it has none."""
    name = f"{row.config}/{row.unique_id}"
    if row.answer == Satisfiability.SATISFIABLE:
        return name, "disputed", "jsonschema does not accept any witness"
    return name, row.reason, row.detail


def _costs(build: Path) -> InstanceCosts | None:
    path = build.absolute().with_name(build.absolute().name + ".run") / COSTS
    try:
        return msgspec.json.decode(path.read_bytes(), type=InstanceCosts)
    except (OSError, msgspec.DecodeError):
        return None


def as_json(report: InstanceReport) -> Json:
    """Return the report as one JSON object, with shares beside the counts."""
    return {
        "build": str(report.build),
        "configs": {
            config: {**asdict(figures), "shares": shares(figures)}
            for config, figures in report.figures.items()
        },
        "without_witness": [
            {"record": name, "reason": reason, "detail": detail}
            for name, reason, detail in report.without
        ],
        "missing_near_misses": dict(report.missing),
        "costs": {} if report.costs is None else msgspec.to_builtins(report.costs),
    }


def shares(figures: Figures) -> dict[str, float | None]:
    """Return the shares that have a target; None if the denominator is 0."""
    keywords = figures.keywords - figures.keywords_implied
    agreed = figures.judged_by_both - figures.disputed
    return {
        "witnessed": _share(figures.witnessed, figures.records),
        "pairs_covered": _share(figures.pairs_covered, figures.pairs_possible),
        "keywords_covered": _share(figures.keywords_covered, keywords),
        "unrefused": _share(figures.unrefused, figures.witnesses),
        "agreement": _share(agreed, figures.judged_by_both),
    }


def _share(count: int, total: int) -> float | None:
    return count / total if total else None


#: Headers of the table, and which columns hold numbers.
HEADERS = (
    "config",
    "witness that both accept",
    "refuted",
    "without",
    "keywords covered",
    "implied",
    "places covered",
    "implied",
    "beyond the cap",
    "witnesses that hold by each interpretation",
    "validators agree",
)


def rows_of(report: InstanceReport) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table, one a config, the sum last."""
    for config, figures in report.figures.items():
        keywords = figures.keywords - figures.keywords_implied
        yield (
            config,
            _count_of(figures.witnessed, figures.records),
            f"{figures.refuted:,}",
            ", ".join(f"{name} {count:,}" for name, count in figures.reasons.items()),
            _count_of(figures.keywords_covered, keywords),
            f"{figures.keywords_implied:,}",
            _count_of(figures.pairs_covered, figures.pairs_possible),
            f"{figures.pairs_implied:,}",
            f"{figures.pairs - figures.pairs_implied - figures.pairs_possible:,}",
            _count_of(figures.unrefused, figures.witnesses),
            _count_of(
                figures.judged_by_both - figures.disputed, figures.judged_by_both
            ),
        )


def _count_of(count: int, total: int) -> str:
    share = _share(count, total)
    return "-" if share is None else f"{count:,} of {total:,} ({100 * share:.2f} %)"


def given_lines(report: InstanceReport) -> Iterator[str]:
    """Yield how many instances the sources give, and what refuses some of them."""
    figures = report.figures[TOTAL]
    refused = sum(figures.given_refused.values())
    if figures.given or refused:
        named = ", ".join(
            f"{keyword} {count:,}" for keyword, count in figures.given_refused.items()
        )
        yield (
            f"Of {counted(figures.given + refused, 'instance')} that sources give "
            f"for right ones, the schemas refuse {refused:,}"
            f"{f': {named}' if named else ''}."
        )


def cost_lines(report: InstanceReport) -> Iterator[str]:
    """Yield the time and memory that the instances took, as sentences."""
    costs = report.costs
    if costs is None:
        yield "What it took is not known: the run folder is gone."
        return
    schemas = counted(report.figures[TOTAL].records, "schema")
    yield (
        f"{costs.schema_seconds:,.1f} s in workers for {schemas}. The "
        f"last run took {costs.wall_seconds:,.1f} s for instances, with "
        f"{counted(costs.jobs, 'job')} and {costs.peak_rss_mb:,.0f} MiB at most."
    )
    name, seconds = costs.slowest[0]
    yield f"The slowest schema took {seconds:.2f} s: {name}."
