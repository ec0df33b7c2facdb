"""The pure part of `instances.py`: which schemas are drawn, and the figures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

OURS = "csbdata"
NOT_RUN = "not run"
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A schema that every generator is given."""

    unique_id: str
    json_schema: str
    dialect: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one generator made of one schema."""

    dialect: str
    #: Values made, valid or not, distinct as texts.
    made: int
    #: Distinct JSON values that the judge accepts.
    valid: int
    #: Seconds of generation, the time budget at most.
    seconds: float
    #: How it ended: `in time`, `killed`, or the name of what was raised.
    ended: str


def drawn(rows: Iterable[Drawn], count: int) -> list[Drawn]:
    """Return the `count` schemas of the least digests, each digest once.

    A digest does not depend on the source or the size of a schema, so the draw is
    fair, and equal for equal records.
    """
    by_digest = {row.sha256: row for row in rows}
    return [by_digest[digest] for digest in sorted(by_digest)[:count]]


def summarised(scores: Sequence[Score], version: str) -> Figures:
    """Return the figures of one generator over all schemas."""
    with_valid = [score for score in scores if score.valid]
    valid = sum(score.valid for score in scores)
    seconds = sum(score.seconds for score in scores)
    return {
        "version": version,
        "schemas": len(scores),
        "with_valid": len(with_valid),
        "share": _ratio(len(with_valid), len(scores)),
        "made": sum(score.made for score in scores),
        "distinct_valid": valid,
        "seconds": round(seconds, 3),
        "per_second": _ratio(valid, seconds, digits=1),
        "with_valid_by_dialect": {
            dialect: f"{hit} of {total}"
            for dialect, (hit, total) in _by_dialect(scores).items()
        },
        "ended": dict(Counter(score.ended for score in scores).most_common()),
    }


def _by_dialect(scores: Sequence[Score]) -> dict[str, tuple[int, int]]:
    totals = Counter(score.dialect for score in scores)
    hits = Counter(score.dialect for score in scores if score.valid)
    return {dialect: (hits[dialect], totals[dialect]) for dialect in sorted(totals)}


def not_run(reason: str) -> Figures:
    """Return what stands in place of the figures of a generator that is not here."""
    return {NOT_RUN: reason}


def ratios(generators: Mapping[str, Figures]) -> dict[str, Figures]:
    """Return ours over each peer's, share and rate.

    A peer that did not run has no ratio but `not run`; one without any valid
    instance has null.
    """
    ours = generators[OURS]
    return {
        f"{OURS} / {name}": (
            not_run(figures[NOT_RUN])
            if NOT_RUN in figures
            else {
                key: _ratio(ours[key], figures[key], digits=2)
                for key in ("share", "per_second")
            }
        )
        for name, figures in generators.items()
        if name != OURS
    }


def _ratio(part: float, whole: float | None, digits: int = 4) -> float | None:
    return round(part / whole, digits) if whole else None
