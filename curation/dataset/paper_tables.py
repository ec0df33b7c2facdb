"""The paper's Tables 1, 8 and 9 and its Figure 2, for any set of schemas.

The paper computed Table 8 on the raw files, before any rule: pass those, each under the
config by its field count (`curation.core.benchmark`). Tables 1 and 9 and Figure 2
count records, except Table 9's Kubernetes row, which counts raw files, and its Snowplow
row, which counts some files dropped later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from curation.core.documents import Rejected
from curation.core.json_types import Json
from curation.core.records import BenchmarkRecord
from curation.dataset.features import used
from curation.json.text import Policy, parse
from curation.schema.dialects import ANY_DIALECT
from curation.schema.measures import nesting, nesting_of_document, size_bytes

#: Columns of Table 9, oldest draft first.
DRAFTS = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12", "unknown")
#: Titles of the columns of Table 8.
TITLES = {
    "size_kb": "Size (KB)",
    "field_count": "Field count",
    "max_fan_out": "Max fan-out",
    "schema_depth": "Schema depth",
}
#: Columns of Table 8.
MEASURES = tuple(TITLES)
#: File names of the plots of Figure 2 and Tables 8 and 9, without their suffixes.
PLOTS = ("figure-2", "table-8", "table-9")
#: The same of the plot drawn where targets were asked.
TARGETS_PLOT = "targets"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaMeasures:
    """The measures of one schema for the tables; some by the names of `MEASURES`."""

    config: str
    size_kb: float
    field_count: int
    #: Most keys of one object, arrays not entered.
    max_fan_out: int
    schema_depth: int
    #: One of `DRAFTS`.
    draft: str
    features: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Quartiles and extremes of one measure in one config; every value occurs in it."""

    least: float
    lower_quartile: float
    #: Of two middle values the higher, as in the paper.
    median: float
    upper_quartile: float
    most: float


def measure_schema(
    config: str,
    schema: Json,
    size: int | None = None,
    features: Iterable[str] = (),
    formats: Iterable[str] = (),
) -> SchemaMeasures:
    """Return the measures of a parsed schema.

    Args:
        config: Its config.
        schema: The schema.
        size: Bytes of its text with Python's default separators; None if neither this
            nor the next two are known.
        features: Its features under its own dialect.
        formats: The values of `format` in it.
    """
    if size is None:
        usage = used(schema, ANY_DIALECT)
        size, features, formats = size_bytes(schema), usage.features, usage.formats
    nested = nesting(schema)
    return SchemaMeasures(
        config=config,
        size_kb=size / 1024,
        field_count=nested.field_count,
        max_fan_out=nested.fan_out,
        schema_depth=nested.depth,
        draft=declared_draft(schema),
        features=tuple(features),
        formats=tuple(formats),
    )


def measure_schemas(rows: Iterable[tuple[Any, ...]]) -> list[SchemaMeasures]:
    """Return the measures of each row; a text that is not JSON is left out.

    Args:
        rows: Config and JSON text, and the further arguments of `measure_schema` if
            they are known.
    """
    policy = Policy(last_key_counts=True)
    measures = []
    for config, text, *values in rows:
        schema: Json | Rejected
        try:
            schema = orjson.loads(text) if values else parse(text.encode(), policy)
        except orjson.JSONDecodeError:
            # Our own reader knows numbers and texts that orjson does not.
            schema = parse(text.encode(), policy)
        if not isinstance(schema, Rejected):
            measures.append(measure_schema(config, schema, *values))
    return measures


def declared_draft(schema: Json) -> str:
    """Return the draft in the root's `$schema`, otherwise unknown."""
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(uri, str):
        return DRAFTS[-1]
    return next((draft for draft in DRAFTS[:-1] if draft in uri), DRAFTS[-1])


def table_1(schemas: Sequence[SchemaMeasures]) -> dict[str, int]:
    """Return config to number of schemas, in order."""
    return dict(Counter(schema.config for schema in schemas))


def table_8(schemas: Sequence[SchemaMeasures]) -> dict[str, dict[str, Spread]]:
    """Return config to measure to its distribution."""
    table: dict[str, dict[str, Spread]] = {}
    for config, members in _by_config(schemas).items():
        table[config] = {}
        for name in MEASURES:
            ordered = sorted(getattr(schema, name) for schema in members)
            count = len(ordered)
            table[config][name] = Spread(
                least=ordered[0],
                lower_quartile=ordered[count // 4],
                median=ordered[count // 2],
                upper_quartile=ordered[count * 3 // 4],
                most=ordered[-1],
            )
    return table


def table_9(schemas: Sequence[SchemaMeasures]) -> dict[str, dict[str, int]]:
    """Return config to draft to number of schemas."""
    return {
        config: {
            draft: sum(schema.draft == draft for schema in members) for draft in DRAFTS
        }
        for config, members in _by_config(schemas).items()
    }


def figure_2(schemas: Sequence[SchemaMeasures]) -> dict[str, dict[str, int]]:
    """Return `features` and `formats`: names to their schemas, most frequent first."""
    ranked = {}
    for column in ("features", "formats"):
        names = (name for schema in schemas for name in getattr(schema, column))
        counted = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
        ranked[column] = dict(counted)
    return ranked


def _by_config(schemas: Sequence[SchemaMeasures]) -> dict[str, list[SchemaMeasures]]:
    """Return config to its schemas, in order."""
    configs: dict[str, list[SchemaMeasures]] = {}
    for schema in schemas:
        configs.setdefault(schema.config, []).append(schema)
    return configs


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFigures:
    """The figures of one raw file; only ledgers of the paper's rules have them.

    The paper computed its Table 8 on the raw files.
    """

    #: Bytes of the JSON text with Python's default separators.
    raw_size: int
    raw_field_count: int
    #: Most keys of one object, arrays not entered.
    raw_fan_out: int
    raw_depth: int
    #: The draft whose name is in the root's `$schema`, or `unknown`.
    raw_draft: str


def raw_figures(schema: Json, record: BenchmarkRecord | None = None) -> RawFigures:
    """Return the figures of a parsed raw file.

    Args:
        schema: The parsed file.
        record: The record of the same schema, if no rule has changed it.
    """
    nested = nesting_of_document(schema)
    return RawFigures(
        raw_size=size_bytes(schema) if record is None else record.size,
        raw_field_count=nested.field_count,
        raw_fan_out=nested.fan_out,
        raw_depth=nested.depth,
        raw_draft=declared_draft(schema),
    )
