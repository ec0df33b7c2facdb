"""The site: whole, the same each time, and nothing that a record says is markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from curation.fit.profile import load_profile, profile_names
from evaluation.site.build import build_site
from tests.evaluation.site.made_editions import EVIL, line, write_edition

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINES = [
    *(line("alpha 1.0", f"o{n}") for n in range(3)),
    line("beta 2.0", "o0", "under_constrained", wrong="3:7", why="accepted to its end"),
    line("beta 2.0", "o1", "compile_error"),
    line("beta 2.0", "o9"),
    line(EVIL, "o0", "crash", config=EVIL),
    line(EVIL, EVIL, "over_constrained", wrong=EVIL, why=EVIL, message=EVIL),
]


class _Page(HTMLParser):
    """Collects the tags, addresses, anchors and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.ids: set[str] = set()
        self.text = ""
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        self.tags.append(tag)
        self.addresses += [own[name] or "" for name in ("src", "href") if name in own]
        self.ids.add(own.get("id") or "")
        assert not any(name.startswith("on") or name == "style" for name in own)
        if own.get("http-equiv") == "Content-Security-Policy":
            self.policy = own["content"] or ""

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of a hostile edition, made once."""
    made = tmp_path_factory.mktemp("site")
    build_site(write_edition(made / "edition", _LINES), None, made / "out")
    return made / "out"


def _pages(folder: Path) -> Iterator[tuple[Path, _Page]]:
    for path in sorted(folder.rglob("*.html")):
        yield path, _Page(path.read_text("utf-8"))


def test_no_text_of_an_edition_is_markup_and_no_script_is_unsafe(folder: Path) -> None:
    """Scripts are the site's own files; foreign text is text, its marks visible."""
    for path, page in _pages(folder):
        assert page.policy.startswith("default-src 'none'"), path
        assert "unsafe" not in page.policy
        text = path.read_text("utf-8")
        assert "<script>" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<script>alert(1)" in _Page((folder / "index.html").read_text()).text


def test_every_link_leads_to_a_file_of_the_site_and_an_anchor_in_it(
    folder: Path,
) -> None:
    """None leads nowhere, or outside, but to the sources of profiles."""
    found = dict(_pages(folder))
    profiles = map(load_profile, profile_names())
    sources = {it.url for profile in profiles for it in profile.sources.values()}
    for path, page in found.items():
        for address in page.addresses:
            if address == "data:," or address in sources:
                continue
            assert not re.match(r"[a-z]+:|//", address), address
            file, _, anchor = address.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            assert target.is_file(), (path, address)
            # With `=` it is what a script of the page reads.
            if anchor and "=" not in anchor and target.name != "record.html":
                assert unquote(anchor) in found[target].ids, (path, address)


def test_a_site_has_the_same_bytes_each_time(folder: Path, tmp_path: Path) -> None:
    """Of the same edition, in another folder."""
    build_site(write_edition(tmp_path / "edition", _LINES), None, tmp_path / "out")
    for path in folder.rglob("*"):
        if path.is_file():
            other = tmp_path / "out" / path.relative_to(folder)
            assert path.read_bytes() == other.read_bytes(), path


def test_the_first_page_counts_what_all_engines_were_asked(tmp_path: Path) -> None:
    """A record that one engine lacks is in no bar; a death is none of the others."""
    lines = [each for each in _LINES if each["engine"] != EVIL]
    build_site(write_edition(tmp_path / "edition", lines), None, tmp_path / "out")
    text = _Page((tmp_path / "out" / "index.html").read_text("utf-8")).text
    text = re.sub(r"\s+", " ", text)
    assert "2 real schemas that all of 2 engines were asked" in text
    assert re.search(r"beta 2.0.* 0.0 % 0.* 50.0 % 9.* 50.0 % 9", text)
    assert re.search(r"alpha 1.0.* 100.0 % 34.2", text)
