"""`csbdata card`: writes what follows from the data, or says what does not."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from curation.commands.card import card
from curation.packaging.derived_files import differing_files
from curation.packaging.manifest import write_facts
from curation.packaging.plots import FOLDER
from curation.system.errors import BadUsage, CannotCreate, NoInput
from tests.builds import write_build
from tests.made import summary

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result


APP = typer.Typer()
APP.command()(card)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a small build that has been dressed."""
    folder = write_build(tmp_path_factory.mktemp("card"))
    write_facts(summary([]), folder)
    assert run(str(folder)).exit_code == 0
    return folder


@pytest.fixture
def drawn(build: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the build, whose plots are not drawn again: they take two seconds."""
    monkeypatch.setattr(
        "curation.packaging.plots.draw_plots",
        lambda _tables, into: copytree(
            build / FOLDER, into / FOLDER, dirs_exist_ok=True
        ),
    )
    return build


def run(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(APP, list(arguments), catch_exceptions=False)


def test_what_it_has_written_is_as_the_data_says(drawn: Path) -> None:
    """An edited card is written anew as it was."""
    assert differing_files(drawn) == []
    card_file = drawn / "README.md"
    right = card_file.read_bytes()
    card_file.write_bytes(right + b"x")
    assert differing_files(drawn) == ["README.md"]
    assert "README.md" in run(str(drawn)).stdout.splitlines()
    assert card_file.read_bytes() == right


def test_what_is_no_build_is_refused(tmp_path: Path) -> None:
    """A folder that csbdata did not build is left alone: exit 66."""
    with pytest.raises(NoInput, match="manifest"):
        run(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(
    drawn: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full or read-only disk is the user's to mend: exit 73."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("curation.packaging.card.write_card", full)
    with pytest.raises(CannotCreate, match="No space left"):
        run(str(drawn))


def test_where_it_is_published_is_kept(drawn: Path) -> None:
    """A later `card` without the option tells the same."""
    run(str(drawn), "--repo", "some/where")
    text = (drawn / "README.md").read_text(encoding="utf-8")
    assert 'load_dataset("some/where"' in text
    run(str(drawn))
    assert (drawn / "README.md").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("value", ["name", 'a/b", x=("'])
def test_what_is_no_name_on_the_hub_is_refused(build: Path, value: str) -> None:
    """It would stand in a snippet that others run: exit 2, and nothing is written."""
    before = (build / "README.md").read_bytes()
    with pytest.raises(BadUsage, match="--repo"):
        run(str(build), "--repo", value)
    assert (build / "README.md").read_bytes() == before
