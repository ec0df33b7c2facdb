"""Dataset folders that nobody expects: verifying them ends, in lines, without harm."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.dataset.ledger import CHANGES
from curation.verification import verify_folder
from curation.verification.files import DIGESTS, STRAYS, TEXTS
from curation.verification.records import LEAKAGE
from tests.curation.verification.tampering import RECORDS, cell, manifest
from tests.programs import ended

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.verification.check import FolderCheck

#: Those that need no child process.
QUICK = (DIGESTS, STRAYS)
#: Made up: the right form, and no one's.
TOKEN = "ghp_" + "Z4kQ9rT2xW7bN5mJ8cL3vH6yD1fG0sPqA2eU"
_KEYS = st.sampled_from(["config_name", "data_files", "split", "path", "splits", "a"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


def unread(folder: Path, checks: Sequence[FolderCheck] = QUICK) -> list[str]:
    """Return what cannot be read, as lines; the exit code says so too."""
    found = verify_folder(folder, checks=checks)
    assert found.exit_code == 65
    return [str(each) for each in found.failures if each.check == "readable"]


@pytest.mark.slow
def test_a_truncated_table_is_one_line(folder: Path) -> None:
    """Half a parquet file, and an empty one: each named once, with the reason."""
    path = folder / RECORDS
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (folder / RECORDS.replace("train", "val")).write_bytes(b"")
    first, second = unread(folder, (*QUICK, LEAKAGE))
    assert first.startswith(f"readable: {RECORDS}: not readable as parquet")
    assert "val-00000-of-00001.parquet: not readable as parquet" in second


@pytest.mark.slow
def test_a_footer_that_lies_is_survived(folder: Path) -> None:
    """Rubbish in the middle of a table whose footer is sound ends as findings."""
    path = folder / RECORDS
    content = bytearray(path.read_bytes())
    content[100 : len(content) // 2] = os.urandom(len(content) // 2 - 100)
    path.write_bytes(content)
    found = verify_folder(folder)
    assert found.exit_code
    assert {each.check for each in found.failures} >= {"digests", "readable"}


def test_a_link_out_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    """Neither to a file, nor to a folder, nor to nothing; its target is not read."""
    (tmp_path / "secret.txt").write_text(TOKEN)
    (folder / "a.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "b").symlink_to(tmp_path)
    (folder / "c.txt").symlink_to(folder / "nowhere")
    out = "a symbolic link that leads out of the folder"
    lines = sorted(unread(folder))
    assert lines[:2] == [f"readable: a.txt: {out}", f"readable: b: {out}"]
    assert lines[2].startswith("readable: c.txt: cannot be read")


def test_a_pipe_does_not_hold_it_up(folder: Path) -> None:
    """What is neither file nor folder is not opened."""
    os.mkfifo(folder / "pipe.parquet")
    assert unread(folder) == ["readable: pipe.parquet: neither a file nor a folder"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"configs": 1}', "[" * 100_000, '{"a": "\ud800"}']
)
def test_a_manifest_that_is_none_is_one_line(folder: Path, text: str) -> None:
    """Whatever stands there instead."""
    path = folder / "manifest.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    (line,) = unread(folder)
    assert line.startswith("readable: manifest.json: ")


@pytest.mark.slow
@given(st.tuples(JSON, JSON, JSON))
@settings(max_examples=20)
def test_no_card_and_no_manifest_makes_it_fail(
    sample_build: Path,
    tmp_path_factory: pytest.TempPathFactory,
    parts: tuple[UntypedJson, ...],
) -> None:
    """Any JSON in the places that checks read ends as findings."""
    folder = tmp_path_factory.mktemp("any")
    (folder / "Snowplow").mkdir()
    name = "Snowplow/val-00000-of-00001.parquet"
    (folder / name).write_bytes((sample_build / name).read_bytes())
    head = yaml.safe_dump({"configs": parts[0]})
    (folder / "README.md").write_text(f"---\n{head}\n---\n")
    manifest = {"configs": parts[1], "pins": parts[2], "partial": [], "rules": "x"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert verify_folder(folder, checks=(*QUICK, LEAKAGE)).exit_code


def _planted(folder: Path) -> list[str]:
    """Plant a token where texts stand; return what each finding must name."""
    name = "Snowplow/test-00000-of-00001.parquet"
    escaped = json.dumps({"default": TOKEN}).replace("ghp", "\\u0067hp")
    cell(RECORDS, 3, {"json_schema": json.dumps({"default": [TOKEN]})})(folder)
    cell(name, 0, {"json_schema": escaped})(folder)
    cell(RECORDS.replace("train", "val"), 0, {"unique_id": TOKEN})(folder)
    changes = pl.read_parquet(folder / CHANGES)
    changes = changes.with_columns(before=pl.lit(json.dumps(TOKEN)))
    changes.write_parquet(folder / CHANGES)
    (folder / "README.md").write_text((folder / "README.md").read_text() + TOKEN)
    manifest(lambda stated: stated.update(name=TOKEN))(folder)
    (folder / f"{TOKEN}.txt").write_text("named so")
    return [
        f"{RECORDS}: GitHub token in row 3, column json_schema at /default/0",
        f"{name}: GitHub token in row 0, column json_schema at /default",
        f"{CHANGES}: GitHub token in row 0, column before",
        "README.md: GitHub token",
        "manifest.json: GitHub token",
    ]


@pytest.mark.slow
def test_a_planted_token_is_found_and_never_repeated(folder: Path) -> None:
    """In a schema, escaped, as an id, in ledger, card, manifest, a file's name."""
    wanted = _planted(folder)
    said = [str(each) for each in verify_folder(folder, checks=[TEXTS]).failures]
    for each in wanted:
        assert f"texts: {each}" in said
    for options in (["--format", "json"], []):
        done = ended(sys.executable, "-m", "curation", "verify", folder, *options)
        assert done.returncode == 1
        assert "GitHub token" in done.stdout
        assert TOKEN[6:] not in done.stdout + done.stderr
