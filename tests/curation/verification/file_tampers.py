"""Changes to files: how tables are written, what else lies there, what they hold."""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from curation.dataset import parquet
from curation.dataset.ledger import CHANGES
from curation.dataset.parquet import parquet_writer
from curation.verification.derived import DERIVED
from curation.verification.files import DIGESTS, STRAYS
from curation.verification.texts import TEXTS
from tests.curation.verification.tampering import (
    FIRST,
    INSTANCES,
    RECORDS,
    all_of,
    copy_of,
    instance,
    record,
    schema,
    tampers,
    text_file,
    where,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.core.json_types import UntypedJson

TOKEN = "ghp_" + "Z4kQ9rT2xW7bN5mJ8cL3" + "vH6yD1fG0sPqA2eU"


def _remade(change: Callable[[pq.ParquetFile, Path], None]) -> Callable[[Path], None]:
    """Return what writes the table of records with pyarrow in another way."""

    def do(folder: Path) -> None:
        path = folder / RECORDS
        with pq.ParquetFile(path) as file:
            change(file, folder / "again")
        (folder / "again").replace(path)

    return do


def _with_options(**options: UntypedJson) -> Callable[[Path], None]:
    def change(file: pq.ParquetFile, path: Path) -> None:
        pq.write_table(file.read(), path, **options)

    return _remade(change)


def _with_metadata(key: bytes, value: bytes) -> Callable[[Path], None]:
    def change(file: pq.ParquetFile, path: Path) -> None:
        rows = file.read()
        metadata = {**(rows.schema.metadata or {}), key: value}
        pq.write_table(rows.replace_schema_metadata(metadata), path)

    return _remade(change)


def _with_field_metadata(file: pq.ParquetFile, path: Path) -> None:
    rows = file.read()
    field = rows.schema.field(0).with_metadata({b"note": TOKEN.encode()})
    columns = rows.schema.set(0, field)
    pq.write_table(rows.cast(columns), path)


def _with_a_gap(folder: Path) -> None:
    """Put bytes before the footer of a table, where no reader looks."""
    path = folder / RECORDS
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[:start] + TOKEN.encode() + content[start:])


def _large(folder: Path) -> None:
    name = {"description": "x" * 3_000_000}
    record(**schema(name))(folder)
    form, rows = parquet.RECORDS, pq.read_table(folder / RECORDS)
    path = folder / RECORDS
    with parquet_writer(path, form.columns, distinct=form.distinct) as writer:
        writer.write_table(rows.cast(form.columns))


def _link(target: str) -> Callable[[Path], None]:
    def do(folder: Path) -> None:
        (folder / "LICENSE").unlink()
        (folder / "LICENSE").symlink_to(target)

    return do


def _made(path: str) -> Callable[[Path], object]:
    return lambda folder: (folder / path).mkdir(parents=True)


FILE_TAMPERS = list(
    chain(
        tampers(
            DERIVED,
            ("metadata", _with_metadata(b"note", b"mine"), "its bytes are not those"),
            (
                "metadata of a column",
                _remade(_with_field_metadata),
                "its bytes are not those",
            ),
            ("between the pages", _with_a_gap, "its bytes are not those"),
            ("compression", _with_options(compression="gzip"), "its bytes are not"),
            ("row groups", _with_options(row_group_size=1), "its bytes are not those"),
            ("a large row among others", _large, "its bytes are not those"),
            ("no page index", _with_options(), "its bytes are not those"),
        ),
        tampers(
            TEXTS,
            ("token in metadata", _with_metadata(b"n", TOKEN.encode()), "its metadata"),
            (
                "token in metadata of a column",
                _remade(_with_field_metadata),
                "its metadata",
            ),
            (
                "token in a schema",
                record(**schema({"const": TOKEN})),
                "column json_schema",
            ),
            ("token in an edit", where(CHANGES, FIRST, before=TOKEN), "column before"),
            ("token in an instance", instance("text", f'"{TOKEN}"'), "column text"),
            ("token in a text", text_file("NOTES.md", TOKEN), "NOTES.md"),
            ("token in a name", text_file(f"{TOKEN}.txt", ""), "the name of a file"),
        ),
        tampers(
            STRAYS,
            ("binary file", lambda f: (f / "a.bin").write_bytes(b"\xff"), "no text"),
            ("another table", copy_of(RECORDS, "Github_easy/more.parquet"), "no build"),
            (
                "table below a config",
                copy_of(RECORDS, RECORDS.replace("/", "/more/")),
                "no build",
            ),
            (
                "instances that a pattern meets",
                copy_of(INSTANCES, INSTANCES.replace(".pq", ".parquet")),
                "no build",
            ),
            (
                "instances where configs are",
                copy_of(INSTANCES, INSTANCES.replace("instances/", "")),
                "no build",
            ),
            ("git", _made(".git/objects"), "git's own folder"),
            ("worktree", text_file(".git", "gitdir: /tmp"), "git's own folder"),
            ("empty folder", _made("Github_easy/empty"), "an empty folder"),
            (
                "cache",
                all_of(_made(".cache/mine"), text_file(".cache/mine/a", "a")),
                "no note of the Hub's client",
            ),
        ),
        tampers(
            STRAYS,
            ("link out", _link("/etc/hostname"), "leads out of the folder"),
            ("link to a folder", _link("ledger"), "a symbolic link to a folder"),
            ("pipe", lambda folder: os.mkfifo(folder / "pipe"), "neither a file nor"),
            ("unreadable", lambda f: (f / "LICENSE").chmod(0), "may not be read"),
            then_card=False,
        ),
        tampers(
            DIGESTS,
            ("file removed", lambda folder: (folder / "LICENSE").unlink(), "missing"),
            ("file added", text_file("thesis.txt", "mine"), "not listed"),
            ("file changed", text_file("LICENSE", "mine"), "changed"),
            (
                "list removed",
                lambda folder: (folder / "SHA256SUMS").unlink(),
                "missing",
            ),
            then_card=False,
        ),
    )
)
