"""The page of a record: its schema and texts, and each engine's outcome.

One page reads all records, since thousands of files are too many: the part after `#`
of its address names one, and its bytes name the script that holds its content.
"""

from __future__ import annotations

import json
from collections import defaultdict
from contextlib import suppress
from functools import reduce
from typing import TYPE_CHECKING, Final

from curation.system.words import counted
from evaluation.site.rendering import data_script, part, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evaluation.core.records import Record
    from evaluation.results.edition import Line
    from evaluation.site.site import Page, Site

#: Scripts that hold the records; fewer where there are few.
_MAX: Final = 128
_PER_SCRIPT: Final = 32
#: Characters of a schema or text.
_MAX_LENGTH: Final = 20_000


def pages(site: Site) -> Iterator[Page]:
    """Yield the page, and the scripts with all records."""
    rows: dict[str, dict[str, Line]] = defaultdict(dict)
    for line in site.masks.iter_rows(named=True):
        rows[line["key"]][line["engine"]] = line
    contents: dict[str, str] = {}
    for record in site.records():
        key = record.key
        contents[key] = _content(site, key, rows.pop(key, {}), record)
    contents |= {key: _content(site, key, lines, None) for key, lines in rows.items()}
    scripts = min(_MAX, -(-len(contents) // _PER_SCRIPT)) or 1
    bundles: list[dict[str, str]] = [{} for _ in range(scripts)]
    for key, content in contents.items():
        bundles[bundle_number(key, scripts)][key] = content
    for number, bundle in enumerate(bundles):
        yield data_script(f"records/{number}.js", bundle)
    yield render(
        site, "record.html", "record", "A record", needs=("record",), scripts=scripts
    )


def _content(
    site: Site, name: str, rows: Mapping[str, Line], record: Record | None
) -> str:
    """Return the part of the page about a record; None: the dataset lacks it."""
    schema = str(record.schema) if record else ""
    with suppress(ValueError, RecursionError):
        schema = json.dumps(json.loads(schema), indent=2, ensure_ascii=False)
    return part(
        "record_part",
        site=site,
        name=name,
        rows=rows,
        changed=rows and record and name not in site.unchanged,
        wrong=_wrong,
        record=record,
        schema=_cut(schema),
        texts=[(each, _cut(each.text)) for each in record.instances] if record else [],
    )


def _wrong(row: Line) -> str:
    """Return where texts went wrong."""
    places = [each.split(":") for each in row["wrong"].split()]
    return "; ".join(f"text {each[0]} after {each[-1]} tokens" for each in places)


def _cut(text: str) -> str:
    whole = counted(len(text), "character")
    if len(text) > _MAX_LENGTH:
        return f"{text[:_MAX_LENGTH]} ... ({whole} in all)"
    return text


def bundle_number(key: str, scripts: int) -> int:
    """Return the number of the script with a record, as `record.js` does."""
    return reduce(lambda value, byte: (31 * value + byte) % scripts, key.encode(), 0)
