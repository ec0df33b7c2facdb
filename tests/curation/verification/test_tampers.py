"""Whoever changes a folder is noticed: a table of ways, each with who notices.

Only a schema that is edited together with all that follows from it, its instances and
its row of the ledger included, is found by nothing but a new build.
"""

from __future__ import annotations

import os
from functools import partial
from itertools import chain
from shutil import copytree
from typing import TYPE_CHECKING

import polars as pl
import pyarrow.parquet as pq
import pytest

from curation.dataset import parquet
from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.dataset.parquet import parquet_writer
from curation.instances.dataset.parquet import DISAGREEMENTS, INSTANCE_LEDGER, MISSING
from curation.verification.files import STRAYS, TEXTS
from curation.verification.labels import LABELS
from curation.verification.records import LEAKAGE, ROWS
from curation.verification.tables import DERIVED
from tests.curation.verification.tampering import (
    COPIES,
    EVERY,
    FIRST,
    INSTANCES,
    KEPT,
    RECORDS,
    Tamper,
    all_of,
    both,
    card_again,
    cell,
    copy_of,
    manifest,
    record,
    rewrite,
    said_here,
    schema,
    tampers,
    text_file,
    where,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.verification.check import FolderCheck


#: Sets columns of an instance, of every near miss, of every row about instances.
instance = partial(where, INSTANCES, FIRST)
near_miss = partial(where, INSTANCES, pl.col("kind") == "near_miss")
ledger_row = partial(where, INSTANCE_LEDGER, EVERY)


def _with_the_id_of_another(rows: pl.DataFrame) -> pl.DataFrame:
    first, last = rows.head(1), rows["unique_id"][-1]
    return pl.concat([first.with_columns(unique_id=pl.lit(last)), rows.slice(1)])


def _doubled(rows: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([rows.head(1), rows])


def _document_twice(rows: pl.DataFrame) -> pl.DataFrame:
    last = rows.tail(1).with_columns(pl.col("document") + 1)
    return pl.concat([rows, last])


def _moved(folder: Path) -> None:
    moved = pl.read_parquet(folder / RECORDS).head(1)
    rewrite(RECORDS, lambda rows: rows.slice(1))(folder)
    rewrite(_TEST, lambda rows: pl.concat([moved, rows]))(folder)


def _copied(folder: Path) -> None:
    copy = pl.read_parquet(folder / RECORDS).head(1)
    rewrite(_OTHER, lambda rows: pl.concat([copy, rows]))(folder)


def _in_two_splits(folder: Path) -> None:
    """Copy a record into another config and split under another name."""
    name = pl.lit("copy")
    copy = pl.read_parquet(folder / _OTHER).head(1).with_columns(unique_id=name)
    rewrite(_TEST, lambda rows: pl.concat([rows, copy]))(folder)


def _larger(folder: Path) -> None:
    """Move a record into the next size, with all that tells of it."""
    larger = RECORDS.replace("easy", "medium")
    moved = pl.read_parquet(folder / RECORDS).head(1)
    name = moved["unique_id"][0]
    rewrite(RECORDS, lambda rows: rows.slice(1))(folder)
    rewrite(larger, lambda rows: pl.concat([moved, rows]))(folder)
    own = (pl.col("unique_id") == name) & _EASY
    where(DOCUMENTS, own, config="Github_medium")(folder)


_TEST = RECORDS.replace("train", "test")
_TWICE, _NOWHERE = '{"a": 1, "a": 2}', {"$ref": "#/nowhere"}
_BOUND = schema({"exclusiveMinimum": True}, "draft-06")
_OTHER = RECORDS.replace("Github_easy", "Snowplow")
_EASY = pl.col("config") == "Github_easy"
#: A repository that no row of the sample comes from.
_HOME = "https://github.com/owner/name"

RECORD_TAMPERS = list(
    chain(
        tampers(
            ROWS,
            ("schema edited", record(json_schema='{"type": "null"}'), "sha256 is "),
            ("schema respelt", record(json_schema="{ }"), "as a build writes it"),
            ("schema invalid", record(**schema({"type": "strnig"})), "invalid under"),
            ("schema cut", record(json_schema="{"), "json_schema is no JSON"),
            ("a name twice", record(json_schema=_TWICE), "json_schema is no JSON"),
            ("no reference", record(**schema(_NOWHERE)), "does not find #/nowhere"),
            ("a reference", record(**schema(_NOWHERE)), "jsonschema-rs refuses it"),
            ("of another draft", record(**_BOUND), "invalid under draft-06"),
            ("dialect", record(dialect="draft-05"), "no such dialect: 'draft-05'"),
            ("dialect found", record(dialect_found="guessed"), "dialect_found is"),
            (
                "dialect words",
                record(dialect_found="declared", dialect_words=["if"]),
                "dialect_words is",
            ),
            ("live size", record(live_size="ultra"), "live_size is ultra"),
            ("valid under", record(valid_under=["draft-04"]), "valid_under is"),
            ("field count", record(field_count=10_001), "field_count is 10001"),
            ("fan-out", record(max_fan_out=0), "max_fan_out is 0"),
            ("depth", record(depth=99), "depth is 99"),
            ("size", record(size=1), "size is 1"),
            ("features", record(features=["if"]), "features is"),
            ("formats", record(formats=["uuid"]), "formats is"),
            ("lints", record(lints=["crossed-bounds"]), "lints is"),
            ("live", record(live=1), "live is 1"),
            ("vacuous", record(vacuous=True), "vacuous is True"),
            ("digest", record(sha256="0" * 64), "sha256 is 0"),
            ("skeleton", record(skeleton_sha256="0" * 64), "skeleton_sha256 is 0"),
            ("split key", record(split_key="0" * 16), "split_key is 0"),
        ),
        tampers(
            ROWS,
            ("schema and digests", record(**schema({"type": "null"})), "but no row"),
            ("id renamed", record(unique_id="mine"), "not kept in the ledger"),
            ("record removed", rewrite(RECORDS, lambda rows: rows.slice(1)), "no row"),
            ("outcome", where(DOCUMENTS, KEPT, outcome="empty"), "not kept in"),
        ),
        tampers(
            ROWS,
            ("ledger removed", lambda folder: (folder / DOCUMENTS).unlink(), "missing"),
        ),
        tampers(
            ROWS,
            ("instances gone", rewrite(INSTANCES, lambda r: r.slice(9)), "as many as"),
            ("instances' record", instance(unique_id="mine"), "are not as many as"),
        ),
        tampers(
            ROWS,
            ("no id", record(unique_id=""), "not kept in the ledger"),
            ("same id", rewrite(RECORDS, _with_the_id_of_another), "not kept in the"),
        ),
        tampers(
            DERIVED,
            ("order", rewrite(RECORDS, lambda r: r.reverse()), "natural order"),
        ),
        tampers(
            LEAKAGE,
            ("moved to another split", _moved, "its schema belongs in train"),
            (
                "moved with another key",
                all_of(_moved, cell(_TEST, 0, {"split_key": "f" * 16})),
                "its schema belongs in train",
            ),
            ("cluster", record(cluster="0" * 64), "cluster is not the smallest"),
            ("weight", record(weight=0.125), "weight is 0.125, but"),
            ("copied to another config", _copied, "the same schema as"),
            ("copied to two splits", _in_two_splits, "same schema as Github_easy/copy"),
            ("in two splits", _in_two_splits, "Github_easy/copy: in split test; its"),
            ("skeleton in two splits", _in_two_splits, "its skeleton in test too"),
            ("copied in its table", rewrite(RECORDS, _doubled), "the same schema as"),
        ),
        tampers(
            LABELS,
            (
                "fastjsonschema's verdict",
                where(RECORDS, EVERY, fastjsonschema="x.Error"),
                "but 'compiles' when made again",
            ),
            ("fits", where(RECORDS, EVERY, fits=["vllm"]), "fits is ['vllm'], but"),
        ),
        tampers(
            ROWS,
            ("config", _larger, "read for Github, it belongs in Github_easy"),
            (
                "config read for",
                where(DOCUMENTS, _EASY, raw_config="Github_easy"),
                "read for Github_easy, it belongs in Github_easy",
            ),
            ("source", record(source="kubernetes"), "source is not that of"),
            ("path", record(path="elsewhere.json"), "path is not that of"),
            ("commit", record(commit="f" * 40), "commit is not that of"),
            ("licence", record(licence="MIT"), "licence is not that of"),
            ("repository", record(original_repository=_HOME), "original_repository is"),
            ("origin", record(origin="upstream"), "origin is not that of"),
            ("source, both", both(source="local"), "no pin in manifest.json"),
            ("commit, both", both(commit="f" * 40), "no pin in manifest.json"),
            ("origin, both", both(origin="upstream"), "no pin in manifest.json"),
            ("changes", record(changes=["wrap"]), "changes is not that of"),
            ("repaired", record(repaired=["wrap"]), "repaired is not what"),
            ("edits", rewrite(CHANGES, lambda rows: rows.head(0)), "changes is not"),
        ),
    )
)


_SOME = pl.col("document") % 50 == 0


def _listed(path: str, **values: object) -> Callable[[Path], None]:
    """List one instance of every record in a table of the ledger."""

    def change(folder: Path) -> None:
        firsts = pl.read_parquet(folder / INSTANCES).unique("unique_id")
        instances = firsts.with_columns(
            pl.lit(value).alias(name)
            for name, value in {
                "config": "Github_easy",
                "dialect": "draft-07",
                **values,
            }.items()
        )
        rewrite(
            path,
            lambda rows: pl.concat(
                [rows, instances.select(rows.columns).cast(rows.schema)]
            ),
        )(folder)

    return change


#: Verdicts of both validators, each with formats and without.
VERDICTS = '{"jsonschema_rs": %s, "jsonschema": %s}'

LEDGER_TAMPERS = list(
    chain(
        tampers(
            LABELS,
            (
                "kind of witness",
                where(INSTANCES, pl.col("kind") == "minimal", kind="random"),
                "kind is ",
            ),
            (
                "order of instances",
                rewrite(INSTANCES, lambda rows: rows.reverse().sort("unique_id")),
                "number is ",
            ),
            (
                "most that there can be",
                ledger_row(pairs_possible=1_000),
                "pairs_possible is ",
            ),
            ("agreed", ledger_row(agreed=99), "agreed is "),
            ("disputed", ledger_row(disputed=9), "disputed is "),
            ("answer", ledger_row(answer="unknown"), "answer is "),
            ("pairs", ledger_row(pairs=999, keywords=99), "pairs is "),
            (
                "disagreements",
                _listed(DISAGREEMENTS, jsonschema_rs=True, jsonschema=False),
                "disagreements.parquet",
            ),
        ),
        # Few records lack a near miss: a sample of the sample may miss them all.
        tampers(
            LABELS,
            (
                "place of a missing near miss",
                where(MISSING, EVERY, schema_pointer="/x"),
                "schema_pointer is ",
            ),
            ("missing pairs", rewrite(MISSING, lambda rows: rows.head(0)), "missing"),
            whole=True,
        ),
        tampers(
            ROWS,
            (
                "outcome unknown",
                cell(DOCUMENTS, 0, {"outcome": "lost"}),
                "that no build writes",
            ),
            (
                "split cleared",
                where(DOCUMENTS, KEPT & _SOME, split=""),
                "a split and no rule",
            ),
            ("a copy's first", where(DOCUMENTS, COPIES, detail="a/b"), "no copy of"),
            ("numbers", rewrite(DOCUMENTS, lambda rows: rows.slice(1)), "one by one"),
            ("twice", rewrite(DOCUMENTS, _document_twice), "stands there twice"),
            ("stray edit", where(CHANGES, FIRST, document=99_999), "of no document"),
            ("one label", instance(valid=False), "witness that is not"),
            ("kind", near_miss(kind="minimal"), "near_misses are not as many"),
            ("kind unknown", instance(kind="mine"), "a kind that no build writes"),
            ("number", instance(number=77), "not numbered one by one"),
            ("table of others", copy_of(MISSING, "ledger/mine.parquet"), "no table of"),
            (
                "all vacuous",
                where(RECORDS, EVERY, vacuous=True),
                "vacuous, but a near miss",
            ),
            (
                "report removed",
                lambda folder: (folder / INSTANCE_LEDGER).unlink(),
                "out",
            ),
        ),
        tampers(
            LABELS,
            (
                "labels",
                rewrite(INSTANCES, lambda r: r.with_columns(valid=~pl.col("valid"))),
                "valid is",
            ),
            ("texts", near_miss(text="{}"), "instance"),
            ("keyword", near_miss(keyword="const"), "keyword is 'const'"),
            (
                "schema pointer",
                near_miss(schema_pointer="/x"),
                "schema_pointer is '/x'",
            ),
            ("instance pointer", near_miss(instance_pointer="/x"), "instance"),
            ("position", near_miss(fails_at=999), "fails_at is 999, but"),
            (
                "verdicts",
                near_miss(verdicts=VERDICTS % ("[true, true]", "[true, true]")),
                "are not those of the validators",
            ),
        ),
    )
)


def _member(name: str, value: UntypedJson) -> Callable[[Path], None]:
    return manifest(lambda stated: stated.update({name: value}))


def _pin(name: str, value: str) -> Callable[[Path], None]:
    return manifest(lambda stated: stated["pins"][0].update({name: value}))


MANIFEST_TAMPERS = list(
    chain(
        tampers(
            ROWS,
            ("partial", _member("partial", []), "`partial` does not"),
            ("name", _member("name", "JSONSchemaBench"), "`name` is"),
            ("rule unknown", where(DOCUMENTS, COPIES, rule="mine"), "its rule is not"),
            ("canary", _member("canary", "x" * 36), "`canary` is"),
            ("extras", _member("extras", ["Acme"]), "`extras` is ['Acme']"),
            ("pin's commit", _pin("commit", "f" * 40), "no pin in manifest.json"),
            ("pin's source", _pin("source", "mine"), "no pin in manifest.json"),
        ),
        tampers(LEAKAGE, ("rule set", _member("rules", "paper"), "its schema belongs")),
    )
)


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
            ("metadata", _with_metadata(b"note", b"mine"), "not written as"),
            (
                "metadata of a column",
                _remade(_with_field_metadata),
                "not written as",
            ),
            ("between the pages", _with_a_gap, "not written as"),
            ("compression", _with_options(compression="gzip"), "not written as"),
            ("row groups", _with_options(row_group_size=1), "not written as"),
            ("a large row among others", _large, "not written as"),
            ("no page index", _with_options(), "not written as"),
        ),
        tampers(
            TEXTS,
            ("token in metadata", _with_metadata(b"n", TOKEN.encode()), "its metadata"),
            (
                "token in metadata of a column",
                _remade(_with_field_metadata),
                "its metadata",
            ),
            ("token in an instance", instance(text=f'"{TOKEN}"'), "column text"),
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
                "instances where configs are",
                copy_of(INSTANCES, "Github_easy/instances.parquet"),
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
        ),
    )
)


