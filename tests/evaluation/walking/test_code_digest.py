"""The code that decides a row: all of it, and nothing that only reads rows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import curation
from curation.workers.fingerprint import digest_of_files
from evaluation.walking import code_digest
from evaluation.walking.code_digest import (
    measuring_digest,
    measuring_files,
    writing_digest,
    writing_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT = Path(curation.__file__).parents[1]
#: Modules that decide nothing of a row: errors, nouns, what is remembered or printed.
_NOTHING = (
    "curation.core",
    "curation.system",
    "curation.json.values",
    "curation.json.text",
    "curation.workers.fingerprint",
)


def _names(files: list[tuple[Path, Path]]) -> set[str]:
    return {path.relative_to(root).as_posix() for root, path in files}


def _copy(folder: Path) -> Path:
    for root, path in writing_files():
        copy = folder / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    return folder


def _digests(copy: Path) -> list[str]:
    return [digest_of_files(files(copy)) for files in (measuring_files, writing_files)]


def test_the_digests_are_those_of_the_files() -> None:
    """A constant in their place would find every row of other code finished."""
    assert measuring_digest() == digest_of_files(measuring_files())
    assert writing_digest() not in (measuring_digest(), digest_of_files([]))


@pytest.mark.parametrize(
    "name",
    [
        "evaluation/walking/walk_session.py",
        "evaluation/tokenizers/files.py",
        "curation/workers/outcomes.py",
    ],
)
def test_other_measuring_code_is_another_digest(name: str, tmp_path: Path) -> None:
    """One byte more, in any of them, and rows that are there count no more."""
    copy = _copy(tmp_path)
    before = _digests(copy)
    (copy / name).write_text((copy / name).read_text("utf-8") + "#", "utf-8")
    after = _digests(copy)
    assert before[0] == measuring_digest()
    assert not set(before) & set(after)


@pytest.mark.parametrize(
    "name",
    [
        "evaluation/generation/loop.py",
        "evaluation/models/transformers.py",
        "evaluation/servers/client.py",
        "curation/instances/grading.py",
        "curation/validation/metaschemas.py",
        "evaluation/models/a_folder/that_is_new.py",
    ],
)
def test_another_loop_or_judge_is_another_digest(name: str, tmp_path: Path) -> None:
    """It counts where a model writes, in folders of any depth, and only there."""
    copy = _copy(tmp_path)
    before = _digests(copy)
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text("#", "utf-8")
    after = _digests(copy)
    assert before[0] == after[0]
    assert before[1] != after[1]


def test_another_version_of_a_judge_is_another_digest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A validator that was updated may judge otherwise."""
    before = writing_digest()
    monkeypatch.setattr(code_digest, "version", lambda name: f"{name} of tomorrow")
    assert writing_digest.__wrapped__() != before


def test_what_only_reads_is_no_part() -> None:
    """A better table asks for no new measurement."""
    names = _names(writing_files())
    assert not {name for name in names if "/reporting/" in name or "report.py" in name}
    assert "evaluation/suites/coverage/texts.py" not in names


@pytest.mark.parametrize(
    ("module", "files"),
    [
        ("curation.instances.grading", writing_files),
        ("evaluation.walking.engine_worker", measuring_files),
    ],
)
def test_what_is_loaded_to_make_a_row_is_part_of_it(
    module: str, files: Callable[[], list[tuple[Path, Path]]]
) -> None:
    """It decides a row, or is named here as deciding nothing."""
    code = (
        f"import sys, {module}\n"
        "for name, module in sorted(sys.modules.items()):\n"
        "    if name.split('.')[0] in ('curation', 'evaluation'):\n"
        "        print(name, module.__file__)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = dict(line.split(" ", 1) for line in said.stdout.splitlines())
    names = _names(files())
    lost = {
        name
        for name, path in loaded.items()
        if not path.endswith("__init__.py")
        and Path(path).relative_to(_ROOT).as_posix() not in names
        and not name.startswith(_NOTHING)
    }
    assert not lost
