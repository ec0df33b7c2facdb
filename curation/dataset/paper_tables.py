"""The paper's Tables 1, 8 and 9 and its Figure 2, for any set of schemas.

The paper computed Table 8 on the raw files, before any rule: pass those, each under the
config of its own field count (`curation.core.benchmark`). Tables 1 and 9 and Figure 2
count records, except Table 9's Kubernetes row, which counts raw files, and its Snowplow
row, which counts some files that were dropped later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_high

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaMeasures:
    """The measures of one schema for the tables."""

    config: str
    #: By the names of `MEASURES`.
    measures: Mapping[str, float]
    #: One of `DRAFTS`.
    draft: str
    features: tuple[str, ...]
    formats: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Quartiles and extremes of one measure in one config; every value occurs in it."""

    least: float
    lower_quartile: float
    #: Of two middle values the higher, as in the paper.
    median: float
    upper_quartile: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure2:
    """Features and formats with their numbers of schemas, most first."""

    features: tuple[tuple[str, int], ...]
    formats: tuple[tuple[str, int], ...]


def measure_schema(config: str, schema: Json) -> SchemaMeasures:
    """Return the measures of a parsed schema."""
    usage = used(schema, ANY_DIALECT)
    return _measured(config, schema, size_bytes(schema), usage.features, usage.formats)


def measure_schemas(rows: Iterable[tuple[str, str]]) -> list[SchemaMeasures]:
    """Return the measures of each row of config and JSON text.

    A text that is not JSON is left out.
    """
    policy = Policy(last_key_counts=True)
    measures = []
    for config, text in rows:
        schema = parse(text.encode(), policy)
        if not isinstance(schema, Rejected):
            measures.append(measure_schema(config, schema))
    return measures


def measure_row(
    config: str, text: str, size: int, features: Iterable[str], formats: Iterable[str]
) -> SchemaMeasures | None:
    """Return the measures of a row, some from its columns; None if it is no JSON.

    Args:
        config: The row's config.
        text: Its schema.
        size: Bytes of the text with Python's default separators.
        features: The features of the schema under its own dialect.
        formats: The values of `format` in it.
    """
    try:
        schema = orjson.loads(text)
    except orjson.JSONDecodeError:
        # Our own reader knows numbers and texts that orjson does not.
        return next(iter(measure_schemas([(config, text)])), None)
    return _measured(config, schema, size, tuple(features), tuple(formats))


def _measured(
    config: str,
    schema: Json,
    size: int,
    features: tuple[str, ...],
    formats: tuple[str, ...],
) -> SchemaMeasures:
    nested = nesting(schema)
    return measures_of(
        config,
        (size, nested.field_count, nested.fan_out, nested.depth),
        draft_of(schema),
        features,
        formats,
    )


def measures_of(
    config: str,
    figures: tuple[int, int, int, int],
    draft: str,
    features: tuple[str, ...] = (),
    formats: tuple[str, ...] = (),
) -> SchemaMeasures:
    """Return the measures of a schema from its figures.

    Args:
        config: Its config.
        figures: Bytes, fields, most keys of one object, levels of objects.
        draft: One of `DRAFTS`.
        features: Its features.
        formats: The values of `format` in it.
    """
    size, fields, fan_out, depth = figures
    return SchemaMeasures(
        config=config,
        measures=dict(
            zip(MEASURES, (size / 1024, fields, fan_out, depth), strict=True)
        ),
        draft=draft,
        features=features,
        formats=formats,
    )


def draft_of(schema: Json) -> str:
    """Return the draft in the root's `$schema`, else unknown."""
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(uri, str):
        return DRAFTS[-1]
    return next((draft for draft in DRAFTS[:-1] if draft in uri), DRAFTS[-1])


def table_1(schemas: Sequence[SchemaMeasures]) -> dict[str, int]:
    """Return config to number of schemas, in order."""
    return dict(Counter(schema.config for schema in schemas))


def table_8(schemas: Sequence[SchemaMeasures]) -> dict[str, dict[str, Spread]]:
    """Return config to measure to its distribution."""
    return {
        config: {
            name: _spread([schema.measures[name] for schema in own])
            for name in MEASURES
        }
        for config, own in by_config(schemas).items()
    }


def table_9(schemas: Sequence[SchemaMeasures]) -> dict[str, dict[str, int]]:
    """Return config to draft to number of schemas."""
    counted = {
        config: Counter(schema.draft for schema in own)
        for config, own in by_config(schemas).items()
    }
    return {
        config: {draft: drafts[draft] for draft in DRAFTS}
        for config, drafts in counted.items()
    }


def figure_2(schemas: Sequence[SchemaMeasures]) -> Figure2:
    """Return the number of schemas with each feature and each format."""
    return Figure2(
        features=_ranked(name for schema in schemas for name in schema.features),
        formats=_ranked(name for schema in schemas for name in schema.formats),
    )


def by_config(schemas: Sequence[SchemaMeasures]) -> dict[str, list[SchemaMeasures]]:
    """Return config to its schemas, in order."""
    configs: dict[str, list[SchemaMeasures]] = {}
    for schema in schemas:
        configs.setdefault(schema.config, []).append(schema)
    return configs


def _spread(values: list[float]) -> Spread:
    ordered = sorted(values)
    count = len(ordered)
    return Spread(
        least=ordered[0],
        lower_quartile=ordered[count // 4],
        median=median_high(ordered),
        upper_quartile=ordered[count * 3 // 4],
        most=ordered[-1],
    )


def _ranked(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    counted = Counter(names).items()
    return tuple(sorted(counted, key=lambda item: (-item[1], item[0])))


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
    #: The draft whose name stands in the root's `$schema`, or `unknown`.
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
        raw_draft=draft_of(schema),
    )
