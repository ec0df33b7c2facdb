"""The pins that ship, and files of pins that are wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from curation.download.pins import ArchiveKind, load_pins, pins_for
from curation.sources.registry import sources
from curation.system.errors import BadConfiguration, NoInput
from curation.system.package_data import raw_folder

if TYPE_CHECKING:
    from pathlib import Path

TABLE = """
[archive.x]
kind = "github"
repository = "a/b"
commit = "c"
paths = ["*.json"]
digest = "{digest}"
licence = "MIT"
file_licence = "MIT"
attribution = ""
citation = ""
homepage = ""
"""
GOOD = TABLE.format(digest="0" * 64)


def test_every_pin_is_exact() -> None:
    """A full commit or a version, digests, licences, and where it is from."""
    suite = load_pins(raw_folder() / "test_suite.toml")
    for pin in (*load_pins().values(), *suite.values()):
        assert re.fullmatch(r"[0-9a-f]{40}|[0-9][0-9.b]*", pin.commit), pin.name
        assert re.fullmatch(r"[0-9a-f]{64}", pin.digest)
        assert bool(pin.sha256) == (pin.kind is not ArchiveKind.GITHUB)
        assert pin.licence
        assert pin.file_licence
        assert pin.attribution
        assert pin.homepage.startswith("https://")


def test_every_archive_that_a_source_names_is_pinned() -> None:
    """And every pin is some source's."""
    named = {
        archive
        for source in sources().values()
        for chain in source.archives.values()
        for archive in chain
    }
    assert named == set(load_pins())


def test_the_names_in_a_mirror_are_those_of_the_publisher() -> None:
    """`<repo>-<commit>` in three forms, or the published file's own name."""
    pins = load_pins()
    corpus = pins["json-schema-corpus"]
    assert corpus.file_names == tuple(
        f"json-schema-corpus-{corpus.commit}{form}"
        for form in (".tar.gz", ".tar.xz", ".zip")
    )
    assert pins["kubernetes-validate"].file_names == (
        f"kubernetes_validate-{pins['kubernetes-validate'].commit}-py3-none-any.whl",
    )
    suite = load_pins(raw_folder() / "test_suite.toml")
    packaged = suite["json-schema-test-suite-of-jsonschema"]
    assert packaged.file_names == ("jsonschema-4.26.0.tar.gz",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[archive", "not TOML"),
        (GOOD + "colour = 1\n", "colour"),
        (GOOD.replace('commit = "c"\n', ""), "commit"),
        (TABLE.format(digest="12"), "digest"),
        (GOOD.replace('kind = "github"', 'kind = "zip"'), "kind"),
        (GOOD.replace('commit = "c"', "commit = 1"), "commit"),
    ],
)
def test_a_wrong_file_of_pins_is_named(text: str, why: str, tmp_path: Path) -> None:
    """With the table and the keys: exit code 78."""
    path = tmp_path / "sources.toml"
    path.write_text(text)
    with pytest.raises(BadConfiguration, match=why):
        load_pins(path)


def test_a_file_of_pins_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Exit code 66; and a good one is read."""
    with pytest.raises(NoInput):
        load_pins(tmp_path / "absent.toml")
    (tmp_path / "sources.toml").write_text(GOOD)
    assert list(load_pins(tmp_path / "sources.toml")) == ["x"]


def test_a_source_without_its_pin_says_what_to_add() -> None:
    """One line with the file and the table, and exit code 78."""
    with pytest.raises(BadConfiguration, match=r"'mine'.*'nothing'.*no pin") as caught:
        pins_for("mine", ["glaive", "nothing"])
    assert "[archive.nothing]" in str(caught.value)
    assert list(pins_for("glaive", ["glaive"])) == ["glaive"]
