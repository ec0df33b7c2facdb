"""The user's own schemas: a folder, a JSONL file or a parquet file.

A folder holds one schema a file, JSON or by its name YAML; a file that holds an object
with `json_schema` is a row like those of a table. A line of JSONL is a schema, or a
row: an object with `json_schema` and, if it is to have a name, `unique_id`. A parquet
file has columns of these names.
"""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet

from curation.core.benchmark import natural_key
from curation.core.documents import Rejected
from curation.json import text as jsontext
from curation.json.yaml_reader import SUFFIXES, parse_yaml
from curation.sources.base import Reading, Source
from curation.sources.claims.identifiers import claimed_uris
from curation.sources.readers import document, own_uri
from curation.system.errors import BadConfiguration, BadData, NoInput

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from curation.core.documents import RawDocument

_NAME = "local"
_SCHEMA, _ID = "json_schema", "unique_id"
_JSON = ".json"
#: The files of a folder that are read.
_READ = (_JSON, *SUFFIXES)


def _table(reading: Reading) -> str | None:
    """Return the path of the table, where the input is a file and no folder."""
    paths = reading.files.paths
    if len(paths) == 1 and paths[0].endswith((".jsonl", ".parquet")):
        return paths[0]
    return None


def _in_folder(reading: Reading) -> list[str]:
    return [path for path in reading.files.paths if path.endswith(_READ)]


def json_lines(content: bytes) -> Iterator[tuple[int, str | None, bytes]]:
    """Yield the row number, the id if it has one, and the text of each schema.

    Rows count from 1 and are lines; empty lines are left out.
    """
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        yield number, *_row(line.strip())


def _row(content: bytes) -> tuple[str | None, bytes]:
    """Return the id, if there is one, and the text of a schema or of a row."""
    row = jsontext.parse(content) if _SCHEMA.encode() in content else None
    if not (isinstance(row, dict) and _SCHEMA in row):
        return None, content
    schema, unique_id = row[_SCHEMA], row.get(_ID)
    text = schema if isinstance(schema, str) else jsontext.write(schema)
    return unique_id if isinstance(unique_id, str) else None, text.encode()


def parquet_rows(content: bytes, path: str) -> Iterator[tuple[int, str | None, bytes]]:
    """Yield the same of a parquet file; a null schema is an empty text.

    Raises:
        BadData: it is not parquet, or lacks one of the two columns as text.
    """
    try:
        file = pyarrow.parquet.ParquetFile(pa.BufferReader(content))
        lacking = {_SCHEMA, _ID}.difference(file.schema_arrow.names)
        if lacking:
            raise BadData(f"lacks the column {min(lacking)}", path)
        number = 0
        for batch in file.iter_batches(columns=[_SCHEMA, _ID]):
            texts = batch.column(_SCHEMA).cast(pa.large_binary()).to_pylist()
            ids = batch.column(_ID).cast(pa.large_string()).to_pylist()
            for text, unique_id in zip(texts, ids, strict=True):
                number += 1
                yield number, unique_id, text or b""
    except (pa.ArrowException, OSError) as error:
        raise BadData("not a parquet file that can be read", path) from error


def made_unique(
    rows: Iterable[tuple[int, str | None, bytes]], stem: str
) -> Iterator[tuple[int, str, bytes]]:
    """Give every row an id of its own, even where the file repeats one.

    A row without one is `<stem>-<row number>`. Of rows with one id the first keeps
    it; the others get `-` and 8 hex digits of their text's sha256, and then a
    count from 2.
    """
    taken: set[str] = set()
    for number, given, content in rows:
        unique_id = given or f"{stem}-{number}"
        if unique_id in taken:
            unique_id += "-" + hashlib.sha256(content).hexdigest()[:8]
        first, count = unique_id, 1
        while unique_id in taken:
            count += 1
            unique_id = f"{first}-{count}"
        taken.add(unique_id)
        yield number, unique_id, content


def unread_files(paths: Sequence[str]) -> list[str]:
    """Return a user's own files that are not read: no JSON or YAML by name.

    Args:
        paths: What the folder holds, or the one file.

    Raises:
        NoInput: none of them is read.
    """
    if len(paths) == 1 and paths[0].endswith((".jsonl", ".parquet")):
        return []
    unread = [path for path in paths if not path.endswith(_READ)]
    if len(unread) == len(paths):
        what = f"no .json or .yaml file among {len(paths)}"
        what = what if paths else "no file in it"
        then = "say each as JSON or YAML, or all as one .jsonl or .parquet file"
        raise NoInput(what, ", ".join(unread[:3]), then)
    return unread


def _config(reading: Reading) -> str:
    if not reading.config:
        raise BadConfiguration("the user's own schemas need the name of a config")
    return reading.config


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield the user's schemas under the config that the user named.

    Raises:
        BadConfiguration: no config is named.
        BadData: a parquet file cannot be read.
    """
    config, table = _config(reading), _table(reading)
    if table is None:
        yield from _read_folder(reading, config)
        return
    content = reading.files.read(table)
    rows = json_lines(content)
    if table.endswith(".parquet"):
        rows = parquet_rows(content, table)
    stem = PurePosixPath(table).stem
    for number, unique_id, text in sorted(
        made_unique(rows, stem), key=lambda row: natural_key(row[1])
    ):
        yield document(
            reading,
            source=_NAME,
            config=config,
            unique_id=unique_id,
            path=f"{table}#{number}",
            content=text,
        )


def _read_folder(reading: Reading, config: str) -> Iterator[RawDocument]:
    for path in sorted(_in_folder(reading), key=natural_key):
        yield document(
            reading,
            source=_NAME,
            config=config,
            unique_id=_unique_id(path, reading.files.paths),
            path=path,
            base_uri=own_uri(_NAME, path),
            content=_row(_as_json(path, reading.files.read(path)))[1],
        )


def _unique_id(path: str, paths: Container[str]) -> str:
    """Return the path without its suffix; with it where a JSON file is called so."""
    stem, _, suffix = path.rpartition(".")
    return stem if f".{suffix}" == _JSON or stem + _JSON not in paths else path


def _as_json(path: str, content: bytes) -> bytes:
    """Return a file's text; a YAML file's as JSON, where it is YAML indeed."""
    if path.endswith(_JSON):
        return content
    value = parse_yaml(content)
    return content if isinstance(value, Rejected) else jsontext.write(value).encode()


def uris(reading: Reading) -> Mapping[str, str]:
    """Return where a folder's files stand, and the URIs that they claim."""
    if _table(reading) is not None:
        return {}
    paths = _in_folder(reading)
    places = {own_uri(_NAME, path): path for path in paths}
    return claimed_uris(reading.files, paths) | places


SOURCE = Source(
    name=_NAME,
    title="Schemas of your own",
    # The user names the config: `Reading.config`.
    configs=(),
    # The files come from the command line, not from an archive.
    archives={"paper": (), "clean": ()},
    read=read,
    uris=uris,
    extra=True,
)
