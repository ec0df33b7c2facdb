"""What verifying a folder says: nothing of a sound one, one line of each fault."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.core.benchmark import CONFIGS, SPLITS
from curation.dataset.ledger import DOCUMENTS
from curation.instances.dataset.parquet import INSTANCE_LEDGER
from curation.pipeline.read_batches import NO_RULE
from curation.system.errors import Unavailable
from curation.verification import Finding, Verification, verify_folder
from curation.verification.check import CheckItem, group_rows, open_folder
from curation.verification.files import DIGESTS, STRAYS, TEXTS
from curation.verification.labels import LABELS
from curation.verification.records import LEAKAGE, ROWS
from curation.verification.tables import DERIVED, LOADING
from curation.workers.limits import Ending, ProcessResult
from tests.builds import write_build
from tests.curation.credential_examples import examples
from tests.curation.verification.tampering import (
    EVERY,
    INSTANCES,
    RECORDS,
    cell,
    judged,
    lines,
    manifest,
    record,
    rewrite,
    said_by,
    said_here,
    schema,
    where,
)
from tests.curation.verification.test_tampers import TOKEN, VERDICTS

if TYPE_CHECKING:
    from pathlib import Path


def test_a_text_of_ones_own_is_noted_and_a_notice_is_not(tmp_path: Path) -> None:
    """Notices of others keep their own names; a secret in a name is not repeated."""
    folder = write_build(tmp_path / "built")
    for name in ("api_key=s3cr3t-of-mine", "NOTICES/acme/COPYING"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text")
    (note,) = verify_folder(folder, checks=(STRAYS,)).notes
    assert note.where == "api_key=<redacted>"


def test_a_file_that_is_no_text_hides_none_behind_it(tmp_path: Path) -> None:
    """Credentials are searched in every text, whatever stands before it."""
    folder = write_build(tmp_path / "built")
    (folder / "a.bin").write_bytes(b"\xff\x00")
    (folder / "z.txt").write_text(TOKEN)
    (said,) = [line for line in said_here(TEXTS, folder) if "texts" in line]
    assert "z.txt" in said


@pytest.mark.slow
def test_what_it_says_does_not_depend_on_jobs(folder: Path) -> None:
    """One child or three: the same findings in the same order."""
    cell(RECORDS, 2, {"sha256": "0" * 64})(folder)
    cell(RECORDS, 1, {"json_schema": "[]"})(folder)
    checks = [ROWS, TEXTS, LEAKAGE]
    one, three = (verify_folder(folder, jobs=jobs, checks=checks) for jobs in (1, 3))
    assert one == three
    assert one.failures


def test_files_missing_added_and_changed_are_named(folder: Path) -> None:
    """By each list that knows better; what cannot be read is named once."""
    (folder / "LICENSES/Apache-2.0.txt").chmod(0)
    (folder / "LICENSE").unlink()
    (folder / "thesis.txt").write_text("mine")
    (folder / "README.md").write_text("---\n{}\n---\n")
    assert said_by(DIGESTS, folder) == [
        "readable: LICENSES/Apache-2.0.txt: may not be read",
        "digests: LICENSE: missing, but listed in SHA256SUMS",
        "digests: README.md: changed: not the digest in SHA256SUMS",
        "digests: thesis.txt: not listed in SHA256SUMS",
    ]


def test_lists_are_files_too(folder: Path) -> None:
    """Without SHA256SUMS, or with a line that is none, verification fails.

    A list or a card that may not be read is not also missing.
    """
    for name in ("SHA256SUMS", "README.md"):
        (folder / name).chmod(0)
        assert said_by(DIGESTS, folder) == [f"readable: {name}: may not be read"]
        (folder / name).chmod(0o644)
    sums = folder / "SHA256SUMS"
    sums.write_text(sums.read_text() + "rubbish\n")
    (line,) = said_by(DIGESTS, folder)
    assert "SHA256SUMS: not readable" in line
    assert "not a line of checksums" in line
    sums.unlink()
    assert said_by(DIGESTS, folder) == ["digests: SHA256SUMS: missing"]


@pytest.mark.slow
def test_a_build_without_the_columns_of_splits_is_told_so(folder: Path) -> None:
    """An edition of before has no clusters; nothing else of it is judged."""
    pl.read_parquet(folder / RECORDS).drop("cluster").write_parquet(folder / RECORDS)
    assert f"rows: {RECORDS}: no column cluster" in said_here(ROWS, folder)


@pytest.mark.slow
def test_what_paper_rules_keep_is_noted_and_no_failure(folder: Path) -> None:
    """They ask 2020-12 of every schema, and nothing of its own dialect."""
    record(**schema({"type": "strnig"}, "draft-07"))(folder)
    manifest(lambda stated: stated.update(rules="paper"))(folder)
    found = verify_folder(folder, checks=[ROWS])
    assert not [each for each in lines(found) if "invalid under" in each]
    assert ["invalid under" in each.detail for each in found.notes] == [True]


def test_a_schema_that_kills_its_child_costs_one_line(sample_build: Path) -> None:
    """The record's place and how the child ended; the others are judged."""
    contents = open_folder(sample_build)
    item = CheckItem(where=RECORDS, group=0, row=7)
    killed = ProcessResult(ending=Ending.CRASH, detail="killed by SIGSEGV")
    found = ROWS.conclude(contents, [(item, killed)])
    (line,) = map(str, found.findings)
    assert line == (f"rows: {RECORDS}: row 7 of row group 0: crash: killed by SIGSEGV")


