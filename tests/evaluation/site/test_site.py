"""The site: whole, the same each time, and nothing that a record says is markup."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import msgspec
import polars as pl
import pytest

from curation.fit.profile import load_profiles
from curation.packaging.rewritten_fits import FITS
from curation.system.errors import BadConfiguration
from evaluation.results.edition import INDEX
from evaluation.results.fits import FitRow
from evaluation.site import keywords, records
from evaluation.site.build import build_site, list_files
from evaluation.site.pages import engines, front
from evaluation.site.rendering import engine_path, keyword_path
from evaluation.site.site import Site, open_site
from tests.builds import write_build
from tests.evaluation.site.browser import visited
from tests.evaluation.site.made_editions import EVIL, line, write_dataset, write_edition
from tests.made import record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from evaluation.site.site import Page

_PROBE: dict[str, Any] = {
    "task": "probe",
    "config": "2020-12",
    "valid": 1,
    "invalid": 1,
}
_LINES = [
    *(line("alpha 1.0", f"o{n}") for n in range(3)),
    line("alpha 1.0", "minItems / anyOf", "under_constrained", **_PROBE),
    line("alpha 1.0", "minItems / root", **_PROBE),
    line("alpha 1.0", "uniqueItems / root", "compile_error", **_PROBE),
    line("beta 2.0", "o0", "under_constrained", wrong="3:7", why="accepted to its end"),
    line("beta 2.0", "o1", "compile_error"),
    line("beta 2.0", "o9", compile_ns=7_000_000),
    line("beta 2.0", "o3", "compile_error"),
    line("beta 2.0", "o4", "compile_error", message="other"),
    line(EVIL, "o0", "crash", config=EVIL),
    line(EVIL, EVIL, "over_constrained", wrong=EVIL, why=EVIL, message=EVIL),
]


class _Page(HTMLParser):
    """Collects the tags, addresses, anchors and text of a page."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.ids: set[str] = set()
        self.text = ""
        self.policy = ""
        self.source = content.decode()
        self.feed(self.source)
        self.text = re.sub(r"\s+", " ", self.text)

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


def _site(folder: Path, *, hostile: bool = True) -> Site:
    lines = [each for each in _LINES if hostile or each["engine"] != EVIL]
    return open_site(write_edition(folder / "edition", lines), None)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A site of a hostile edition."""
    return _site(tmp_path_factory.mktemp("site"))


def _files(site: Site) -> dict[str, bytes]:
    return {page.path: page.content for page in list_files(site)}


def _text(pages: Iterable[Page], path: str = "index.html") -> str:
    """Return the text of a page."""
    content = next(each.content for each in pages if each.path == path)
    return _Page(content).text


@pytest.mark.slow
def test_a_site_is_safe_whole_and_the_same_each_time(site: Site) -> None:
    """Foreign text is text, every link has its target, nothing loads from elsewhere."""
    files = _files(site)
    assert _files(replace(site)) == files
    sources = {"data:,"} | {
        source.url
        for profile in load_profiles("all")
        for source in profile.sources.values()
    }
    pages = {path: _Page(files[path]) for path in files if path.endswith(".html")}
    assert "<script>alert(1)" in pages[engine_path(EVIL)].text
    for path, page in pages.items():
        assert page.policy.startswith("default-src 'none'"), path
        assert "unsafe" not in page.policy
        assert not any(mark in page.source for mark in ("<script>", "\x1b", "\u202e"))
        for address in page.addresses:
            if address in sources:
                continue
            assert not re.match(r"[a-z]+:|//", address), address
            file, _, anchor = address.partition("#")
            target = normpath(join(dirname(path), unquote(file))) if file else path
            assert target in files, (path, address)
            # Behind the `#` of this page is a record.
            if anchor and target != "record.html":
                assert unquote(anchor) in pages[target].ids, (path, address)


def test_the_first_page_counts_what_all_engines_were_asked(tmp_path: Path) -> None:
    """A record that one engine lacks is in no bar; a refusal is no fault.

    It is at most 150 kB.
    """
    page = next(front(_site(tmp_path, hostile=False)))
    text = _text([page])
    assert "2 engines of constrained decoding on 2 real schemas" in text
    assert re.search(r"beta 2.0.* 0.0 % 0.* 50.0 % 9.* 50.0 % 9", text)
    assert re.search(r"alpha 1.0.* 100.0 % 34.2", text)
    assert len(page.content) < 150_000


def test_providers_have_what_rewrites_reach_or_no_data(tmp_path: Path) -> None:
    """A target that the edition's file does not name has no row; a config has one."""
    made = _site(tmp_path, hostile=False)
    assert "as they stand" not in _text(front(made))
    row = FitRow(
        config="c", sampled=True, id="1", target="sglang", taken="after safe rewrites"
    )
    frame = pl.DataFrame([msgspec.to_builtins(row)])
    frame.write_parquet(made.folder / FITS)
    text = _text(front(made)).partition("Supported targets")[0]
    assert re.search(r"sglang ?0.0 % .*\(0 of 1\) ?100.0 % .*\(1 of 1\)", text)
    assert "openai" not in text


