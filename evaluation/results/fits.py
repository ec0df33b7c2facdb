"""`fits.parquet` of an edition: which providers accept the records of its dataset.

Made by `python -m bench.edition.fits`; unchanged, after safe rewrites, and after
any. A republished edition keeps the file and renews its table, picture and schema.
"""

from __future__ import annotations

from collections import Counter
from statistics import mean
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec
import polars as pl

from curation.packaging.rewritten_fits import FITS
from curation.system.errors import BadData
from curation.system.user_files import reading_parquet
from evaluation.reporting.tables import Rate, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from evaluation.reporting.tables import Cell

#: A file of an edition.
FITS_TABLE: Final = "fits.md"
Fits: TypeAlias = Literal[
    "as it stands", "after safe rewrites", "after any rewrites", "unknown", "never"
]
#: Causes that are shown of a target.
_SHOWN: Final = 3


class FitRow(msgspec.Struct, frozen=True, kw_only=True):
    """A record and a target: a row of the file."""

    config: str
    id: str
    #: How `sha256` of its schema begins.
    schema: str = ""
    #: Whether the record is in the edition's sample; only these are counted.
    sampled: bool = False
    target: str
    #: The `digest` of the target's profile by which it was measured.
    profile: str = ""
    #: With the fewest rewrites, safe ones first, that keep a witness, if any do.
    taken: Fits
    #: Whether a known witness is still valid; null without one or without changes.
    kept: bool | None = None
    #: The share of near misses that the rewritten schema refuses; null if nothing
    #: changed, none is known, or it is an object without properties.
    refused: float | None = None
    #: What no safe rewrite takes away: keywords and rules.
    in_the_way: list[str] = []
    #: Whether the deadline ended the search for safe rewrites.
    late: bool = False

    @property
    def counts_as(self) -> Fits:
        """How it is accepted; never if no known witness remains valid."""
        return "never" if self.kept is False else self.taken


#: How a target takes a record, the strictest first; each counts those before it.
WAYS: Final[tuple[Fits, ...]] = (
    "as it stands",
    "after safe rewrites",
    "after any rewrites",
)


def reached(rows: Iterable[FitRow]) -> dict[str, list[Rate]]:
    """Return the records that each target accepts in each way or an earlier one.

    The target that accepts most after safe rewrites is first.
    """
    ways: dict[str, Counter[Fits]] = {}
    for row in rows:
        if row.sampled:
            ways.setdefault(row.target, Counter())[row.counts_as] += 1
    rates = {
        target: [
            Rate(sum(counts[group] for group in WAYS[: rank + 1]), counts.total())
            for rank in range(len(WAYS))
        ]
        for target, counts in ways.items()
    }
    return dict(sorted(rates.items(), key=lambda item: (-item[1][1].count, item[0])))


def fits_table(rows: Sequence[FitRow]) -> Table:
    """Return one line a target: accepted records, and the obstacles."""
    lines: list[tuple[Cell, ...]] = []
    for target, rates in reached(rows).items():
        sampled = [row for row in rows if row.target == target and row.sampled]
        shares = sorted(
            row.refused
            for row in sampled
            if row.counts_as != "never" and row.refused is not None
        )
        refused: list[Cell] = [None, None]
        if shares:
            figures = mean(shares), shares[len(shares) // 10]
            refused = [f"{100 * share:.1f} %" for share in figures]
        alone = Counter(
            row.in_the_way[0] for row in sampled if len(row.in_the_way) == 1
        )
        frequent = sorted(alone.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN]
        causes = ", ".join(f"{cause} {count:,}" for cause, count in frequent)
        lines.append((target, *rates, *refused, causes))
    late = sum(row.late for row in rows if row.sampled)
    return Table(
        title="Real schemas that providers accept",
        columns=(
            "target",
            "as they stand",
            *WAYS[1:],
            "near misses refused",
            "tenth percentile",
            "alone in the way of safe rewrites",
        ),
        rows=tuple(lines),
        note="Computed from profiles; no API was called. Unknown verdicts count as not "
        "accepted, and rewritten schemas as accepted if no rule rejects them. safe: "
        "every answer, decoded, is valid by the schema; any: what the target cannot "
        "hold is dropped. A known witness can be said in both. near misses refused: "
        "the mean share of a rewritten record's, by the schema that is meant; objects "
        "without properties do not count. Searches that a deadline of processor time "
        f"ended: {late:,}.",
    )


def read_fits(folder: Path) -> list[FitRow]:
    """Read the file of an edition; no rows if it has none.

    Raises:
        BadData: it cannot be read, or has other columns.
    """
    path = folder / FITS
    if not path.exists():
        return []
    with reading_parquet(path):
        rows = pl.read_parquet(path, glob=False).to_dicts()
    try:
        return msgspec.convert(rows, list[FitRow])
    except msgspec.ValidationError as error:
        raise BadData(f"not of an edition ({error})", str(path)) from error
