"""Changes to what the manifest states."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from curation.core.benchmark import NOTICES
from curation.dataset.ledger import DOCUMENTS
from curation.download.pins import load_pins
from curation.verification.checks.canary import CANARY
from curation.verification.derivations.facts import FACTS
from tests.curation.verification.tampering import (
    COPIES,
    all_of,
    manifest,
    tampers,
    text_file,
    where,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.core.json_types import UntypedJson


def _edited(path: str, old: bytes, new: bytes) -> Callable[[Path], object]:
    def do(folder: Path) -> None:
        content = (folder / path).read_bytes()
        assert old in content
        (folder / path).write_bytes(content.replace(old, new, 1))

    return do


def _member(name: str, value: UntypedJson) -> Callable[[Path], None]:
    return manifest(lambda stated: stated.update({name: value}))


def _pin(name: str, value: str) -> Callable[[Path], None]:
    return manifest(lambda stated: stated["pins"][0].update({name: value}))


def _as_read(archive: str) -> Callable[[Path], None]:
    """Say that an archive itself was read, in the state that is pinned."""

    def change(stated: UntypedJson) -> None:
        (pin,) = (pin for pin in stated["pins"] if pin["archive"] == archive)
        pin.update(origin="upstream", commit=load_pins()[archive].commit)

    return manifest(change)


def _notice(path: str, text: str) -> Callable[[Path], None]:
    """Put a text into the folder of the archives' own texts."""

    def do(folder: Path) -> None:
        (folder / NOTICES / path).parent.mkdir(parents=True)
        (folder / NOTICES / path).write_text(text)

    return do


_RELEASED = all_of(
    _member("data_version", "2.0.0"),
    text_file(
        "CHANGELOG.md", "# Changelog\n\n## 2.0.0\n\nThe first release: 308 records.\n"
    ),
)


MANIFEST_TAMPERS = list(
    chain(
        tampers(
            FACTS,
            ("partial", _member("partial", []), "`partial` does not"),
            ("partial, one", _member("partial", ["Snowplow: small."]), "does not say"),
            ("name", _member("name", "JSONSchemaBench"), "`name` is"),
            ("version", _member("data_version", "2.0.0"), "without CHANGELOG.md"),
            ("no version", _member("data_version", "new"), "no version"),
            ("version's major", _member("data_version", "3.0.0-dev"), "the canary"),
            (
                "version ahead of changelog",
                all_of(_RELEASED, _member("data_version", "2.0.1")),
                "CHANGELOG.md ends with 2.0.0",
            ),
            (
                "records of the changelog",
                all_of(_RELEASED, _edited("CHANGELOG.md", b"308", b"999")),
                "says 999 records",
            ),
            (
                "month of the changelog",
                all_of(
                    _RELEASED,
                    _edited("CHANGELOG.md", b"## 2.0.0", b"## 2.0.0 (2026-10)"),
                    _member("released", "2026-11-22"),
                ),
                "calls it the release of 2026-10",
            ),
            ("day", _member("released", "2026-01-01"), "not released"),
            ("rule set", _member("rules", "paper"), "`rule_list` lacks paper"),
            (
                "rule dropped",
                manifest(lambda stated: stated["rule_list"].pop()),
                "`rule_list` lacks",
            ),
            (
                "rule reworded",
                manifest(lambda stated: stated["rule_list"][0].update(summary="x")),
                "in its own words",
            ),
            (
                "rule unknown",
                where(DOCUMENTS, COPIES, rule="mine"),
                "lacks mine, of which the ledger tells",
            ),
            (
                "reason",
                where(DOCUMENTS, COPIES, outcome="secret"),
                "has secret of duplicates, which never says so",
            ),
            (
                "documents dropped",
                _as_read("json-schema-corpus"),
                "6,335 documents that are read of json-schema-corpus",
            ),
            (
                "licence text",
                all_of(_as_read("ans-schema"), _notice("ans-schema/LICENSE", "mine")),
                "LICENSE is not the text of the pin ans-schema",
            ),
            (
                "licence text added",
                all_of(_as_read("ans-schema"), _notice("ans-schema/NOTICE", "mine")),
                "NOTICE is no text of the pin ans-schema",
            ),
            (
                "licence text removed",
                _as_read("ans-schema"),
                "LICENSE, which the pin ans-schema has, is lost",
            ),
            ("extras", _member("extras", ["Acme"]), "`extras` is ['Acme']"),
            ("options", _member("options", []), "`options` lacks 'instances'"),
            (
                "options, more",
                _member("options", ["instances", "fastjsonschema"]),
                "`options` has 'fastjsonschema'",
            ),
            (
                "versions",
                manifest(lambda stated: stated["versions"].update(pyarrow="1")),
                "not by pyarrow 1",
            ),
            ("pin's commit", _pin("commit", "f" * 40), "commit of the pin"),
            ("pin's digest", _pin("sha256", "0" * 64), "sha256 of the pin"),
            ("pin's licence", _pin("licence", "MIT"), "licence of the pin"),
            ("pin's authors", _pin("attribution", "me"), "attribution of the pin"),
            ("pin's address", _pin("url", "https://x.test"), "url of the pin"),
            ("pin's archive", _pin("archive", "mine"), "no archive 'mine'"),
        ),
        tampers(CANARY, ("canary", _member("canary", "x" * 36), "without the canary")),
    )
)
