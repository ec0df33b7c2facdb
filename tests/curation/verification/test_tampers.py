"""Whoever changes a folder is noticed: a table of ways, each with who notices.

Only a schema that is edited together with all that follows from it, its instances and
its row of the ledger included, is found by nothing but a new build.
"""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from curation.packaging.plot_process import PlotProcess
from curation.packaging.plot_tables import tables_of_folder
from tests.curation.verification.file_tampers import FILE_TAMPERS
from tests.curation.verification.ledger_tampers import LEDGER_TAMPERS
from tests.curation.verification.manifest_tampers import MANIFEST_TAMPERS
from tests.curation.verification.record_tampers import RECORD_TAMPERS
from tests.curation.verification.tampering import Tamper, card_again, said_here

if TYPE_CHECKING:
    from pathlib import Path

    from curation.packaging.plot_process import PaperTables
    from curation.verification.check import FolderCheck

TAMPERS = [*RECORD_TAMPERS, *LEDGER_TAMPERS, *MANIFEST_TAMPERS, *FILE_TAMPERS]


@pytest.fixture(scope="session")
def tables(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> PaperTables | None:
    """Return the tables of the card, which take long to compute."""
    with PlotProcess() as drawing:
        drawing.begin(tables_of_folder(sound))
        return drawing.finish(tmp_path_factory.mktemp("plots"))


def test_the_table_of_tampers_is_long() -> None:
    """Sixty kinds at least, each once."""
    names = [tamper.name for tamper in TAMPERS]
    assert len(set(names)) == len(names) >= 60


@pytest.mark.slow
@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.name)
def test_a_tampered_folder_is_noticed(
    tamper: Tamper, sound: Path, tmp_path: Path, tables: PaperTables | None
) -> None:
    """By the check that answers for it, even after the card was written anew."""
    folder = copytree(sound, tmp_path / "built", symlinks=True)
    tamper.do(folder)
    if tamper.then_card:
        card_again(folder, tables)
    said = said_here(tamper.check, folder, whole=tamper.whole, quick=True)
    assert any(tamper.said in line for line in said), said


@pytest.mark.slow
@pytest.mark.parametrize(
    "check",
    list({tamper.check.name: tamper.check for tamper in TAMPERS}.values()),
    ids=lambda check: check.name,
)
def test_a_card_written_anew_changes_nothing(
    check: FolderCheck, sound: Path, tmp_path: Path, tables: PaperTables | None
) -> None:
    """Of a folder that nobody has tampered with, no check says anything."""
    folder = copytree(sound, tmp_path / "built")
    card_again(folder, tables)
    assert said_here(check, folder, quick=True) == []
