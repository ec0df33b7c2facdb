"""Schemas of the families for tests: drawn in a moment, or whole with instances."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from evaluation.core.suite import ScoredResponse
from evaluation.suites.concodeeval.records import (
    FAMILIES,
    draw_schema,
    generate,
    generate_schemas,
)
from evaluation.suites.concodeeval.suite import DIALECTS

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.records import Record, Verdict
    from evaluation.suites.concodeeval.suite import ConcodeSettings, Reading


def drawn(family: str, seed: int | str, reading: Reading) -> dict[str, Json]:
    """Return a schema of a family."""
    return draw_schema(*FAMILIES[family], random.Random(seed), reading)


#: With it no format is that of an IRI among the first 24, whose grammar takes seconds
#: to load.
SEED = 21

#: Any schema of any family, whether something satisfies it or not.
drawn_schemas = st.builds(
    drawn,
    st.sampled_from([*FAMILIES]),
    st.integers(0, 10**6),
    st.sampled_from(sorted(DIALECTS)),
)


@cache
def made_schemas(count: int = 24) -> tuple[Record, ...]:
    """Return records of schemas with instances, made once for all tests of a worker."""
    return tuple(generate_schemas(count, SEED, "recommended"))


def made_records(settings: ConcodeSettings) -> list[Record]:
    """Return the records of 24 schemas."""
    return list(generate(24, SEED, settings))


def scored(verdict: Verdict, record: str = "f/a", group: str = "f") -> ScoredResponse:
    """Return a scored answer to a record."""
    return ScoredResponse(
        record=record,
        group=group,
        repeat=0,
        model="mine",
        condition="free",
        verdicts=(verdict,),
    )