@pytest.mark.slow
def test_a_card_that_says_something_else_is_noticed(folder: Path) -> None:
    """One figure changed by hand is enough."""
    card = folder / "README.md"
    card.write_text(card.read_text().replace("307", "308"))
    (folder / "LICENSES/Apache-2.0.txt").write_text("Free.")
    plot = next((folder / "plots").iterdir())
    plot.write_bytes(b"")
    said = said_by(DERIVED, folder)
    wrong = "not computed from this data; csbdata card computes it anew"
    for name in ("README.md", "LICENSES/Apache-2.0.txt"):
        assert f"derived: {name}: {wrong}" in said
    assert f"derived: plots/{plot.name}: {wrong}" in said
    # Another version may write other words and lines: no failure, and no pass.
    manifest(lambda stated: stated["versions"].update(jinja2="1"))(folder)
    found = verify_folder(folder, checks=[DERIVED])
    assert not found.failures
    assert (found.exit_code, "jinja2 1 made it" in str(found.notes[0])) == (69, True)


@pytest.mark.slow
def test_a_config_that_does_not_open_is_named(folder: Path) -> None:
    """One of whose files is cut, and one in a folder of its own is opened, too."""
    (folder / "Snowplow/val-00000-of-00001.parquet").write_bytes(b"PAR1")
    (folder / "mine").mkdir()
    (folder / RECORDS).rename(folder / "mine/train-00000-of-00001.parquet")
    found = verify_folder(folder, checks=[LOADING])
    (said,) = [line for line in lines(found) if line.startswith("loading")]
    assert said.startswith("loading: Snowplow: error: ")
    # All but Snowplow, `mine`, instances, and four tables of the ledger.
    assert found.counted["opened config"] == 2 * len(CONFIGS) + 4


