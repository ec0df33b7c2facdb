"""Count the pairs of keywords that stand together, and make a probe of each.

    python -m bench pairs --build BUILD

writes `evaluation/tasks/probe/pairs.jsonl`: for the hundred pairs that most schemas
have in one place, how many have them and where, and the probe. Its schema is made of
the probes of both keywords; its texts are a witness and near misses that only the one
and only the other refuses, as both validators say.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import UTC, datetime
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from bench.engine.fuzz_draws import judge, read
from curation.instances.near_misses.search import find_near_misses
from curation.instances.search.witnesses import find_witnesses
from curation.instances.values.json_text import text_of
from curation.json.pointer import tokens_of
from curation.schema.dialects import BY_NAME
from curation.schema.keywords import ANNOTATIONS, REFERENCE_KEYWORDS
from curation.schema.subschemas import subschema_locations
from evaluation.tasks.probe.keyword_probes import KEYWORD_PROBES
from evaluation.tasks.probe.pairs import PAIRS_FILE, KeywordPair
from evaluation.tasks.probe.probe import CONTEXTS, NOTHING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.tasks.probe.probe import Probe

_PAIRS = 100
#: Words that name, describe or refer: older drafts ignore what stands beside a `$ref`.
_SILENT = {
    *(ANNOTATIONS - {"format"}),
    *REFERENCE_KEYWORDS,
    *("$schema", "$id", "id", "$anchor", "$comment", "$vocabulary"),
    *("$defs", "definitions", "$dynamicAnchor", "$recursiveAnchor"),
}
#: A place counts if this share of the schemas with the pair has it there.
_SHARE = 0.05
_SIDES = 2
_UPPER, _LOWER = ("max", "exclusiveMax"), ("min", "exclusiveMin")
_ROOM = 3
#: The keyword above a subschema, or above its name, to the context of a probe.
_PLACES = {
    **dict.fromkeys(("properties", "patternProperties"), "property"),
    "additionalProperties": "property",
    **dict.fromkeys(("items", "prefixItems", "additionalItems"), "item"),
    **dict.fromkeys(("definitions", "$defs"), "$ref"),
    **{name: name for name in ("allOf", "anyOf", "oneOf")},
}


def add_options(_group: argparse._ArgumentGroup) -> None:
    """Add nothing: the build is an option of all parts."""


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Write the file of the build that is named; return what it has.

    Raises:
        ValueError: no build is named.
    """
    if options.build is None:
        raise ValueError("name a build: --build FOLDER")
    records, schemas, places = count_pairs(_schemas(options.build))
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    pairs = [
        made
        for (first, second), count in schemas.most_common()
        if (made := pair_of(first, second, count, records, places[first, second]))
    ][:_PAIRS]
    source = {"source": "build of the pinned archives", "date": date}
    lines = [json.dumps({**source, "schemas": records})]
    lines += [msgspec.json.encode(pair).decode() for pair in pairs]
    PAIRS_FILE.write_text("\n".join(lines) + "\n", "utf-8")
    return {
        "records": records,
        "pairs": len(pairs),
        "violated on both sides": sum(len(pair.violating) == _SIDES for pair in pairs),
        "left out": [
            f"{'+'.join(pair)} ({count})"
            for pair, count in schemas.most_common(_PAIRS)
            if pair not in {each.keywords for each in pairs}
        ],
    }


def _schemas(build: Path) -> Iterator[tuple[Json, str]]:
    columns = ("json_schema", "dialect")
    tables = pl.scan_parquet(f"{build}/[A-Z]*/*.parquet").select(columns).collect()
    for text, dialect in tables.iter_rows():
        yield json.loads(text), dialect


