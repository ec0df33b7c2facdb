"""Schemas of the families for tests: drawn in a moment, or whole with instances."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from evaluation.suites.concodeeval.records import (
    FAMILIES,
    draw_schema,
    generate_schemas,
    records_of,
)
from evaluation.suites.concodeeval.suite import DIALECTS

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.records import Record
    from evaluation.suites.concodeeval.records import SchemaFamily
    from evaluation.suites.concodeeval.suite import ConcodeSettings, Reading


def _draw(family: SchemaFamily, seed: int, reading: Reading) -> Json:
    return draw_schema(family, random.Random(seed), reading)


#: With it no format is that of an IRI among the first 24, whose grammar takes seconds
#: to load.
SEED = 21

#: Any schema of any family, whether something satisfies it or not.
drawn_schemas = st.builds(
    _draw,
    st.sampled_from(FAMILIES),
    st.integers(0, 10**6),
    st.sampled_from(sorted(DIALECTS)),
)


@cache
def made_schemas(count: int = 24) -> tuple[Record, ...]:
    """Return records of schemas with instances, made once for all tests of a worker."""
    return tuple(generate_schemas(count, SEED))


def made_records(settings: ConcodeSettings, count: int = 24) -> list[Record]:
    """Return the records of these schemas."""
    return list(records_of(made_schemas(count), 0, settings))
