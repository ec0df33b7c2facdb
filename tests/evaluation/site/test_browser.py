"""The site in Chromium, opened from a folder: quiet, accessible, and without markup."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import pytest

from curation.dataset.content_digest import content_digest
from evaluation.results.edition import common_records, read_lines
from evaluation.site.build import build_site
from evaluation.site.records import bundle_of
from tests.builds import write_build
from tests.evaluation.site.browser import visited
from tests.evaluation.site.made_editions import EVIL, line, write_edition
from tests.made import record

if TYPE_CHECKING:
    from collections.abc import Iterable

_EDITION: Final = Path("results/2026.11")
_RECORD: Final = f"record.html#{'/'.join(min(common_records(read_lines(_EDITION))))}"
#: Address, and what is done there: pages whose content a script makes.
_MADE: Final = {
    "schema.html": [["click", "#example"], ["expect", "targets take it"]],
    _RECORD: [["expect", "What engines did"]],
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of the published edition, without its dataset."""
    made = tmp_path_factory.mktemp("browser") / "site"
    build_site(_EDITION, None, made)
    return made


def _address(folder: Path, page: str) -> str:
    return f"{folder.as_uri()}/{page}"


def _looked_at(folder: Path, pages: Iterable[str]) -> list[str]:
    """Return what is wrong with pages at two widths, in light and dark."""
    visits = [
        {
            "url": _address(folder, page),
            "actions": _MADE.get(page, []),
            "width": width,
            "scheme": scheme,
            "axe": True,
        }
        for page in pages
        for width in (360, 1280)
        for scheme in ("light", "dark")
    ]
    faults = []
    for visit, it in zip(visits, visited(visits), strict=True):
        said = [*it["said"], *it.get("violations", ())]
        if it.get("overflow", 0) > 0:
            said.append(f"{it['overflow']} px too wide")
        faults += [f"{visit['url']} {visit['width']} {each}" for each in said]
    return faults


@pytest.mark.slow
def test_three_pages_are_quiet_and_accessible(folder: Path) -> None:
    """At 360 and 1,280 px, light and dark: no violation, no error, nothing too wide."""
    assert _looked_at(folder, ["index.html", *list(_MADE)[:2]]) == []


@pytest.mark.nightly
def test_every_template_is_quiet_and_accessible(folder: Path) -> None:
    """One page of each template, those made by scripts included."""
    engine = next(folder.glob("engine/llguidance*"))
    pages = {path.name: path for path in folder.glob("*.html")}
    names = [name for name in pages if name not in {it.split("#")[0] for it in _MADE}]
    others = ["can/index.html", "can/minItems.html", f"engine/{engine.name}"]
    assert _looked_at(folder, [*names, *others, *_MADE]) == []


@pytest.mark.slow
def test_a_hostile_record_is_text_on_every_page(tmp_path: Path) -> None:
    """Markup, marks that turn text around, `__proto__` and 1 MB in ids and schemas."""
    schema = {"title": EVIL, "properties": {EVIL: {"enum": [EVIL]}, "__proto__": {}}}
    text = json.dumps({**schema, "description": "x" * 1_000_000})
    records = [record("o0"), record(EVIL, json_schema=text)]
    build = write_build(tmp_path / "build", [("Github_easy", it) for it in records])
    lines = [line("alpha 1.0", id_) for id_ in ("o0", EVIL)]
    lines += [line(EVIL, "o0", "crash"), line(EVIL, EVIL, "over_constrained", why=EVIL)]
    edition = write_edition(tmp_path / "edition", lines, content_digest(build))
    build_site(edition, build, tmp_path / "site")
    name = quote(f"Github_easy/{EVIL}")
    made = {
        "index.html": [],
        f"record.html#{name}": [["expect", "What engines did"]],
        "schema.html": [["fill", "#schema", text], ["expect", "targets take it"]],
    }
    visits = [
        {"url": _address(tmp_path / "site", page), "actions": actions}
        for page, actions in made.items()
    ]
    for page, it in zip(made, visited(visits), strict=True):
        assert it["said"] == [], page
        assert "alert(1)" in it["text"], page
        assert not re.search("[\x1b\u202e]", it["text"]), page


@pytest.mark.slow
def test_a_page_is_of_the_record_that_the_address_names_last(tmp_path: Path) -> None:
    """Its name, heading and sections once, though an earlier script comes late."""
    ids = [f"o{number}" for number in range(33)]
    edition = write_edition(tmp_path / "edition", [line("alpha 1.0", it) for it in ids])
    build_site(edition, None, tmp_path / "site")
    names = [f"Github_easy/{it}" for it in ids]
    late = next(name for name in names if bundle_of(name, 2) == 0)
    soon = next(name for name in names if bundle_of(name, 2) == 1)
    for order in ([late, soon], [late, soon, late], [late, soon, "Github_easy/x"]):
        to_each = [["until", f"location.hash = {json.dumps(it)}"] for it in order]
        visit = {
            "url": _address(tmp_path / "site", "record.html"),
            "actions": [
                ["delay", "**/records/0.js"],
                *to_each,
                ["until", "csbdata.packed['records-0'] !== undefined"],
                ["until", "document.getElementById('state').textContent !== 'reading'"],
            ],
            "read": "[document.querySelector('h1').textContent, document.title,"
            " document.getElementById('name').value,"
            " document.querySelectorAll('#record > *').length]",
        }
        (it,) = visited([visit])
        assert it["said"] == []
        last = order[-1]
        sections = 2 if last in names else 0
        assert it["value"] == [last, f"{last} · csbdata", last, sections], order
