"""Whoever changes a folder is noticed: a table of ways, each with who notices.

Only a schema that is edited together with all that follows from it, its instances and
its row of the ledger included, is found by nothing but a new build.
"""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from tests.curation.verification.file_tampers import FILE_TAMPERS
from tests.curation.verification.file_tampers import LEDGER_TAMPERS
from tests.curation.verification.file_tampers import MANIFEST_TAMPERS
from tests.curation.verification.file_tampers import RECORD_TAMPERS
from tests.curation.verification.tampering import Tamper, card_again, said_here

if TYPE_CHECKING:
    from pathlib import Path

    from curation.verification.check import FolderCheck

TAMPERS = [*RECORD_TAMPERS, *LEDGER_TAMPERS, *MANIFEST_TAMPERS, *FILE_TAMPERS]


def test_the_table_of_tampers_is_long() -> None:
    """Sixty kinds at least, each once."""
    names = [tamper.name for tamper in TAMPERS]
    assert len(set(names)) == len(names) >= 60


@pytest.mark.slow
@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.name)
def test_a_tampered_folder_is_noticed(
    tamper: Tamper, sample_build: Path, tmp_path: Path
) -> None:
    """By the check that answers for it, even after the card was written anew."""
    folder = copytree(sample_build, tmp_path / "built", symlinks=True)
    tamper.do(folder)
    if tamper.then_card:
        card_again(folder)
    said = said_here(tamper.check, folder, whole=tamper.whole, quick=True)
    assert any(tamper.said in line for line in said), said


@pytest.mark.slow
@pytest.mark.parametrize(
    "check",
    list({tamper.check.name: tamper.check for tamper in TAMPERS}.values()),
    ids=lambda check: check.name,
)
def test_a_card_written_anew_changes_nothing(
    check: FolderCheck, sample_build: Path, tmp_path: Path
) -> None:
    """Of a folder that nobody has tampered with, no check says anything."""
    folder = copytree(sample_build, tmp_path / "built")
    card_again(folder)
    assert said_here(check, folder, quick=True) == []