def test_the_first_page_has_each_config(tmp_path: Path) -> None:
    """What an engine takes and gets right of the records that all were asked."""
    lines = []
    for engine, outcome in (("alpha 1.0", "passed"), ("beta 2.0", "under_constrained")):
        lines += [line(engine, "o0")]
        lines += [line(engine, "k0", outcome, config="Kubernetes")]
    made = open_site(write_edition(tmp_path, lines), None)
    text = _text(front(made)).partition("by config")[2]
    assert re.search(r"Github_easy ?Kubernetes", text)
    assert re.search(r"alpha 1.0 ?100.0 % .*?\(1 of 1\) ?100.0 %", text)
    assert re.search(r"beta 2.0 ?100.0 % .*?\(1 of 1\) ?0.0 %", text)


def test_the_page_of_a_keyword_says_where_an_engine_ignores_it(tmp_path: Path) -> None:
    """By place; what was not asked is `not run`, and an engine without probes named."""
    pages = keywords.pages(_site(tmp_path, hostile=False))
    text = _text(pages, keyword_path("minItems"))
    row = text.partition("oneOf alpha 1.0")[2].partition("schemas, texts")[0]
    not_run = ["not", "run"]
    assert row.split() == ["enforced", *not_run * 4, "ignored", *not_run]
    assert "Not run: beta 2.0" in text
    assert '"minItems": 2' in text
    assert "--task probe --id '2020-12/minItems / anyOf'" in text


def test_the_page_of_an_engine_names_causes(tmp_path: Path) -> None:
    """With a record of each; what is refused is counted by the keyword it is for.

    Of an edition without task masks engines are shown, too.
    """
    pages = engines(_site(tmp_path, hostile=False))
    text = _text(pages, engine_path("beta 2.0"))
    assert "accepted to its end: 1 schema, such as Github_easy/o0" in text
    assert "uniqueItems: 2 schemas, such as Github_easy/o1, Github_easy/o3" in text
    assert "Messages of no probe: 1 schema, such as Github_easy/o4" in text
    lines = [line("alpha 1.0", "o0", task="probe")]
    made = open_site(write_edition(tmp_path / "probes", lines), None)
    assert "probe: 1 case" in _text(list_files(made), engine_path("alpha 1.0"))


def test_two_names_never_share_a_page() -> None:
    """Blanks, hyphens and what no address holds; an engine's name stays legible."""
    names = ["a b", "a-b", "a  b", "a/b", "a b c", "a-b c", "a b-c", "x" * 70, "x" * 71]
    assert len({engine_path(name) for name in names}) == len(names)
    assert engine_path("alpha 1.0 faithful") == "engine/alpha+1.0+faithful.html"


def _contents(site: Site) -> dict[str, str]:
    """Return the part of the page for each record, which its script holds."""
    bundles: dict[int, dict[str, str]] = {}
    for page in records.pages(site):
        if page.path.startswith("records/"):
            packed = page.content.decode().split('"')[1]
            number = int(page.path.partition("/")[2].partition(".")[0])
            bundles[number] = json.loads(gzip.decompress(b64decode(packed)))
    for number, bundle in bundles.items():
        for key in bundle:
            assert records.bundle_number(key, len(bundles)) == number
    return {key: text for own in bundles.values() for key, text in own.items()}


