"""Open an edition of the benchmark as one table of rows.

An edition is a build folder, a folder of `<config>/*.parquet`, a folder of
`<config>/*.json` with one schema a file, or a dataset on the Hub.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from curation.core.benchmark import (
    CONFIGS,
    DEFAULT,
    OTHER_FOLDERS,
    UNNAMED,
    in_benchmark_order,
    instances_folder,
    natural_key,
)
from curation.core.documents import Rejected
from curation.core.hub_names import dataset_name
from curation.json.text import parse, write
from curation.system.errors import BadConfiguration, NoInput, other_version
from curation.system.user_files import reading_parquet, refuse_large, refuse_unprintable

if TYPE_CHECKING:
    import polars as pl

#: Columns that every edition has, in this order; a row without a known split has
#: a null there.
COLUMNS = ("config", "split", "unique_id", "json_schema")
#: What every build holds.
_MANIFEST = "manifest.json"
#: Where builds are if no folder is named, and the one of the ten configs.
BUILDS = Path("build")
DEFAULT_BUILD = BUILDS / "JSONSchemaBench"
#: Where a build of the embedded sample is if no folder is named.
SAMPLE_BUILD = BUILDS / "sample"
_NO_CONFIGS = frozenset({*OTHER_FOLDERS, UNNAMED, DEFAULT})
_SPLIT = re.compile(r"(?P<split>\w+(?:\.\w+)*?)(?:-\d+-of-\d+)?\.parquet", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """All rows of one edition."""

    #: What the user called it.
    name: str
    #: Where its files are.
    folder: Path
    #: At least `COLUMNS`; in benchmark order. Other columns come from the files.
    rows: pl.DataFrame

    @property
    def is_of_the_benchmark(self) -> bool:
        """Whether it is a build, or holds one of the ten configs at least."""
        built = (self.folder / _MANIFEST).is_file()
        return built or bool(self.rows["config"].is_in(CONFIGS).any())


def open_edition(where: str) -> Edition:
    """Open the edition in a folder or a dataset on the Hub.

    A Hub dataset is `owner/name` or `owner/name@revision`; an existing folder of
    that name comes first.

    Raises:
        NoInput: no such folder exists, or no rows in it.
        BadData: a file in it cannot be read.
        CsbdataError: the Hub cannot be reached.

    Example:
        >>> edition = open_edition("epfl-dlab/JSONSchemaBench@main")
        >>> edition.rows.select("config", "unique_id", "json_schema")
    """
    folder = Path(where)
    if folder.is_dir():
        return _opened(where, folder)
    dataset = dataset_name(where)
    if dataset and not folder.exists():
        from curation.download.huggingface import hub_snapshot  # noqa: PLC0415 - heavy, rarely asked

        return _opened(where, hub_snapshot(dataset.name, dataset.revision))
    raise NoInput(
        "no such folder", where, "csbdata build makes one; owner/name is on the Hub"
    )


def _opened(name: str, folder: Path) -> Edition:
    import polars as pl  # noqa: PLC0415 - all commands import this module, few a table

    frames = [
        frame
        for config in config_names(folder)
        for frame in _rows_of_config(folder / config, config)
    ]
    if not frames:
        raise NoInput("no <config>/*.parquet or <config>/*.json in it", str(folder))
    try:
        rows = pl.concat(frames, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as error:
        raise other_version(error, folder) from error
    return Edition(name=name, folder=folder, rows=rows)


def config_names(folder: Path) -> list[str]:
    """Return the folders of an edition that hold schemas, in benchmark order."""
    names = [
        path.name
        for path in folder.iterdir()
        if path.is_dir() and path.name not in _NO_CONFIGS and path.name[0] != "."
    ]
    return in_benchmark_order(names)


def split_of_file(path: Path) -> str | None:
    """Return the split in a table's name; None if none exists."""
    match = _SPLIT.fullmatch(path.name)
    return match["split"] if match else None


def _rows_of_config(folder: Path, config: str) -> Iterator[pl.DataFrame]:
    """Yield the tables of a config, otherwise one with a row for each file of JSON."""
    import polars as pl  # noqa: PLC0415 - as above

    from curation.dataset.parquet import refuse_other_columns  # noqa: PLC0415 - heavy

    tables = sorted(folder.glob("*.parquet"))
    for path in tables:
        with reading_parquet(path):
            rows = pl.read_parquet(path, glob=False)
        missing = [name for name in COLUMNS[2:] if name not in rows.columns]
        if missing:
            raise BadConfiguration(f"no column {', '.join(missing)}", str(path))
        refuse_other_columns(rows, path)
        split = pl.lit(split_of_file(path), dtype=pl.String)
        added = rows.with_columns(config=pl.lit(config), split=split)
        yield added.select(*COLUMNS, pl.exclude(COLUMNS))
    files = [
        refuse_unprintable(path) for path in folder.glob("*.json") if path.is_file()
    ]
    if tables or not files:
        return
    schemas = []
    for path in sorted(files, key=lambda path: natural_key(path.stem)):
        content = refuse_large(path).read_bytes()
        value = parse(content)
        if isinstance(value, Rejected):  # Broken text stays as it is.
            text = content.decode("utf-8", "replace")
        else:
            text = write(value)
        schemas.append((config, None, path.stem, text))
    columns = dict.fromkeys(COLUMNS, pl.String)
    yield pl.DataFrame(schemas, schema=columns, orient="row")


def instance_tables(folder: Path, config: str) -> list[Path]:
    """Return the tables of a config's instances in order."""
    return sorted((folder / instances_folder(config)).glob("*.parquet"))
