"""Finding the files that ship with the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation import resources

if TYPE_CHECKING:
    from pathlib import Path


def test_a_checkout_has_them_beside_the_package() -> None:
    """`raw/` and `cards/` of a checkout are those at its root."""
    assert (resources.raw_folder() / "sources.toml").is_file()
    assert (resources.raw_folder() / "sample").is_dir()
    assert (resources.cards_folder() / "README.md.j2").is_file()


def test_an_installed_wheel_has_them_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the wheel carries comes before what happens to stand beside it."""
    (tmp_path / "raw").mkdir()
    monkeypatch.setattr(resources, "_SHIPPED", tmp_path)
    assert resources.raw_folder() == tmp_path / "raw"


def test_a_damaged_installation_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the folder the error says which one is missing."""
    monkeypatch.setattr(resources, "_SHIPPED", tmp_path)
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "curation")
    with pytest.raises(FileNotFoundError, match="'cards'"):
        resources.cards_folder()