def test_rows_that_do_not_open_are_counted(
    sample_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each split of a config that `datasets` opens with fewer is a finding."""
    opened = SimpleNamespace(num_rows=1)
    monkeypatch.setattr(
        "datasets.load_dataset", lambda _, data_files: dict.fromkeys(data_files, opened)
    )
    found = LOADING.work(sample_build, CheckItem(where="Github_easy")).findings
    assert [finding.where for finding in found] == [
        f"Github_easy/{split}" for split in SPLITS
    ]
    assert found[0].detail.startswith("opens with 1 of ")


def test_findings_beyond_the_first_are_counted(folder: Path) -> None:
    """Twenty of a kind are listed."""
    where(DOCUMENTS, EVERY, rule="mine")(folder)
    more = len(pl.read_parquet(folder / DOCUMENTS)) - 20
    found = [line for line in said_here(ROWS, folder, quick=True) if "its rule" in line]
    assert len(found) == 21
    assert found[-1].startswith(f"rows: {DOCUMENTS}: {more} more: ")


@pytest.mark.slow
def test_columns_are_those_of_a_build(folder: Path) -> None:
    """`datasets` fills a missing column with nulls; here it is named."""
    path = folder / RECORDS
    table = pq.read_table(path)
    deep = table["depth"].cast(pa.string())
    table = table.set_column(table.column_names.index("depth"), "depth", deep)
    pq.write_table(table.drop("json_schema").append_column("mine", deep), path)
    said = [each for each in said_by(DERIVED, folder) if RECORDS in each]
    assert (
        f"derived: {RECORDS}: not the columns of a build: depth, json_schema, mine"
        in said
    )


@pytest.mark.slow
def test_a_document_that_took_too_much_is_no_unknown_rule(folder: Path) -> None:
    """The ledger says `limits` of what was too large or too hungry."""
    copies = pl.col("rule") == "duplicates"
    where(DOCUMENTS, copies, outcome="out_of_memory", rule=NO_RULE)(folder)
    assert not [line for line in said_here(ROWS, folder) if "its rule" in line]


def test_the_exit_code_tells_what_failed() -> None:
    """Nothing, a check, or reading itself; notes count for nothing."""
    note = Finding(check="texts", where="", detail="", failure=False)
    failed = Finding(check="rows", where="", detail="")
    unread = Finding(check="readable", where="", detail="")
    for findings, code in [
        ((), 0),
        ((note,), 0),
        ((note, failed), 1),
        ((failed, unread), 65),
    ]:
        assert Verification(findings=findings).exit_code == code


def test_a_check_without_its_program_is_not_run(
    sample_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is no failure of the folder, and no pass: the exit code is 69."""
    monkeypatch.setattr("curation.verification.tables.find_spec", lambda _name: None)
    (finding,) = judged(LOADING, sample_build)
    assert (finding.failure, finding.not_run) == (False, True)
    assert "datasets is not installed" in finding.detail
    assert Verification(findings=(finding,)).exit_code == Unavailable.exit_code
    failed = Finding(check="rows", where="", detail="wrong")
    assert Verification(findings=(finding, failed)).exit_code == 1


def _set(folder: Path, column: str, value: object, *, valid: bool) -> str:
    """Set a cell of the first instance that is valid, or is not; return its record."""
    rows = pl.read_parquet(folder / INSTANCES)
    row = rows["valid"].to_list().index(valid)
    cell(INSTANCES, row, {column: value})(folder)
    return str(rows["unique_id"][row])


def _wrong(folder: Path, *, whole: bool = True, nonce: str = "") -> list[Finding]:
    """Judge every instance of the table, or a sample; return what is wrong."""
    # Rows that were read before the table was changed.
    group_rows.cache_clear()
    item = CheckItem(where=INSTANCES, group=0, whole=whole, nonce=nonce)
    return LABELS.work(folder, item).findings


@pytest.mark.slow
def test_every_instance_of_a_build_is_as_labelled(sample_build: Path) -> None:
    """All are judged and made again, and none differs; a sample is some of each."""
    paths = list(sample_build.glob("instances/*/*.parquet"))
    rows = sum(len(pl.read_parquet(path)) for path in paths)
    found = verify_folder(sample_build, checks=[LABELS], whole=True)
    assert found.failures == ()
    assert found.counted == {"regenerated record": 307, "judged instance": rows}
    some = verify_folder(sample_build, checks=[LABELS]).counted
    tables = len(paths)
    assert tables < some["judged instance"] < rows
    assert tables < some["regenerated record"] < 307


def test_a_nonce_draws_the_sample(folder: Path) -> None:
    """Another one draws others; whoever edits a folder cannot know which."""
    rewrite(INSTANCES, lambda table: table.with_columns(~pl.col("valid")))(folder)

    def wrong(nonce: str) -> list[Finding]:
        return _wrong(folder, whole=False, nonce=nonce)

    assert wrong("a") == wrong("a")
    assert wrong("a") != wrong("b")


@pytest.mark.parametrize(
    ("valid", "column", "value", "said"),
    [
        (True, "text", "[[[7]]]", "valid is True, but False"),
        (True, "text", "{", "cannot be judged"),
        # Nothing refuses it, so nothing is named.
        (True, "keyword", "type", "keyword is 'type', but ''"),
        (False, "keyword", "uniqueItems", "keyword is 'uniqueItems', but"),
        (False, "keyword", "", "keyword is '', but"),
        (False, "schema_pointer", "/properties/z", "schema_pointer is '/properties/z'"),
        (False, "instance_pointer", "/z", "instance_pointer is '/z', but"),
        # Of each validator, with formats and without; what was not asked stays open.
        (
            True,
            "verdicts",
            VERDICTS % ("[true, true]", "[false, true]"),
            "not those of",
        ),
        (
            True,
            "verdicts",
            VERDICTS % ("[true, false]", "[null, null]"),
            "not those of",
        ),
        (True, "verdicts", "[]", "not those of"),
        (True, "verdicts", '{"jsonschema_rs": "yes"}', "not those of"),
        (True, "verdicts", "{", "not those of"),
    ],
)
def test_one_wrong_label_is_found_when_all_are_judged(
    folder: Path, column: str, value: str, said: str, *, valid: bool
) -> None:
    """With its record, its number and what the validators say; the others hold."""
    name = _set(folder, column, value, valid=valid)
    (fault,) = _wrong(folder)
    assert fault.where == f"instances/Github_easy/{name}"
    assert fault.detail.startswith("instance ")
    assert said in fault.detail


def test_verdicts_that_were_not_asked_stay_open(folder: Path) -> None:
    """A validator that is here now may not have been here then."""
    _set(folder, "verdicts", VERDICTS % ("[true, true]", "[null, null]"), valid=True)
    assert _wrong(folder) == []


@pytest.mark.slow
def test_a_record_of_another_config_may_have_the_id(folder: Path) -> None:
    """Rows of the ledger about it are not the record's."""
    name = pl.read_parquet(folder / RECORDS)["unique_id"][0]
    other = pl.col("config") == "Snowplow"
    where(INSTANCE_LEDGER, other, unique_id=name)(folder)
    item = CheckItem(where=RECORDS, group=0, whole=True)
    assert LABELS.work(folder, item).findings == []


def test_an_instance_of_no_record_is_named(folder: Path) -> None:
    """And nothing else."""
    _set(folder, "unique_id", "nobody", valid=False)
    nobody = Finding(where="instances/Github_easy/nobody", detail="no such record")
    assert nobody in _wrong(folder)


def test_a_credential_behind_an_escape_is_one(tmp_path: Path) -> None:
    """Of a JSON text its value is searched, of any other text the text itself."""
    token = examples()["Hugging Face token"]
    escaped = f"\\u{ord(token[0]):04x}{token[1:]}"
    texts = [f'{{"a": ["{escaped}"]}}', f"no JSON: {token}", json.dumps(7)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "rows.parquet")
    item = CheckItem(where="rows.parquet", group=0)
    assert [finding.detail for finding in TEXTS.work(tmp_path, item).findings] == [
        "Hugging Face token in row 0, column text at /a/0",
        "Hugging Face token in row 1, column text",
    ]
