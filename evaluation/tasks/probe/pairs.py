"""Probes of pairs of keywords, in the places where they stand in real schemas.

`pairs.jsonl` has the pairs and their counts.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from curation.core.documents import Explained
from evaluation.reporting.tables import Rate, Table
from evaluation.tasks.probe.outcomes import ProbeOutcome
from evaluation.tasks.probe.probe import Probe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAIRS_FILE: Final = Path(__file__).with_name("pairs.jsonl")


class KeywordPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two keywords that stand together: how often, where, and their probe."""

    keywords: tuple[str, str]
    #: Schemas that have them in one place, and their share of all.
    schemas: int
    share: float
    #: Contexts of probes to the schemas that have them there.
    places: dict[str, int]
    dialect: str
    schema: dict[str, Any]
    valid: Any
    #: Keyword to a value that it alone refuses.
    violating: dict[str, Any]

    @property
    def name(self) -> str:
        """What tables call it."""
        return " + ".join(self.keywords)

    @property
    def probe(self) -> Probe:
        """Its probe; it is named after its first keyword."""
        return Probe(
            name=self.name,
            keyword=next(iter(self.violating)),
            schema=self.schema,
            valid=self.valid,
            violating=self.violating,
            since=self.dialect,
            until=self.dialect,
            contexts=tuple(self.places),
        )


@cache
def pairs() -> tuple[KeywordPair, ...]:
    """Return the pairs, the most frequent first."""
    _, *lines = PAIRS_FILE.read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=KeywordPair) for line in lines)


class PairOutcome(Explained):
    """What an engine makes of a pair in one place."""

    ENFORCED = ("enforced", "the valid text passes, both violating ones are blocked")
    IGNORED = ("one ignored", "a text that only one of the two refuses passes")
    OVER = ("over-constrained", "the valid text is blocked")
    REFUSED = ("refused", "the schema is not compiled")
    FAILED = ("failed", "it died, ran out of time, or is at odds with itself")


#: By the outcome of the pair's probe; any other is a failure.
_OUTCOMES: Final = {
    ProbeOutcome.ENFORCED: PairOutcome.ENFORCED,
    ProbeOutcome.IGNORED: PairOutcome.IGNORED,
    ProbeOutcome.WARNED: PairOutcome.IGNORED,
    ProbeOutcome.WRONG: PairOutcome.IGNORED,
    ProbeOutcome.OVER_STRICT: PairOutcome.OVER,
    ProbeOutcome.REFUSED: PairOutcome.REFUSED,
}


def pairs_table(by_engine: Mapping[str, Sequence[ProbeOutcome]]) -> Table:
    """Return the outcomes of pairs by engine."""
    counts = {
        engine: Counter(_OUTCOMES.get(it, PairOutcome.FAILED) for it in outcomes)
        for engine, outcomes in by_engine.items()
    }
    return Table(
        title="Pairs of keywords: outcomes",
        columns=("engine", *PairOutcome),
        rows=tuple(
            (
                engine,
                Rate(counted[PairOutcome.ENFORCED], counted.total()),
                *(counted[each] for each in list(PairOutcome)[1:]),
            )
            for engine, counted in counts.items()
        ),
        note="; ".join(f"{each}: {each.explanation}" for each in PairOutcome),
        name="pairs outcomes",
    )
