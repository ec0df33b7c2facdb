"""Licence texts of archives, verbatim, and archives that are not wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import Origin
from curation.dataset.summary import Pin
from curation.download.folder_files import FolderFiles
from curation.pipeline.build import write_notices
from curation.pipeline.inputs import BuildInput
from curation.sources.base import Reading
from curation.sources.registry import source_named

if TYPE_CHECKING:
    from pathlib import Path

TEXT = b"MIT License\r\n\r\nCopyright (c) 2020 \xc3\x89mile\n"


def _input(folder: Path, config: str | None = None) -> BuildInput:
    reading = Reading(
        files=FolderFiles(folder),
        archive="ans-schema",
        commit="1",
        licence="MIT",
        origin=Origin.UPSTREAM,
        rules="clean",
        lists=folder,
        config=config,
    )
    return BuildInput(
        source=source_named("washingtonpost"),
        reading=reading,
        files=folder,
        pin=Pin(
            source="washingtonpost",
            archive="ans-schema",
            origin=Origin.UPSTREAM,
            commit="1",
            sha256="",
            licence="MIT",
        ),
    )


def test_notices_come_from_the_archive_byte_for_byte(tmp_path: Path) -> None:
    """Those at its root, under its name; nothing else of it."""
    archive = tmp_path / "archive"
    (archive / "deep").mkdir(parents=True)
    for name in ("LICENSE", "NOTICE.txt", "licence-MIT", "LICENSED.json", "a.json"):
        (archive / name).write_bytes(TEXT)
    (archive / "deep" / "LICENSE").write_bytes(TEXT)
    out = tmp_path / "out"
    out.mkdir()
    write_notices([_input(archive)], out)
    written = {path.relative_to(out).as_posix() for path in out.rglob("*.*")}
    written |= {path.relative_to(out).as_posix() for path in out.rglob("[lL]*")}
    assert written == {
        f"NOTICES/ans-schema/{name}"
        for name in ("LICENSE", "NOTICE.txt", "licence-MIT")
    }
    assert (out / "NOTICES/ans-schema/LICENSE").read_bytes() == TEXT


def test_a_users_own_folder_gives_no_notices(tmp_path: Path) -> None:
    """What lies beside one's own schemas is not published unasked."""
    (tmp_path / "LICENSE").write_bytes(TEXT)
    write_notices([_input(tmp_path, config="Acme")], tmp_path / "out")
    assert not (tmp_path / "out").exists()