TAMPERS = [*RECORD_TAMPERS, *LEDGER_TAMPERS, *MANIFEST_TAMPERS, *FILE_TAMPERS]


def test_the_table_of_tampers_is_long() -> None:
    """Ninety kinds at least, each once."""
    names = [tamper.name for tamper in TAMPERS]
    assert len(set(names)) == len(names) >= 90


@pytest.mark.slow
@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.name)
def test_a_tampered_folder_is_noticed(
    tamper: Tamper, sample_build: Path, tmp_path: Path
) -> None:
    """By the check that answers for it, which reads no card."""
    folder = copytree(sample_build, tmp_path / "built", symlinks=True)
    tamper.do(folder)
    said = said_here(tamper.check, folder, whole=tamper.whole, quick=True)
    assert any(tamper.said in line for line in said), said


@pytest.mark.slow
@pytest.mark.parametrize(
    "check",
    list({tamper.check.name: tamper.check for tamper in TAMPERS}.values()),
    ids=lambda check: check.name,
)
def test_a_card_written_anew_changes_nothing(
    check: FolderCheck, sample_build: Path, tmp_path: Path
) -> None:
    """Of a folder that nobody has tampered with, no check says anything."""
    folder = copytree(sample_build, tmp_path / "built")
    card_again(folder)
    assert said_here(check, folder, quick=True) == []
