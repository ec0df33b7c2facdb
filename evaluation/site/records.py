"""The page of a record: its schema, texts and story, and what each engine did.

One page reads all records, since thousands of files are too many: the part behind `#`
of its address names one, and its digest names the script that holds it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import polars as pl

from curation.system.user_files import reading_parquet
from evaluation.results.outcomes import Outcome
from evaluation.site.rendering import data_script, render
from evaluation.tasks.masks import NAME as MASKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

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
_TEXT: Final = ("text", "valid", "kind", "keyword", "schema_pointer")
_ROW: Final = (
    *("outcome", "phase", "valid", "valid_accepted", "invalid", "invalid_blocked"),
    *("wrong", "why", "compile_ns", "first_mask_ns", "between_ns", "message"),
)
#: Characters of what an edit has changed.
_EDIT: Final = 300


def pages(site: Site) -> Iterator[Page]:
    """Yield the page, and the scripts with all records."""
    rows: dict[str, dict[str, Any]] = defaultdict(dict)
    for line in site.lines:
        if line["task"] == MASKS:
            key = f"{line['config']}/{line['id']}"
            rows[key][line["engine"]] = [line[name] for name in _ROW]
    count = max(site.features_of, len(rows))
    scripts = min(_MOST, -(-count // _PER_SCRIPT)) or 1
    bundles: list[dict[str, Any]] = [{} for _ in range(scripts)]
    edits = _edits(site.data)
    for record in site.records():
        key = f"{record['config']}/{record['unique_id']}"
        bundles[bundle_of(key, scripts)][key] = {
            "schema": record["json_schema"],
            "story": {name: record.get(name) for name in _STORY},
            "edits": edits.get((record["config"], record["unique_id"]), []),
            "texts": [
                [text.get(name) for name in _TEXT] for text in record["instances"]
            ],
            "rows": rows.pop(key, {}),
        }
    for key, own in rows.items():
        bundles[bundle_of(key, scripts)][key] = {"rows": own}
    for number, bundle in enumerate(bundles):
        yield data_script(f"records/{number}.js", f"records-{number}", bundle)
    yield render(
        "record.html",
        "record",
        site=site,
        title="A record",
        scripts=scripts,
        columns=_ROW,
        outcomes={each.value: each.explanation for each in Outcome},
    )


def bundle_of(key: str, scripts: int) -> int:
    """Return the number of the script with a record, as `record.js` does."""
    return crc32(key.encode()) % scripts


def _edits(data: Path | None) -> Mapping[tuple[str, str], list[list[str]]]:
    """Return the edits of each record from the dataset's ledger, where it has one."""
    folder = (data / "ledger") if data else None
    if folder is None or not (folder / "changes.pq").is_file():
        return {}
    with reading_parquet(folder):
        documents = pl.read_parquet(folder / "documents.pq", glob=False)
        changes = pl.read_parquet(folder / "changes.pq", glob=False)
    kept = documents.filter(pl.col("outcome") == "kept")
    joined = changes.join(kept.select("document", "config", "unique_id"), on="document")
    edits: dict[tuple[str, str], list[list[str]]] = defaultdict(list)
    for row in joined.sort("document", maintain_order=True).iter_rows(named=True):
        names = ("rule", "pointer", "before", "after")
        edit = [(row[name] or "")[:_EDIT] for name in names]
        edits[row["config"], row["unique_id"]].append(edit)
    return edits
