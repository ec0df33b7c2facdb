"""Finding the files that ship with the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.system import package_data

if TYPE_CHECKING:
    from pathlib import Path


def test_a_checkout_has_them_beside_the_package() -> None:
    """`raw/` and `cards/` of a checkout are those at its root."""
    assert (package_data.raw_folder() / "sources.toml").is_file()
    assert (package_data.raw_folder() / "sample").is_dir()
    assert (package_data.cards_folder() / "README.md.j2").is_file()


def test_an_installed_wheel_has_them_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the wheel carries comes before what happens to stand beside it."""
    (tmp_path / "raw").mkdir()
    monkeypatch.setattr(package_data, "_SHIPPED", tmp_path)
    assert package_data.raw_folder() == tmp_path / "raw"


def test_a_damaged_installation_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the folder the error says which one is missing."""
    monkeypatch.setattr(package_data, "_SHIPPED", tmp_path)
    monkeypatch.setattr(package_data, "_PACKAGE", tmp_path / "curation")
    with pytest.raises(FileNotFoundError, match="'cards'"):
        package_data.cards_folder()
