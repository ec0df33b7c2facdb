"""Measure where in its text a near miss shows: by llguidance, and as `fails_at` says.

llguidance reads each text byte by byte; the first byte that it refuses is where the
violation shows to an engine. A schema that it does not compile, and a near miss that it
accepts, is not measured. It fixes the order of properties, so it may refuse earlier
than `fails_at`, which is the latest position for a reader that does not.

With a folder of MaskBench's files (`--maskbench-tests`), the same is measured of their
invalid tests, under the keyword that our label names, `mixed` for several.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars

from bench.builds import clean_build
from curation.core.benchmark import CONFIGS
from curation.dataset.editions import instance_tables
from curation.instances.constraints.assertions import find_reachable_keywords
from curation.instances.constraints.interpretations import read_schema
from curation.instances.constraints.violations import as_near_miss
from curation.instances.dataset.records import read_file
from curation.instances.near_misses.coverage import find_proof
from curation.instances.values.json_text import text_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

#: Parts of a text, of equal length; the last one is late.
_PARTS: Final = 4


class Refused(NamedTuple):
    """A refused instance of one schema."""

    text: str
    keyword: str
    #: Position in the text, as the build says; None if it says nothing.
    fails_at: int | None = None


def walker(schema: str) -> Callable[[str], int | None] | None:
    """Return what tells how many bytes of a text llguidance takes; None if all.

    The result is None where llguidance does not compile the schema.
    """
    import llguidance  # noqa: PLC0415 - an extra

    if schema in {"true", "false"}:
        return None
    tokens = llguidance.LLTokenizer("byte")
    grammar = llguidance.LLMatcher.grammar_from_json_schema(schema)
    start = llguidance.LLMatcher(tokens, grammar, log_level=0)
    if start.is_error():
        return None

    def taken(text: str) -> int | None:
        matcher = start.deep_copy()
        content = text.encode("utf-8", "surrogatepass")
        count: int = matcher.try_consume_tokens(list(content))
        if count == len(content) and matcher.is_accepting():
            return None
        return count

    return taken


def tally(schema: str, refused: Iterable[Refused]) -> Counter[str]:
    """Return how many instances of one schema show where.

    Keys are `near_misses`, `measured` and `late`, each also with `: ` and a keyword;
    `quarter 1` to `quarter 4`; `equal`, `earlier` and `later`, llguidance's position
    beside `fails_at`.
    """
    counts = Counter[str]()
    taken = walker(schema)
    for text, keyword, fails_at in refused:
        counts.update(("near_misses", f"near_misses: {keyword}"))
        position = taken(text) if taken else None
        if position is None:
            continue
        size = len(text.encode("utf-8", "surrogatepass"))
        part = min(_PARTS, 1 + _PARTS * position // size)
        counts.update(("measured", f"measured: {keyword}", f"quarter {part}"))
        if part == _PARTS:
            counts.update(("late", f"late: {keyword}"))
        if fails_at is not None:
            said = len(text[:fails_at].encode("utf-8", "surrogatepass"))
            word = "earlier" if position < said else "later"
            counts["equal" if position == said else word] += 1
    return counts


def figures(counts: Counter[str]) -> dict[str, Any]:
    """Return counts with the shares of each keyword, the most frequent first."""
    near_misses, measured = counts["near_misses"], counts["measured"]
    named = {
        key.partition(": ")[2]: count
        for key, count in counts.most_common()
        if key.startswith("near_misses: ")
    }
    return {
        **{key: count for key, count in sorted(counts.items()) if ": " not in key},
        "late_share": _share(counts["late"], measured),
        "keywords": {
            keyword: {
                "share": _share(count, near_misses),
                "late_share": _share(
                    counts[f"late: {keyword}"], counts[f"measured: {keyword}"]
                ),
            }
            for keyword, count in named.items()
        },
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _of_build(folder: Path, every: int) -> Counter[str]:
    counts = Counter[str]()
    for config in CONFIGS:
        files = instance_tables(folder, config)
        if not files:
            continue
        print(f"positions: {config}", file=sys.stderr)
        refused: dict[str, list[Refused]] = {}
        columns = ["unique_id", "kind", "text", "keyword", "fails_at"]
        for file in files:
            rows = polars.read_parquet(file, columns=columns)
            for unique_id, kind, *rest in rows.select(columns).iter_rows():
                if kind == "near_miss":
                    refused.setdefault(unique_id, []).append(Refused(*rest))
        columns = ["unique_id", "dialect", "json_schema"]
        for file in sorted((folder / config).glob("*.parquet")):
            records = polars.read_parquet(file, columns=columns).select(columns).rows()
            for unique_id, dialect, schema in records[::every]:
                own = refused.get(unique_id, [])
                counts += tally(schema, own)
                counts["records"] += bool(own)
                if own and all(one.keyword == "type" for one in own):
                    counts["records with nothing but type"] += 1
                    counts["of them with another keyword"] += _has_other(
                        schema, dialect
                    )
    return counts


def _has_other(schema: str, dialect: str) -> bool:
    """Return whether another keyword than `type` could fail alone."""
    compiled: Any = read_schema(schema, dialect)
    return any(
        assertion.keyword != "type" and not find_proof(compiled, assertion)
        for assertion in find_reachable_keywords(compiled).assertions
    )


def _of_maskbench(folder: Path) -> Counter[str]:
    counts = Counter[str]()
    for path in sorted(folder.glob("*.json")):
        file = read_file(path)
        schema = json.dumps(file.schema)
        compiled: Any = read_schema(schema, "")
        own = list(_labelled(compiled, file.tests)) if _is_usable(compiled) else []
        counts += tally(schema, own)
        counts["records"] += bool(own)
        counts["records with nothing but type"] += bool(own) and all(
            one.keyword == "type" for one in own
        )
    return counts


def _is_usable(compiled: Any) -> bool:  # noqa: ANN401 - a schema, or why there is none
    try:
        return bool(compiled.validator)
    except (AttributeError, ValueError):
        return False


def _labelled(compiled: Any, tests: Iterable[Any]) -> Iterator[Refused]:  # noqa: ANN401 - as above
    for test in tests:
        if not test.valid and (label := as_near_miss(compiled, test.data)):
            yield Refused(text_of(test.data), label.keyword)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--positions-every", type=int, default=1, metavar="N")
    parser.add_argument("--maskbench-tests", type=Path, help="folder of their files")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of a build, and of MaskBench's tests if they are there."""
    with clean_build(options.build, "--instances") as build:
        found = {
            "measured": build.name,
            "every": options.positions_every,
            "build": figures(_of_build(build.folder, options.positions_every)),
        }
    if options.maskbench_tests:
        found["maskbench"] = figures(_of_maskbench(options.maskbench_tests))
    return found
