"""Folders that are made once and kept in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.download.cache import Cache, FolderName
from curation.system.errors import NoInput

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME = FolderName(kind="thing", label="one", fingerprint="f1")


def read(folder: Path) -> str | None:
    """Return what is in the folder; None where it is missing or damaged."""
    try:
        return (folder / "content").read_text() or None
    except OSError:
        return None


def making(content: str, made: list[str]) -> Callable[[Path], None]:
    """Return a function that fills a folder, and notes that it did."""

    def make(folder: Path) -> None:
        made.append(content)
        (folder / "content").write_text(content)

    return make


def test_a_folder_is_made_once(tmp_path: Path) -> None:
    """It is found again, and stands under a name that a person can read."""
    made: list[str] = []
    for _ in range(2):
        found = Cache(tmp_path).folder_made_once(
            NAME, read=read, make=making("a", made), say=print
        )
        assert found == "a"
    assert made == ["a"]
    assert (tmp_path / "things" / "one-f1" / "content").is_file()


def test_a_damaged_folder_is_made_anew(tmp_path: Path) -> None:
    """What cannot be read is replaced as a whole."""
    made: list[str] = []
    cache = Cache(tmp_path)
    cache.folder_made_once(NAME, read=read, make=making("a", made), say=print)
    (tmp_path / "things" / "one-f1" / "content").write_text("")
    found = cache.folder_made_once(NAME, read=read, make=making("b", made), say=print)
    assert (found, made) == ("b", ["a", "b"])


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    """An error while it is made is told, and the next one begins anew."""

    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Cache(tmp_path).folder_made_once(NAME, read=read, make=fail, say=print)
    assert list((tmp_path / "things").iterdir()) == []


def test_a_folder_that_cannot_be_read_back_is_told(tmp_path: Path) -> None:
    """What was just made and cannot be read is a fault, and names its folder."""
    with pytest.raises(NoInput, match="thing just made"):
        Cache(tmp_path).folder_made_once(
            NAME, read=read, make=making("", []), say=print
        )
