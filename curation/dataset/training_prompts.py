"""Prompts of the train split, in the layouts of programs that train or evaluate."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec
import polars as pl

from curation.system.errors import NoInput
from curation.system.user_files import reading_parquet

_REQUEST: Final = (
    "Write one JSON value that this JSON Schema accepts, as full as it allows. Answer "
    "with the JSON alone.\n\n{schema}"
)
#: What is read of a record.
_COLUMNS: Final = ("unique_id", "json_schema", "cluster", "vacuous")


def training_records(build: Path) -> Iterator[dict[str, object]]:
    """Yield id, conversation and schema of each record that may be trained on.

    That is the train split without vacuous records, and without any cluster of
    near-duplicates that has a record in the test split.

    Raises:
        NoInput: there is no build.
        BadData: a file of it is damaged.
    """
    train, test = (_rows(build, split) for split in ("train", "test"))
    tested = test["cluster"].unique().to_list()
    wanted = ~pl.col("vacuous") & ~pl.col("cluster").is_in(tested)
    for name, schema, *_ in train.filter(wanted).iter_rows():
        request = _REQUEST.format(schema=schema)
        turns = [{"role": "user", "content": request}]
        yield {"id": name, "prompt": turns, "schema": schema}


def _rows(build: Path, split: str) -> pl.DataFrame:
    tables = sorted(build.glob(f"*/{split}-*.parquet"))
    if not tables:
        raise NoInput(f"no {split} split in it", str(build), "csbdata build makes one")
    with reading_parquet(build):
        rows = pl.read_parquet(tables, columns=list(_COLUMNS), glob=False)
    return rows.select(_COLUMNS)


def write_training(build: Path, layout: str, folder: Path) -> int:
    """Write prompts and what a program loads them with; return how many there are.

    Args:
        build: A build.
        layout: A folder of `training`.
        folder: An existing, empty folder.
    """
    lines = [msgspec.json.encode(record) for record in training_records(build)]
    (folder / "prompts.jsonl").write_bytes(b"\n".join([*lines, b""]))
    for file in files("curation.dataset").joinpath("training", layout).iterdir():
        place = folder / file.name.removesuffix(".txt")
        place.write_bytes(file.read_bytes())
    return len(lines)
