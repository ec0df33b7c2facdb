"""The figures of a build's instances: what is proven, covered and agreed, by config.

Counts come from the build's ledger, seconds from its run folder. Every share has
its denominator.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING

import polars as pl

from curation.core.benchmark import in_benchmark_order
from curation.instances.dataset.build_step import COSTS
from curation.instances.dataset.make_instances import PROOF
from curation.instances.dataset.parquet import INSTANCE_LEDGER, MISSING
from curation.system.errors import BadData, NoInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson

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
    near_misses: int
    #: Records of which near misses were made, and their (place, keyword) pairs.
    with_near_misses: int
    pairs: int
    pairs_covered: int
    pairs_implied: int
    #: Pairs that the cap on near misses lets be covered.
    pairs_possible: int
    #: Name of the proof to pairs that it shows to be implied.
    proofs: Mapping[str, int]
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
    #: What the run folder tells of time and memory; empty where it is gone.
    costs: Mapping[str, UntypedJson] = field(default_factory=dict)


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
        rows = pl.read_parquet(path, glob=False).to_dicts()
        missing = Counter(pl.read_parquet(build / MISSING, glob=False)["keyword"])
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadData(f"not readable as parquet ({error})", str(path)) from error
    configs = in_benchmark_order({each["config"] for each in rows})
    figures = {
        config: _figures([each for each in rows if each["config"] == config])
        for config in configs
    }
    return InstanceReport(
        build=build,
        figures={**figures, TOTAL: _figures(rows)},
        without=[_without(each) for each in rows if not each["agreed"]],
        missing=dict(sorted(missing.items(), key=lambda item: (-item[1], item[0]))),
        costs=_costs(build),
    )


def _figures(rows: Sequence[Mapping[str, UntypedJson]]) -> Figures:
    asked = [each for each in rows if each["pairs"] is not None]
    lost = [each for each in rows if each["answer"] == "unknown"]

    def total(name: str) -> int:
        return sum(each[name] or 0 for each in rows)

    return Figures(
        records=len(rows),
        satisfiable=sum(each["answer"] == "satisfiable" for each in rows),
        witnessed=sum(each["agreed"] > 0 for each in rows),
        refuted=sum(each["reason"] == PROOF for each in rows),
        reasons=dict(sorted(Counter(each["reason"] for each in lost).items())),
        with_near_misses=len(asked),
        proofs=_proofs(asked),
        **{
            name: total(name)
            for name in (
                "witnesses",
                "near_misses",
                "pairs",
                "pairs_covered",
                "pairs_implied",
                "pairs_possible",
                "keywords",
                "keywords_covered",
                "keywords_implied",
                "judged_by_both",
                "disputed",
            )
        },
    )


def _proofs(rows: Sequence[Mapping[str, UntypedJson]]) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for each in rows:
        total.update(json.loads(each["proofs"]))
    return dict(sorted(total.items()))


def _without(row: Mapping[str, UntypedJson]) -> tuple[str, str, str]:
    name = f"{row['config']}/{row['unique_id']}"
    if row["answer"] == "satisfiable":
        return name, "disputed", "jsonschema does not accept any witness"
    return name, row["reason"], row["detail"]


def _costs(build: Path) -> Mapping[str, UntypedJson]:
    path = build.absolute().with_name(build.absolute().name + ".run") / COSTS
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def as_json(report: InstanceReport) -> UntypedJson:
    """Return the report as one JSON object, with shares beside the counts."""
    return {
        "build": str(report.build),
        "configs": {
            config: {**asdict(each), "shares": shares(each)}
            for config, each in report.figures.items()
        },
        "without_witness": [
            {"record": name, "reason": reason, "detail": detail}
            for name, reason, detail in report.without
        ],
        "missing_near_misses": dict(report.missing),
        "costs": dict(report.costs),
    }


def shares(figures: Figures) -> dict[str, float | None]:
    """Return the shares that the project holds itself to; None out of nothing."""
    own = {each.name: getattr(figures, each.name) for each in fields(figures)}
    words = own["keywords"] - own["keywords_implied"]
    agreed = own["judged_by_both"] - own["disputed"]
    return {
        "witnessed": _share(own["witnessed"], own["records"]),
        "pairs_covered": _share(own["pairs_covered"], own["pairs_possible"]),
        "keywords_covered": _share(own["keywords_covered"], words),
        "agreement": _share(agreed, own["judged_by_both"]),
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
    "validators agree",
)


def rows_of(report: InstanceReport) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table, one a config, the sum last."""
    for config, each in report.figures.items():
        words = each.keywords - each.keywords_implied
        yield (
            config,
            _of(each.witnessed, each.records),
            f"{each.refuted:,}",
            ", ".join(f"{name} {count:,}" for name, count in each.reasons.items()),
            _of(each.keywords_covered, words),
            f"{each.keywords_implied:,}",
            _of(each.pairs_covered, each.pairs_possible),
            f"{each.pairs_implied:,}",
            f"{each.pairs - each.pairs_implied - each.pairs_possible:,}",
            _of(each.judged_by_both - each.disputed, each.judged_by_both),
        )


def _of(count: int, total: int) -> str:
    share = _share(count, total)
    return "-" if share is None else f"{count:,} of {total:,} ({100 * share:.2f} %)"


def cost_lines(report: InstanceReport) -> Iterator[str]:
    """Yield what is known of time and memory, as sentences."""
    costs = report.costs
    if not costs:
        yield "What it took is not known: the run folder is gone."
        return
    records = report.figures[TOTAL].records
    yield (
        f"{costs['schema_seconds']:,.1f} s in workers for {records:,} schemas. The "
        f"last run took {costs['wall_seconds']:,.1f} s for instances, with "
        f"{costs['jobs']} jobs and {costs['peak_rss_mb']:,.0f} MiB at most."
    )
    name, seconds = costs["slowest"][0]
    yield f"The slowest schema took {seconds:.2f} s: {name}."
