"""Small folders of parquet files, as a build or the Hub has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.benchmark import instances_folder
from curation.dataset.parquet import file_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson

SCHEMA = (
    '{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}'
)


def write_tables(
    folder: Path,
    configs: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    instances: bool = True,
) -> Path:
    """Write schemas of these ids by config and split, with two instances each.

    An id that begins with `bare` has none.
    """
    for config, splits in configs.items():
        for split, ids in splits.items():
            rows = [record(each) for each in ids]
            write(folder / config / f"{split}-00000-of-00001.parquet", rows)
            if instances:
                given = [row for each in ids for row in _instances(each)]
                write(folder / file_name(instances_folder(config), split), given)
    return folder


def write(path: Path, rows: Sequence[UntypedJson]) -> None:
    """Write rows as a parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)


def record(name: str) -> UntypedJson:
    """Return the row of a schema of this id."""
    return {
        "json_schema": SCHEMA,
        "unique_id": name,
        "dialect": "draft-07",
        "features": ["required"],
    }


def _instances(name: str) -> list[UntypedJson]:
    if name.startswith("bare"):
        return []
    good = {"text": f'{{"a": {len(name)}}}', "valid": True, "kind": "minimal"}
    bad = {"text": "{}", "valid": False, "kind": "near_miss"}
    told = {"keyword": "required", "schema_pointer": "/required"}
    return [
        {"unique_id": name, **good, "keyword": "", "schema_pointer": ""},
        {"unique_id": name, **bad, **told},
    ]
