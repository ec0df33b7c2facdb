"""Dataset folders that nobody expects: verifying them ends, in lines, without harm."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from shutil import copytree
from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st

from curation.cli import application
from curation.verification import verify_folder
from curation.verification.counts import COUNTS, IDENTITY
from curation.verification.files import DIGESTS
from curation.verification.leakage import LEAKAGE
from curation.verification.loading import LOADING
from curation.verification.tables import CANARY_CHECK, VIEWER
from tests.curation.verification.spoiling import TABLE, set_cell

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curation.verification.check import FolderCheck

#: Those that need no child process.
QUICK = (DIGESTS, COUNTS, IDENTITY, VIEWER, CANARY_CHECK)
#: Each of these mappings is ten times the one before it.
MERGED = "".join(
    f"{name}: &{name} {{<<: [{', '.join([f'*{merged}'] * 10)}]}}\n"
    for merged, name in pairwise("abcdefg")
)
#: Made up: the right form, and no one's.
TOKEN = "ghp_" + "Z4kQ9rT2xW7bN5mJ8cL3vH6yD1fG0sPqA2eU"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["config_name", "data_files", "split", "path", "splits", "a"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.fixture(scope="session")
def sound(sample_build: Path) -> Path:
    """Return a build of the sample, to be read only."""
    return sample_build


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    """Return a build of the sample that a test may spoil."""
    return copytree(sound, tmp_path / "built")


def unread(folder: Path, checks: Sequence[FolderCheck] = QUICK) -> list[str]:
    """Return what cannot be read, as lines; the exit code says so too."""
    found = verify_folder(folder, checks=checks)
    assert found.exit_code == 65
    return [str(each) for each in found.failures if each.check == "readable"]


def test_a_truncated_table_is_one_line(folder: Path) -> None:
    """Half a parquet file, and an empty one: each named once, with the reason."""
    path = folder / TABLE
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (folder / TABLE.replace("train", "val")).write_bytes(b"")
    first, second = unread(folder, (*QUICK, LEAKAGE))
    assert first.startswith(f"readable: {TABLE}: not readable as parquet")
    assert "val-00000-of-00001.parquet: not readable as parquet" in second


@pytest.mark.slow
def test_a_footer_that_lies_is_survived(folder: Path) -> None:
    """Rubbish in the middle of a table whose footer is sound ends as findings."""
    path = folder / TABLE
    content = bytearray(path.read_bytes())
    content[100 : len(content) // 2] = os.urandom(len(content) // 2 - 100)
    path.write_bytes(content)
    found = verify_folder(folder)
    assert found.exit_code
    assert {each.check for each in found.failures} >= {"digests", "schemas"}


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("---\nconfigs: [\n---\n", "expected node content (line 3, "),
        ("---\na: *nothing\n---\n", "broken YAML (no anchor nothing (line 2, "),
        ("---\na: " + "[" * 100_000 + "\n---\n", "broken YAML (nested over "),
        (f"---\na: &a {{x: 1}}\n{MERGED}---\n", "broken YAML (over "),
        ("---\n- a\n---\n", "its YAML is no mapping"),
        ("# no head\n", "no YAML between two lines of ---"),
        ("---\na: !!python/object/apply:os.abort []\n---\n", "broken YAML (the tag "),
    ],
)
def test_a_card_with_broken_yaml_is_one_line(
    folder: Path, head: str, said: str
) -> None:
    """Where it is broken, and nothing in it is obeyed."""
    (folder / "README.md").write_text(head)
    (line,) = unread(folder)
    assert line.startswith("readable: README.md: ")
    assert said in line


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
def test_a_card_cannot_make_it_fetch_or_look_elsewhere(folder: Path) -> None:
    """Addresses and paths out of the folder are files that are not there."""
    card = folder / "README.md"
    for other in ("https://127.0.0.1:1/x.parquet", "../x.parquet", "/etc/passwd"):
        text = card.read_text()
        card.write_text(text.replace(f"path: {TABLE}", f"path: {other}"))
        card.write_text(card.read_text().replace(f"- {TABLE}", f"- {other}"))
        found = verify_folder(folder, checks=[LOADING])
        assert any(other in each.detail for each in found.failures)
        card.write_text(text)


def test_a_planted_token_is_found_and_never_repeated(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a schema, a card and a file's name: `verify` says where, and not what."""
    set_cell(folder / TABLE, "json_schema", json.dumps({"default": [TOKEN]}), row=3)
    (folder / "README.md").write_text((folder / "README.md").read_text() + TOKEN)
    (folder / f"{TOKEN}.txt").write_text("named so")
    for options in (["--format", "json"], []):
        words = ["verify", str(folder), *options]
        with pytest.raises(SystemExit) as ended:
            application(words)(words)
        assert ended.value.code == 1
        said = "".join(capsys.readouterr())
        assert "GitHub token in row 3" in said
        assert TOKEN[6:] not in said
