"""The page of a record: its schema, texts and story, and what each engine did.

One page reads all records, since thousands of files are too many: the part behind `#`
of its address names one, and its digest names the script that holds its content.
"""

from __future__ import annotations

import json
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import polars as pl

from curation.system.user_files import reading_parquet
from curation.system.words import counted
from evaluation.reporting.tables import Duration
from evaluation.results.edition import is_cut
from evaluation.results.outcomes import Outcome
from evaluation.site.rendering import data_script, part, render
from evaluation.tasks.masks import NAME as MASKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from evaluation.reporting.tables import Cell
    from evaluation.results.edition import Line
    from evaluation.site.site import Page, Site

#: Scripts that hold the records; fewer where there are few.
_MOST: Final = 128
_PER_SCRIPT: Final = 32
#: Columns of a record that are its story.
_STORY: Final = (
    *("split", "source", "path", "commit", "licence", "original_repository", "origin"),
    *("dialect", "dialect_found", "valid_under", "size", "field_count", "depth"),
    *("features", "formats", "lints", "vacuous", "weight", "cluster", "sha256"),
)
#: Characters of a schema or text, and of what an edit has changed.
_LONGEST: Final = 20_000
_EDIT: Final = 300


def pages(site: Site) -> Iterator[Page]:
    """Yield the page, and the scripts with all records."""
    rows: dict[str, dict[str, Line]] = defaultdict(dict)
    for line in site.lines:
        if line["task"] == MASKS:
            rows[f"{line['config']}/{line['id']}"][line["engine"]] = line
    count = max(site.features_of, len(rows))
    scripts = min(_MOST, -(-count // _PER_SCRIPT)) or 1
    bundles: list[dict[str, str]] = [{} for _ in range(scripts)]
    edits = _edits(site.data)
    for record in site.records():
        key = f"{record['config']}/{record['unique_id']}"
        own = edits.get((record["config"], record["unique_id"]), [])
        content = _content(site, key, rows.pop(key, {}), record, own)
        bundles[bundle_of(key, scripts)][key] = content
    for key, lines in rows.items():
        bundles[bundle_of(key, scripts)][key] = _content(site, key, lines)
    for number, bundle in enumerate(bundles):
        yield data_script(f"records/{number}.js", f"records-{number}", bundle)
    yield render("record.html", "record", site=site, title="A record", scripts=scripts)


def _content(
    site: Site,
    name: str,
    rows: Mapping[str, Line],
    record: Mapping[str, Any] | None = None,
    edits: list[dict[str, str]] | None = None,
) -> str:
    """Return the part of the page about one record; None: the dataset lacks it."""
    record = record or {}
    story = {name: record.get(name) for name in _STORY}
    return part(
        "record_part",
        site=site,
        name=name,
        rows=rows,
        outcomes={each.value: each.explanation for each in Outcome},
        places=_places,
        times=_times,
        record=record,
        schema=_cut(_indented(record.get("json_schema", ""))),
        texts=[(text, _cut(text["text"])) for text in record.get("instances", ())],
        story={
            name: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            for name, value in story.items()
            if value not in (None, "")
        },
        edits=edits,
    )


def _places(row: Line) -> list[str]:
    """Return where texts went wrong, the first six."""
    places = [each.split(":") for each in row["wrong"].split()]
    shown = [f"text {each[0]} after {each[-1]} tokens" for each in places[:6]]
    more = len(places) - len(shown)
    return [*shown, f"and {more} more"] if more else shown


def _times(row: Line) -> list[Cell]:
    return [
        None if row[name] is None else Duration(row[name], cut)
        for name, cut in (("compile_ns", is_cut(row)), ("between_ns", False))
    ]


def _indented(schema: str) -> str:
    with suppress(ValueError, RecursionError):
        return json.dumps(json.loads(schema), indent=2, ensure_ascii=False)
    return schema


def _cut(text: str) -> str:
    cut = len(text) > _LONGEST
    whole = counted(len(text), "character")
    return f"{text[:_LONGEST]} ... ({whole} in all)" if cut else text


def bundle_of(key: str, scripts: int) -> int:
    """Return the number of the script with a record, as `record.js` does."""
    return crc32(key.encode()) % scripts


def _edits(data: Path | None) -> Mapping[tuple[str, str], list[dict[str, str]]]:
    """Return the edits of each record from the dataset's ledger, where it has one."""
    folder = (data / "ledger") if data else None
    if folder is None or not (folder / "changes.pq").is_file():
        return {}
    with reading_parquet(folder):
        documents = pl.read_parquet(folder / "documents.pq", glob=False)
        changes = pl.read_parquet(folder / "changes.pq", glob=False)
    kept = documents.filter(pl.col("outcome") == "kept")
    joined = changes.join(kept.select("document", "config", "unique_id"), on="document")
    edits: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in joined.sort("document", maintain_order=True).iter_rows(named=True):
        names = ("rule", "pointer", "before", "after")
        edit = {name: (row[name] or "")[:_EDIT] for name in names}
        edits[row["config"], row["unique_id"]].append(edit)
    return edits
