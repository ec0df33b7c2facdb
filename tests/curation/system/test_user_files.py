"""Tests of the refusal of files that are too large to be read whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.system.errors import BadData
from curation.system.user_files import MOST_BYTES, refuse_large

if TYPE_CHECKING:
    from pathlib import Path


def test_a_device_is_refused(tmp_path: Path) -> None:
    """It has no end, and neither has a link to it."""
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    with pytest.raises(BadData, match="a device"):
        refuse_large(tmp_path / "zero.json")


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """A sparse file of one byte too many; one byte less may be read."""
    path = tmp_path / "answers.jsonl"
    for size, refused in ((MOST_BYTES, False), (MOST_BYTES + 1, True)):
        with path.open("wb") as file:
            file.truncate(size)
        if refused:
            with pytest.raises(BadData, match="over the limit"):
                refuse_large(path)
        else:
            assert refuse_large(path) == path


def test_what_cannot_be_looked_at_is_left_to_its_reader(tmp_path: Path) -> None:
    """It says why: no such file, or no right to read it."""
    assert refuse_large(tmp_path / "absent") == tmp_path / "absent"
