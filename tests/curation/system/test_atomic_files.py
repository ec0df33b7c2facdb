"""Files that are whole or absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.system.atomic_files import atomic_write_bytes

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """A reader sees the old content or the new one, and no torso is left."""
    atomic_write_bytes(tmp_path / "file", b"old")
    atomic_write_bytes(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
