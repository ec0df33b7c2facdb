"""Licence texts of archives, verbatim, and archives that are not wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Origin
from curation.dataset.summary import Pin
from curation.download.acquire import FetchSettings
from curation.download.folder_files import FolderFiles
from curation.packaging.licences import is_copyleft
from curation.pipeline.build import write_notices
from curation.pipeline.inputs import BuildInput, MissingSource, _find_pinned
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
        route="",
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


@pytest.mark.parametrize(
    ("expression", "copyleft"),
    [
        ("GPL-3.0-only", True),
        ("MIT OR AGPL-3.0-or-later", True),
        ("LGPL-2.1-only", False),
        ("Apache-2.0", False),
        ("NOASSERTION", False),
    ],
)
def test_which_licences_no_gpl_means(expression: str, *, copyleft: bool) -> None:
    """The GPL and the AGPL in any version; the LGPL reaches no data."""
    assert is_copyleft(expression) is copyleft


def test_without_gpl_nothing_is_read_of_such_a_collection(tmp_path: Path) -> None:
    """Kubernetes falls back; under the paper's rules there is nothing else to read."""
    settings = FetchSettings(mirror=None, cache=tmp_path, offline=True)
    source = source_named("kubernetes")
    said: list[str] = []
    for rules in ("clean", "paper"):
        found = _find_pinned(source, rules, settings, said.append, no_gpl=True)
        if isinstance(found, MissingSource):
            assert (rules, "--no-gpl was said" in found.why) == ("paper", True)
        else:
            assert found.pin.archive != "witness-generation" or (
                found.reading.origin is Origin.SAMPLE
            )
            assert "GPL-3.0-only" in found.not_had[0].why
