"""Whoever changes a folder is noticed: a table of ways, each with who notices.

Only a schema that is edited together with all that follows from it, its instances and
its row of the ledger included, is found by nothing but the signature.
"""

from __future__ import annotations

import os
from itertools import chain
from shutil import copytree
from typing import TYPE_CHECKING

import polars as pl
import pyarrow.parquet as pq
import pytest

from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.instances.dataset.parquet import (
    DISAGREEMENTS,
    INSTANCE_LEDGER,
    MISSING,
    UNREACHED,
)
from curation.packaging.plots.plot_process import PlotProcess
from curation.verification.checks.canary import CANARY
from curation.verification.checks.counts import COUNTS
from curation.verification.checks.credentials import CREDENTIALS
from curation.verification.checks.digests import DIGESTS
from curation.verification.checks.identity import IDENTITY
from curation.verification.checks.instances import INSTANCES as JUDGED
from curation.verification.checks.leakage import LEAKAGE
from curation.verification.checks.schemas import SCHEMAS
from curation.verification.checks.viewer import VIEWER
from curation.verification.derivations.encoding import ENCODING
from curation.verification.derivations.facts import FACTS
from curation.verification.derivations.ledger_tables import LEDGER_TABLES
from curation.verification.derivations.provenance import PROVENANCE
from curation.verification.derivations.strays import STRAYS
from tests.curation.verification.tampering import (
    INSTANCES,
    RECORDS,
    Tamper,
    all_of,
    both,
    card_again,
    cell,
    manifest,
    record,
    rewrite,
    said_here,
    schema,
    where,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.packaging.plots.plot_messages import PaperTables
    from curation.verification.core.check import FolderCheck

TOKEN = "ghp_" + "Z4kQ9rT2xW7bN5mJ8cL3" + "vH6yD1fG0sPqA2eU"
_KEPT = pl.col("outcome") == "kept"
_SOME = pl.col("document") % 50 == 0
_COPY = pl.col("rule") == "duplicates"
_NEAR_MISS = pl.col("kind") == "near_miss"
_FIRST = pl.int_range(pl.len()) == 0


def _row(name: str, value: object) -> Callable[[Path], None]:
    return where(INSTANCES, _FIRST, **{name: value})


def _near_miss(name: str, value: object) -> Callable[[Path], None]:
    return where(INSTANCES, _NEAR_MISS, **{name: value})


def _text(path: str, content: str) -> Callable[[Path], object]:
    return lambda folder: (folder / path).write_text(content)


def _edited(path: str, old: bytes, new: bytes) -> Callable[[Path], object]:
    def do(folder: Path) -> None:
        content = (folder / path).read_bytes()
        assert old in content
        (folder / path).write_bytes(content.replace(old, new, 1))

    return do


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
    rows = pq.read_table(folder / RECORDS)
    pq.write_table(rows, folder / RECORDS)


def _moved(folder: Path) -> None:
    moved = pl.read_parquet(folder / RECORDS).head(1)
    rewrite(RECORDS, lambda rows: rows.slice(1))(folder)
    other = RECORDS.replace("train", "test")
    rewrite(other, lambda rows: pl.concat([moved, rows]))(folder)


def _copied(folder: Path) -> None:
    copy = pl.read_parquet(folder / RECORDS).head(1)
    rewrite(
        "Snowplow/train-00000-of-00001.parquet",
        lambda rows: pl.concat([copy, rows]),
    )(folder)


def _member(name: str, value: UntypedJson) -> Callable[[Path], None]:
    return manifest(lambda stated: stated.update({name: value}))


def _pin(name: str, value: str) -> Callable[[Path], None]:
    return manifest(lambda stated: stated["pins"][0].update({name: value}))


def _link(target: str) -> Callable[[Path], None]:
    def do(folder: Path) -> None:
        (folder / "LICENSE").unlink()
        (folder / "LICENSE").symlink_to(target)

    return do


def _doubled(rows: pl.DataFrame) -> pl.DataFrame:
    last = rows.tail(1).with_columns(pl.col("document") + 1)
    return pl.concat([rows, last])


def _listed_disagreement(folder: Path) -> None:
    """List an instance on which the validators agree."""
    row = pl.read_parquet(folder / INSTANCES).row(0, named=True)
    listed = {
        **{name: row[name] for name in ("unique_id", "number", "kind", "text")},
        "config": "Github_easy",
        "dialect": "draft-07",
        "jsonschema_rs": True,
        "jsonschema": False,
        "verdicts": row["verdicts"],
    }
    rewrite(
        DISAGREEMENTS,
        lambda rows: pl.concat([rows, pl.DataFrame([listed], schema=rows.schema)]),
    )(folder)


def _made(path: str) -> Callable[[Path], object]:
    return lambda folder: (folder / path).mkdir(parents=True)


def _copy_of(path: str, to: str) -> Callable[[Path], object]:
    def do(folder: Path) -> None:
        (folder / to).parent.mkdir(exist_ok=True)
        (folder / to).write_bytes((folder / path).read_bytes())

    return do


_RELEASED = all_of(
    _member("data_version", "2.0.0"),
    _text(
        "CHANGELOG.md", "# Changelog\n\n## 2.0.0\n\nThe first release: 308 records.\n"
    ),
)


def _tampers(
    check: FolderCheck,
    *listed: tuple[str, Callable[[Path], object], str],
    then_card: bool = True,
) -> list[Tamper]:
    return [
        Tamper(name=name, do=do, check=check, said=said, then_card=then_card)
        for name, do, said in listed
    ]


TAMPERS = list(
    chain(
        _tampers(
            SCHEMAS,
            ("schema edited", record(json_schema='{"type": "null"}'), "sha256 is not"),
            ("schema respelt", record(json_schema="{ }"), "as a build writes it"),
            ("schema invalid", record(**schema({"type": "strnig"})), "invalid under"),
            ("dialect", record(dialect="draft-05"), "no such dialect"),
            ("dialect found", record(dialect_found="guessed"), "dialect_found is"),
            ("valid under", record(valid_under=["draft-04"]), "valid_under is"),
            ("field count", record(field_count=10_001), "field_count is 10001"),
            ("fan-out", record(max_fan_out=0), "max_fan_out is 0"),
            ("depth", record(depth=99), "depth is 99"),
            ("size", record(size=1), "size is 1"),
            ("features", record(features=["if"]), "features is"),
            ("formats", record(formats=["uuid"]), "formats is"),
            ("lints", record(lints=["crossed-bounds"]), "lints is"),
            ("digest", record(sha256="0" * 64), "sha256 is not that"),
            ("skeleton", record(skeleton_sha256="0" * 64), "skeleton_sha256 is not"),
        ),
        _tampers(
            COUNTS,
            ("schema and digests", record(**schema({"type": "null"})), "but no row"),
            ("id renamed", record(unique_id="mine"), "not kept in the ledger"),
            ("record removed", rewrite(RECORDS, lambda rows: rows.slice(1)), "no row"),
            ("outcome", where(DOCUMENTS, _KEPT, outcome="empty"), "not kept in"),
        ),
        _tampers(
            COUNTS,
            ("ledger removed", lambda folder: (folder / DOCUMENTS).unlink(), "missing"),
            then_card=False,
        ),
        _tampers(
            COUNTS,
            (
                "instances removed",
                rewrite(INSTANCES, lambda r: r.slice(9)),
                "instances in",
            ),
            ("instances' record", _row("unique_id", "mine"), "instances in the ledger"),
        ),
        _tampers(
            IDENTITY,
            ("no id", record(unique_id=""), "a record without an id"),
            (
                "same id",
                rewrite(RECORDS, lambda r: r.with_columns(unique_id=pl.lit("o1"))),
                "have this id",
            ),
            ("order", rewrite(RECORDS, lambda r: r.reverse()), "natural order"),
        ),
        _tampers(
            LEAKAGE,
            ("moved to another split", _moved, "its key belongs in train"),
            ("copied to another config", _copied, "the same schema as"),
        ),
        _tampers(
            PROVENANCE,
            ("source", record(source="kubernetes"), "source is 'kubernetes', but"),
            ("path", record(path="elsewhere.json"), "path is 'elsewhere.json', but"),
            ("commit", record(commit="f" * 40), "but 'sample' in the ledger"),
            ("licence", record(licence="MIT"), "licence is 'MIT', but"),
            ("origin", record(origin="upstream"), "origin is 'upstream', but"),
            ("source, both", both(source="local"), "no pin of local"),
            ("path, both", both(path="elsewhere.json"), "none that is read of"),
            ("commit, both", both(commit="f" * 40), "commit ffff"),
            ("licence, both", both(licence="MIT"), "the sample's is Apache-2.0"),
            ("origin, both", both(origin="upstream"), "of origin upstream"),
            ("changes", record(changes=["wrap"]), "changes is ['wrap'], but"),
            ("repaired", record(repaired=["wrap"]), "repaired is ['wrap'], unlike"),
            ("edits", rewrite(CHANGES, lambda rows: rows.head(0)), "changes is"),
        ),
        _tampers(
            LEDGER_TABLES,
            (
                "outcome unknown",
                cell(DOCUMENTS, 0, {"outcome": "lost"}),
                "there is not",
            ),
            (
                "split cleared",
                where(DOCUMENTS, _KEPT & _SOME, split=""),
                "a split and no rule",
            ),
            ("a copy's first", where(DOCUMENTS, _COPY, detail="a/b"), "no copy of"),
            ("numbers", rewrite(DOCUMENTS, lambda rows: rows.slice(1)), "one by one"),
            ("twice", rewrite(DOCUMENTS, _doubled), "stands there twice"),
            ("stray edit", where(CHANGES, _FIRST, document=99_999), "of no document"),
            ("one label", where(INSTANCES, _FIRST, valid=False), "witness that is not"),
            ("kind", _near_miss("kind", "minimal"), "near miss that is valid"),
            ("kind unknown", _row("kind", "mine"), "a kind that there is not"),
            ("number", _row("number", 77), "not numbered one by one"),
            (
                "agreed",
                where(INSTANCE_LEDGER, _FIRST, agreed=99),
                "agreed is not what",
            ),
            ("disputed", where(INSTANCE_LEDGER, _FIRST, disputed=9), "disputed is not"),
            ("answer", where(INSTANCE_LEDGER, _FIRST, answer="unknown"), "the answer"),
            (
                "pairs",
                where(INSTANCE_LEDGER, _FIRST, pairs=999, keywords=99),
                "missing",
            ),
            ("disagreements", _listed_disagreement, "on which the validators differ"),
            (
                "missing pairs",
                rewrite(MISSING, lambda rows: rows.head(0)),
                "not as many",
            ),
            (
                "table of others",
                _copy_of(MISSING, "ledger/mine.parquet"),
                "no table of",
            ),
            (
                "unreached dropped",
                rewrite(UNREACHED, lambda rows: rows.head(0)),
                "unreached places",
            ),
            ("report removed", lambda folder: (folder / MISSING).unlink(), "without"),
        ),
        _tampers(
            JUDGED,
            (
                "labels",
                rewrite(INSTANCES, lambda r: r.with_columns(valid=~pl.col("valid"))),
                "valid is",
            ),
            ("texts", _near_miss("text", "{}"), "instance"),
            ("keyword", _near_miss("keyword", "const"), "const at"),
            ("schema pointer", _near_miss("schema_pointer", "/x"), "at /x"),
            ("instance pointer", _near_miss("instance_pointer", "/x"), "instance"),
            (
                "verdicts",
                _near_miss(
                    "verdicts",
                    '{"jsonschema_rs": [true, true], "jsonschema": [true, true]}',
                ),
                "are not those of the validators",
            ),
        ),
        _tampers(
            FACTS,
            ("partial", _member("partial", []), "`partial` does not"),
            ("partial, one", _member("partial", ["Snowplow: small."]), "does not say"),
            ("name", _member("name", "JSONSchemaBench"), "`name` is"),
            ("version", _member("data_version", "2.0.0"), "without CHANGELOG.md"),
            ("no version", _member("data_version", "new"), "no version"),
            ("version's major", _member("data_version", "3.0.0-dev"), "the canary"),
            (
                "version ahead of changelog",
                all_of(_RELEASED, _member("data_version", "2.0.1")),
                "CHANGELOG.md ends with 2.0.0",
            ),
            (
                "records of the changelog",
                all_of(_RELEASED, _edited("CHANGELOG.md", b"308", b"999")),
                "says 999 records",
            ),
            ("day", _member("released", "2026-01-01"), "not released"),
            ("rule set", _member("rules", "paper"), "`rule_list` lacks paper"),
            (
                "rule dropped",
                manifest(lambda stated: stated["rule_list"].pop()),
                "`rule_list` lacks",
            ),
            (
                "rule reworded",
                manifest(lambda stated: stated["rule_list"][0].update(summary="x")),
                "in its own words",
            ),
            (
                "rule unknown",
                where(DOCUMENTS, _COPY, rule="mine"),
                "lacks mine, of which the ledger tells",
            ),
            ("extras", _member("extras", ["Acme"]), "`extras` is ['Acme']"),
            ("options", _member("options", []), "`options` lacks 'instances'"),
            (
                "options, more",
                _member("options", ["instances", "fastjsonschema"]),
                "`options` has 'fastjsonschema'",
            ),
            (
                "versions",
                manifest(lambda stated: stated["versions"].update(pyarrow="1")),
                "not by pyarrow 1",
            ),
            ("pin's commit", _pin("commit", "f" * 40), "commit of the pin"),
            ("pin's digest", _pin("sha256", "0" * 64), "sha256 of the pin"),
            ("pin's licence", _pin("licence", "MIT"), "licence of the pin"),
            ("pin's authors", _pin("attribution", "me"), "attribution of the pin"),
            ("pin's address", _pin("url", "https://x.test"), "url of the pin"),
            ("pin's archive", _pin("archive", "mine"), "no archive 'mine'"),
        ),
        _tampers(CANARY, ("canary", _member("canary", "x" * 36), "without the canary")),
        _tampers(
            ENCODING,
            ("metadata", _with_metadata(b"note", b"mine"), "has 'note', which no"),
            ("metadata of a column", _remade(_with_field_metadata), "says more"),
            ("between the pages", _with_a_gap, "its bytes are not those"),
            ("compression", _with_options(compression="gzip"), "its bytes are not"),
            ("row groups", _with_options(row_group_size=1), "its row groups are not"),
        ),
        _tampers(
            CREDENTIALS,
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
            ("token in an edit", where(CHANGES, _FIRST, before=TOKEN), "column before"),
            ("token in an instance", _row("text", f'"{TOKEN}"'), "column text"),
            ("token in a text", _text("CHANGELOG.md", TOKEN), "CHANGELOG.md"),
            ("token in a name", _text(f"{TOKEN}.txt", ""), "the name of a file"),
        ),
        _tampers(
            VIEWER,
            ("large row", _large, "stands alone"),
            ("no page index", _with_options(), "pages are not indexed"),
        ),
        _tampers(
            STRAYS,
            ("binary file", lambda f: (f / "a.bin").write_bytes(b"\xff"), "no text"),
            (
                "another table",
                _copy_of(RECORDS, "Github_easy/more.parquet"),
                "no build",
            ),
            ("git", _made(".git/objects"), "git's own folder"),
            ("empty folder", _made("Github_easy/empty"), "an empty folder"),
            (
                "cache",
                all_of(_made(".cache/mine"), _text(".cache/mine/a", "a")),
                "no note of the Hub's client",
            ),
        ),
        _tampers(
            STRAYS,
            ("link out", _link("/etc/hostname"), "leads out of the folder"),
            ("link to a folder", _link("ledger"), "a symbolic link to a folder"),
            ("pipe", lambda folder: os.mkfifo(folder / "pipe"), "neither a file nor"),
            ("unreadable", lambda f: (f / "LICENSE").chmod(0), "may not be read"),
            then_card=False,
        ),
        _tampers(
            DIGESTS,
            ("file removed", lambda folder: (folder / "LICENSE").unlink(), "missing"),
            ("file added", _text("thesis.txt", "mine"), "not listed"),
            ("file changed", _text("LICENSE", "mine"), "changed"),
            (
                "list removed",
                lambda folder: (folder / "SHA256SUMS").unlink(),
                "missing",
            ),
            then_card=False,
        ),
    )
)


@pytest.fixture(scope="session")
def tables(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> PaperTables | None:
    """Return the tables of the card, which take long to compute."""
    with PlotProcess(sound) as drawing:
        return drawing.finish(tmp_path_factory.mktemp("plots"))


def test_the_table_of_tampers_is_long() -> None:
    """Sixty kinds at least, each once."""
    names = [tamper.name for tamper in TAMPERS]
    assert len(set(names)) == len(names) >= 60


@pytest.mark.slow
@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.name)
def test_a_tampered_folder_is_noticed(
    tamper: Tamper, sound: Path, tmp_path: Path, tables: PaperTables | None
) -> None:
    """By the check that answers for it, even after the card was written anew."""
    folder = copytree(sound, tmp_path / "built", symlinks=True)
    tamper.do(folder)
    if tamper.then_card:
        card_again(folder, tables)
    said = said_here(tamper.check, folder)
    assert any(tamper.said in line for line in said), said


@pytest.mark.slow
@pytest.mark.parametrize(
    "check",
    list({tamper.check.name: tamper.check for tamper in TAMPERS}.values()),
    ids=lambda check: check.name,
)
def test_a_card_written_anew_changes_nothing(
    check: FolderCheck, sound: Path, tmp_path: Path, tables: PaperTables | None
) -> None:
    """Of a folder that nobody has tampered with, no check says anything."""
    folder = copytree(sound, tmp_path / "built")
    card_again(folder, tables)
    assert said_here(check, folder) == []