def count_pairs(
    schemas: Iterable[tuple[Json, str]],
) -> tuple[int, Counter[tuple[str, str]], Mapping[tuple[str, str], Counter[str]]]:
    """Return how many schemas there are, have each pair, and have it in each place."""
    records = 0
    counts: Counter[tuple[str, str]] = Counter()
    places: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for schema, name in schemas:
        dialect = BY_NAME[name]
        known = {*dialect.effective, "format"} - _SILENT
        seen: set[tuple[tuple[str, str], str]] = set()
        for location in subschema_locations(schema, dialect):
            if isinstance(location.schema, dict):
                place = place_of(location.tokens)
                own = sorted(known.intersection(location.schema))
                seen |= {(pair, place) for pair in combinations(own, 2)}
        records += 1
        counts.update({pair for pair, _ in seen})
        for pair, place in seen:
            places[pair][place] += 1
    return records, counts, places


def place_of(tokens: tuple[str, ...]) -> str:
    """Return the context of probes that a subschema stands in; empty for others.

    Example:
        >>> place_of(("properties", "a", "items"))
        'item'
    """
    if not tokens:
        return "root"
    above = [_PLACES.get(token, "") for token in tokens[-2:]]
    return above[-1] or above[0]


def pair_of(
    first: str, second: str, schemas: int, records: int, places: Counter[str]
) -> KeywordPair | None:
    """Return a pair with its probe, violated on as many sides as can be; or None."""
    stands = [name for name in CONTEXTS if places[name] >= _SHARE * schemas]
    of_first, of_second = (
        [probe for probe in KEYWORD_PROBES if probe.keyword == keyword]
        for keyword in (first, second)
    )
    best: KeywordPair | None = None
    for one, other in product(of_first, of_second):
        if one.definitions or other.definitions or one.violating is NOTHING:
            continue
        made = _probe(one, other)
        if made is None or not stands:
            continue
        pair = KeywordPair(
            keywords=(first, second),
            schemas=schemas,
            share=round(schemas / records, 4),
            places={name: places[name] for name in stands},
            **made,
        )
        if best is None or len(pair.violating) > len(best.violating):
            best = pair
        if len(best.violating) == _SIDES:
            break
    return best


def _probe(one: Probe, other: Probe) -> dict[str, Any] | None:
    """Return schema and values of two probes in one; None if they are at odds."""
    common = [dialect for dialect in one.dialects if dialect in other.dialects]
    schema = _merged(one.schema, other.schema)
    if schema is None or not common:
        return None
    readings = read({"$schema": common[-1].uri, **schema})
    if readings is None:
        return None
    witnesses = find_witnesses(readings.own).witnesses
    valid = [value for value in (one.valid, other.valid) if judge(readings, value)]
    # The snippets' own values are the plainest; an empty one may say nothing.
    valid = sorted(valid, key=_length, reverse=True)
    valid += sorted(
        (each.value for each in witnesses if judge(readings, each.value)),
        key=lambda value: (value in ([], {}), _length(value)),
    )
    violating: dict[str, Json] = {}
    near_misses = find_near_misses(readings.own, witnesses)
    for near in sorted(near_misses, key=lambda each: _length(each.value)):
        keyword = tokens_of(near.schema_pointer)[0]
        wanted = {one.keyword, other.keyword} - violating.keys()
        if (
            keyword in wanted
            and not near.keywords
            and judge(readings, near.value) is False
        ):
            violating[keyword] = near.value
    if not valid or not violating:
        return None
    return {
        "dialect": common[-1].name,
        "schema": schema,
        "valid": valid[0],
        "violating": violating,
    }


def _length(value: Json) -> int:
    return len(text_of(value))


def _merged(one: dict[str, Json], other: dict[str, Json]) -> dict[str, Json] | None:
    """Return both schemas in one, members of objects together; None if types differ.

    Upper bounds are raised, so that they are above the lower ones of another probe.
    """
    if one.get("type") != other.get("type") and "type" in one and "type" in other:
        return None
    merged = {**other, **one}
    for name, value in other.items():
        own = merged[name]
        if isinstance(own, dict) and isinstance(value, dict):
            merged[name] = {**own, **value}
    raised = [name for name in merged if name.startswith(_UPPER)]
    if len(raised) < len(merged) and any(name.startswith(_LOWER) for name in merged):
        for name in raised:
            bound = merged[name]
            if isinstance(bound, int | float) and not isinstance(bound, bool):
                merged[name] = bound + _ROOM
    return merged
