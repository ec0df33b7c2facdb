"""What an edition of results measured of engines on real schemas like a user's.

`engines.jsonl.gz` of an edition has a line for each set of features that real schemas
have, with their outcomes by engine (`python -m bench.edition.engines`). Like a schema
are those that use all of its features and few others.
"""

from __future__ import annotations

import gzip
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Final

import msgspec

from curation.fit.checks import QUIET
from curation.fit.scan import scan_of
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.system.package_data import results_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json

#: The file of an edition.
ENGINES: Final = "engines.jsonl.gz"
#: How many features a schema like another may have, as a multiple and more.
_TIMES: Final = 1.5
_MORE: Final = 2
_LIVE: Final = KNOWN_KEYWORDS - QUIET
#: Keywords that are one feature wherever they are.
_ANYWHERE: Final = frozenset({"properties", "items", "required", "enum"})
#: Outcomes of an edition in words; others are of engines that did not end.
_WORDS: Final = {
    "passed": "right",
    "compile_error": "rejected",
    "under_constrained": "lets invalid values through",
    "over_constrained": "blocks valid values",
    "wrong_both_ways": "does both",
}


class Likes(msgspec.Struct, frozen=True):
    """The real schemas with one set of features."""

    features: list[int]
    #: Engine, by its place in the head, to outcomes.
    outcomes: dict[int, dict[str, int]]


class Head(msgspec.Struct, frozen=True):
    """The first line of the file."""

    edition: str
    engines: list[str]
    features: list[str]


def features_of_schema(schema: Json) -> frozenset[str]:
    """Return the keywords of a schema, each with the keyword that holds its place.

    Example:
        >>> sorted(features_of_schema({"items": {"minimum": 1}}))
        ['items', 'minimum in items']
    """
    scan = scan_of(schema)
    found: set[str] = set()
    for place in scan.places if scan else ():
        held = scan.holders.get(place.tokens, ((), "root"))[1] if scan else ""
        live = place.keywords.keys() & _LIVE
        if not live:
            found.add(f"{place.schema if place.schema is False else 'any'} in {held}")
        for name in live:
            value = place.keywords[name]
            if name == "type":
                types = value if isinstance(value, list) else [value]
                found.update(f"type {it} in {held}" for it in types)
            elif name == "format":
                found.add(f"format {value}")
            elif name == "additionalProperties":
                kind = value if isinstance(value, bool) else "schema"
                found.add(f"{name} {kind}")
            else:
                found.add(name if name in _ANYWHERE else f"{name} in {held}")
    return frozenset(found)


@cache
def _table() -> tuple[Head, list[tuple[int, Likes]]] | None:
    files = sorted(results_folder().glob(f"*/{ENGINES}"))
    if not files:
        return None
    first, *lines = gzip.decompress(files[-1].read_bytes()).splitlines()
    likes = [msgspec.json.decode(line, type=Likes) for line in lines]
    masks = [(sum(1 << it for it in own.features), own) for own in likes]
    return msgspec.json.decode(first, type=Head), masks


def outcomes_like(schema: Json, engine: str) -> tuple[Mapping[str, int], bool]:
    """Return the outcomes of an engine on real schemas like one; empty for none.

    Args:
        schema: The schema.
        engine: Its name, version and preset.

    Returns:
        The outcomes, and whether they are of schemas that use many more features,
        since there are none like it.
    """
    table = _table()
    if table is None or engine not in table[0].engines:
        return {}, False
    head, likes = table
    features = features_of_schema(schema)
    known = sum(1 << at for at, name in enumerate(head.features) if name in features)
    index = head.engines.index(engine)
    like: Counter[str] = Counter()
    more: Counter[str] = Counter()
    for mask, own in likes:
        found = own.outcomes.get(index, {})
        if known.bit_count() < len(features) or mask & known != known:
            continue
        more.update(found)
        if mask.bit_count() <= _TIMES * len(features) + _MORE:
            like.update(found)
    return like or more, not like


def evidence_of(schema: Json, engine: str) -> str:
    """Return what was measured of an engine on real schemas like one, as a sentence."""
    outcomes, has_more = outcomes_like(schema, engine)
    total = sum(outcomes.values())
    table = _table()
    if table is None or not total:
        return f"{engine}: not measured on real schemas with these keywords"
    counts: Counter[str] = Counter()
    for outcome, count in outcomes.items():
        counts[_WORDS.get(outcome, "did not end")] += count
    right = counts.pop("right", 0)
    others = "".join(f", {word} {count:,}" for word, count in sorted(counts.items()))
    where = "real schemas with these keywords at these places"
    where += " and many others" if has_more else ""
    return f"{engine}: right on {right:,} of {total:,} {where}{others}"
