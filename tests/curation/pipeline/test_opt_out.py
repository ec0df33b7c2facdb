"""What somebody asked to have out is in no build; licence texts are, verbatim."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from curation.core.documents import Origin, Reason
from curation.dataset.ledger import open_ledger
from curation.dataset.summary import Pin
from curation.download.folder_files import FolderFiles
from curation.pipeline.build import build, write_notices
from curation.pipeline.inputs import BuildInput
from curation.pipeline.read_batches import OptOut, read_opt_outs, setup_of
from curation.sources.base import Reading
from curation.sources.registry import source_named
from curation.system.errors import BadConfiguration
from curation.system.progress import Quiet
from tests.curation.pipeline.test_build import request_for
from tests.curation.rules.documents_made import PROVENANCE, raw_document

if TYPE_CHECKING:
    from pathlib import Path


DAY = dt.date(2026, 11, 22)
RAW = raw_document(
    config="Github",
    unique_id="o7",
    provenance=replace(PROVENANCE, source="github", path="corpus/pp_7.json"),
)
HOME = "https://github.com/Owner/Corpus"


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        (OptOut(day=DAY, id="Github_easy/o7"), True),
        (OptOut(day=DAY, id="Github_ultra/o7"), True),
        (OptOut(day=DAY, id="Github/o7"), True),
        (OptOut(day=DAY, id="Snowplow/o7"), False),
        (OptOut(day=DAY, id="Github_easy/o77"), False),
        (OptOut(day=DAY, path="corpus/pp_7.json"), True),
        (OptOut(day=DAY, path="corpus/*.json"), True),
        (OptOut(day=DAY, path="pp_7.json"), False),
        (OptOut(day=DAY, repository="owner/corpus"), True),
        (OptOut(day=DAY, repository="owner/corp"), False),
    ],
)
def test_a_request_names_a_record_a_path_or_a_repository(
    request_: OptOut, *, named: bool
) -> None:
    """By id whatever its subset came to be, by a pattern, or all of an archive."""
    assert request_.names(RAW, HOME) is named


def test_a_repository_is_known_by_the_address_of_a_file() -> None:
    """What SchemaStore links to is in no archive: its path is its URL."""
    url = "https://raw.githubusercontent.com/Some/Thing/main/schema.json"
    linked = replace(RAW, provenance=replace(RAW.provenance, path=url))
    assert OptOut(day=DAY, repository="some/thing").names(linked, HOME)
    assert not OptOut(day=DAY, repository="some/thin").names(linked, HOME)


def test_a_request_by_repository_meets_what_a_corpus_has_of_it() -> None:
    """The original's owner need not know in which collection a copy stands."""
    home = "https://github.com/Some/Thing"
    copied = replace(RAW, provenance=replace(RAW.provenance, original_repository=home))
    assert OptOut(day=DAY, repository="some/thing").names(copied, HOME)
    assert not OptOut(day=DAY, repository="some/thin").names(copied, HOME)


@pytest.mark.parametrize(
    "text",
    [
        "opt_out = 1",
        "[[opt_out]]\nid = 'a/b'",
        "[[opt_out]]\nday = 2026-11-22",
        "[[opt_out]]\nday = 2026-11-22\nid = 'b'",
        "[[opt_out]]\nday = 2026-11-22\nid = 'a/b'\npath = 'c'",
        "[[opt_out]]\nday = 2026-11-22\nname = 'a/b'",
        "[[",
    ],
)
def test_a_list_that_could_be_misread_is_refused(tmp_path: Path, text: str) -> None:
    """A slip must not put a schema back without anybody noticing."""
    path = tmp_path / "opt_out.toml"
    path.write_text(text)
    with pytest.raises(BadConfiguration, match="opt_out"):
        read_opt_outs(path)


def test_the_list_of_this_project_can_be_read() -> None:
    """Every build reads it."""
    assert isinstance(read_opt_outs(), list)


@pytest.mark.slow
def test_no_build_has_what_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its ledger row says so and holds no text of it; everything else is as before."""
    before = build(request_for(tmp_path / "one"), Quiet())
    kept = open_ledger(before.request.out).entries(config="Snowplow", outcome="kept")
    wanted = OptOut(day=DAY, id=f"Snowplow/{kept[0].unique_id}")
    monkeypatch.setattr("curation.pipeline.steps.read_opt_outs", lambda: [wanted])
    after = build(request_for(tmp_path / "two"), Quiet())
    (row,) = open_ledger(after.request.out).entries(
        config="Snowplow", unique_id=kept[0].unique_id
    )
    assert (row.outcome, row.detail) == (Reason.OPTED_OUT, "asked for on 2026-11-22")
    assert (row.sha256, row.changes) == ("", ())
    figures = after.manifest.configs
    assert figures["Snowplow"].kept == before.manifest.configs["Snowplow"].kept - 1
    assert figures["Kubernetes"] == before.manifest.configs["Kubernetes"]


def test_no_reference_leads_to_what_is_left_out() -> None:
    """Else its text would come back inside of what refers to it."""
    other = replace(RAW, content=b'{"type": "null"}', unique_id="o8")
    texts = {"a": RAW.content, "b": other.content}
    item: Any = SimpleNamespace(
        reading=SimpleNamespace(
            files=SimpleNamespace(paths=(*texts,), read=texts.__getitem__)
        ),
        source=SimpleNamespace(
            # The last names a file that is not there.
            uris=lambda _reading: {"x:a": "a", "x:b": "b", "x:c": "c"},
            read=lambda _reading: [RAW, other],
        ),
        pin=SimpleNamespace(url=HOME),
    )
    rules: Any = SimpleNamespace(name="clean", bundles=True)
    item.files = "files"
    for wanted, left in (([], {*"abc"}), ([OptOut(day=DAY, id="Github/o7")], {*"bc"})):
        (library,) = setup_of(rules, [item], wanted).libraries
        assert {*library.uris.values()} == left


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