def test_each_record_is_in_the_script_of_its_name(site: Site, tmp_path: Path) -> None:
    """With schema, texts and rows; one that the dataset lacks has its rows alone."""
    same = frozenset({"Github_easy/o0"})
    data = write_dataset(tmp_path / "data")
    every = _contents(replace(site, data=data, unchanged=same))
    assert len(every) == 8
    first = _Page(every["Github_easy/o0"].encode())
    assert "<script>alert(1)" in first.text
    assert "script" not in first.tags
    assert not any(mark in first.source for mark in ("\x1b", "\u202e"))
    assert re.search(r"alpha 1.0 ?passed.* beta 2.0 ?under constrained", first.text)
    assert re.search(r"0 ?valid ?minimal.* 1 ?invalid", first.text)
    assert "no texts" in _Page(every["Github_easy/o9"].encode()).text


def test_outcomes_are_shown_of_records_that_are_as_they_were_measured(
    tmp_path: Path,
) -> None:
    """Another schema has other texts; where two of ten are others nothing is shown."""
    schemas = dict.fromkeys((f"o{number}" for number in range(10)), '{"minimum": 1}')
    build = tmp_path / "build"

    def _write() -> None:
        made = [record(name, json_schema=text) for name, text in schemas.items()]
        write_build(build, [("Github_easy", each) for each in made])

    _write()
    lines = [line("alpha 1.0", name) for name in schemas]
    edition = write_edition(tmp_path / "edition", lines, build)
    schemas["o1"] = '{"minimum": 2}'
    _write()
    every = _contents(open_site(edition, build))
    changed = {key for key, text in every.items() if "have changed since" in text}
    assert changed == {"Github_easy/o1"}
    assert "passed" not in every["Github_easy/o1"]
    assert "passed" in every["Github_easy/o0"]
    schemas["o2"] = '{"minimum": 2}'
    _write()
    with pytest.raises(BadConfiguration, match="8 of the 10 records"):
        open_site(edition, build)


def test_a_record_says_which_compile_call_was_cut_off(tmp_path: Path) -> None:
    """One that ended has its time, though a deadline ended what came after it."""
    lines = [
        line("alpha 1.0", "o0", "timeout", phase="walk", compile_ns=9_000_000),
        line("beta 2.0", "o0", "timeout", phase="compile", compiled=False,
             compile_ns=40_000_000_000, wrong="0:3 1:5"),
    ]  # fmt: skip
    edition = write_edition(tmp_path, lines)
    (content,) = _contents(open_site(edition, None)).values()
    times = re.findall(r"<td>([^<]*)</td><td>[^<]*</td></tr>", content)
    assert times == ["9.00\u00a0ms", "≥\u00a040.0\u00a0s"]
    assert "text 0 after 3 tokens; text 1 after 5 tokens" in content


def test_a_site_that_is_built_again_drops_what_it_has_no_more(tmp_path: Path) -> None:
    """Pages and records of the former edition; what its user put beside them stays."""
    out = tmp_path / "out"
    former = ["can/a.html", "engine/a.html", "records/99.js"]
    for path in (*former, "CNAME", f"results/{INDEX}", "results/a.json"):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text("")
    edition = write_edition(tmp_path / "edition", [line("alpha 1.0", "o0")])
    paths = build_site(edition, None, out)
    files = (path.relative_to(out) for path in out.rglob("*") if path.is_file())
    assert {path.as_posix() for path in files} == {*paths, "CNAME"}


@pytest.mark.slow
def test_a_hostile_record_is_text_in_a_browser(site: Site, tmp_path: Path) -> None:
    """Script in titles, keys, ids and texts, marks that turn text, a megabyte.

    A key may be `__proto__`.
    """
    out, data = tmp_path / "out", write_dataset(tmp_path / "data")
    build_site(site.folder, None, out)
    for page in records.pages(replace(site, data=data)):
        (out / page.path).write_bytes(page.content)
    address = (out / "record.html").as_uri()
    visits = [
        {
            "url": f"{address}#{quote(f'Github_easy/{name}')}",
            "actions": [["expect", "Texts and their labels"]],
            "width": 360,
            "scheme": scheme,
            "axe": True,
        }
        for name, scheme in (("o0", "light"), (EVIL, "dark"))
    ]
    for result in visited(visits):
        assert result["said"] == []
        assert result["violations"] == []
        assert result["overflow"] <= 0
        assert "<script>alert(1)</script>" in result["text"]
        assert "\u202e" not in result["text"]
