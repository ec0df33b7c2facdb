"""The site in Chromium: quiet, accessible, and its numbers are a second script's."""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow.parquet as pq
import pytest

from bench.edition.figures import headline
from evaluation.results.edition import read_rows
from evaluation.site.build import build_site
from evaluation.site.records import bundle_number
from tests.evaluation.site.browser import visited
from tests.evaluation.site.made_editions import EVIL, line, write_edition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_EDITION: Final = Path("results/2026.11")
_RECORD: Final = "record.html#" + "/".join(
    read_rows(_EDITION).filter(task="masks").select("config", "id").row(0)
)
#: Address, and what is done there: pages whose content a script makes.
_MADE: Final = {
    "index.html": [
        ["fill", "#schema", "type: object"],
        ["expect", "targets accept"],
        ["click", "#example"],
        ["expect", "targets accept"],
        ["click", "summary:has-text('Anthropic')"],
        ["expect", "Rewritten"],
    ],
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
    assert _looked_at(folder, ["about.html", *_MADE]) == []


@pytest.mark.nightly
def test_every_template_is_quiet_and_accessible(folder: Path) -> None:
    """One page of each template, those made by scripts included."""
    engine = next(folder.glob("engine/llguidance*"))
    pages = {path.name: path for path in folder.glob("*.html")}
    names = [name for name in pages if name not in {it.split("#")[0] for it in _MADE}]
    others = ["can/index.html", "can/minItems.html", f"engine/{engine.name}"]
    assert _looked_at(folder, [*names, *others, *_MADE]) == []


@pytest.mark.slow
def test_a_hostile_schema_is_text_where_it_is_judged(folder: Path) -> None:
    """Markup, marks that turn text around, `__proto__`.

    The page takes 200,000 characters.
    """
    schema = {"title": EVIL, "properties": {EVIL: {"enum": [EVIL]}, "__proto__": {}}}
    text = json.dumps({**schema, "description": "x" * 150_000})
    actions = [
        ["fill", "#schema", text],
        ["expect", "targets accept"],
        ["click", "summary:has-text('OpenAI, strict')"],
    ]
    (it,) = visited([{"url": _address(folder, "index.html"), "actions": actions}])
    assert it["said"] == []
    assert "alert(1)" in it["text"]
    assert not re.search("[\x1b\u202e]", it["text"])


@pytest.mark.slow
def test_a_page_is_of_the_record_that_the_address_names_last(tmp_path: Path) -> None:
    """Its name, heading and sections once, though an earlier script comes late."""
    ids = [f"o{number}" for number in range(33)]
    edition = write_edition(tmp_path / "edition", [line("alpha 1.0", it) for it in ids])
    build_site(edition, None, tmp_path / "site")
    names = [f"Github_easy/{it}" for it in ids]
    late = next(name for name in names if bundle_number(name, 2) == 0)
    soon = next(name for name in names if bundle_number(name, 2) == 1)
    for order in ([late, soon], [late, soon, late], [late, soon, "Github_easy/x"]):
        to_each = [["until", f"location.hash = {json.dumps(it)}"] for it in order]
        visit = {
            "url": _address(tmp_path / "site", "record.html"),
            "actions": [
                ["delay", "**/records/0.js"],
                *to_each,
                ["until", "typeof packed === 'string'"],
                ["until", "document.getElementById('state').textContent !== 'reading'"],
            ],
            "read": "[document.querySelector('h1').textContent, document.title,"
            " document.getElementById('name').value,"
            " document.querySelectorAll('#record > *').length]",
        }
        (it,) = visited([visit])
        assert it["said"] == []
        last = order[-1]
        title, sections = (last, 2) if last in names else ("A record", 0)
        assert it["value"] == [title, f"{title} · csbdata", last, sections], order


_CLICKS: Final = 2
_CELL: Final = """((rows) => rows
  .find((row) => row.textContent.includes("xgrammar 0.2.8"))
  .cells[[...rows[0].cells].findIndex((cell) => cell.textContent === "anyOf")]
  .textContent)([...document.querySelector("table").rows])"""
_MAIN: Final = "document.querySelector('main').innerText"
#: The question, what is clicked on from `/`, where the answer stands, and what it is.
_QUESTIONS: Final[tuple[tuple[str, list[str], str, str], ...]] = (
    ("Which provider takes my schema?",
     ["Show an example"], _MAIN, "OpenAI, strict mode[^]{0,20}rejected"),
    ("Which takes my tools?", [], _MAIN, "a list of tools"),
    ("Which engine is most often right?",
     [], _MAIN, "how long it took[^]+mask\n[^]{0,9}llguidance 1.9.1"),
    ("Which on Kubernetes schemas?",
     [], _MAIN, "by config of the dataset[^]+Kubernetes[^]+\nllguidance 1.9.1"),
    ("Which is fastest with its cache on?",
     [], _MAIN, "first mask\tmask\n[^]+xgrammar 0.2.8[^]+.µs"),
    ("Is minItems below anyOf enforced by XGrammar 0.2.8?",
     ["Keywords", "minItems"], _CELL, "^enforced$"),
    ("What changed from version V to W?",
     ["xgrammar 0.2.8 faithful"], _MAIN, "Versions[^]+xgrammar 0.2.8[^]+ 0.1.8"),
    ("What is broken in lm-format-enforcer, and which schema shows it?",
     ["lm_format_enforcer 0.11.3 faithful"], _MAIN,
     "Causes of wrong texts\n[^]+; format[^]+such as"),
    ("Is record R's label right?",
     ["lm_format_enforcer 0.11.3 faithful", "Github_easy/o53700"], _MAIN,
     "What engines did"),
    ("How was all this measured?",
     ["About"], _MAIN, "Machine: [^]+an invalid instance was accepted"),
)  # fmt: skip


@pytest.mark.nightly
def test_a_strangers_ten_questions_take_two_clicks(folder: Path) -> None:
    """From the first page at most two clicks lead to each answer."""
    visits = [
        {
            "url": f"{folder.as_uri()}/index.html",
            "actions": [
                *(["follow", name] for name in clicks),
                ["until", f"new RegExp({json.dumps(answer)}).test({where})"],
            ],
        }
        for _, clicks, where, answer in _QUESTIONS
    ]
    said = {}
    for question, it in zip(_QUESTIONS, visited(visits), strict=True):
        assert len(question[1]) <= _CLICKS
        if it["said"]:
            said[question[0]] = it["said"]
    assert said == {}
    assert len(_QUESTIONS) == 10


_Z: Final = 1.959963984540054
_UNITS: Final = {"%": 1, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
_NUMBER: Final = re.compile(r"(\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)(?:\s*(ns|µs|ms|s|%))?")
_TABLES: Final = """[...document.querySelectorAll("table")].filter(({ tHead }) => tHead)
  .flatMap((table) => [...table.tBodies[0].rows].map((row) => [
    table.caption?.innerText.trim() ?? "",
    [...table.tHead.rows[0].cells].map((cell) => cell.innerText.trim()),
    [...row.cells].map((cell) => cell.innerText.trim())]))"""


def _numbers(text: str) -> list[tuple[float, float]]:
    """Return the numbers in a cell, each with half a unit of its last digit."""
    found = []
    for number, unit in _NUMBER.findall(text):
        mantissa, _, power = number.replace(",", "").partition("e")
        digits = len(mantissa.partition(".")[2])
        scale = _UNITS.get(unit, 1) * 10.0 ** int(power or 0)
        found.append((float(mantissa) * scale, 0.5 * 10.0**-digits * scale))
    return found


def _interval(count: int, of: int) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    share, square = count / of, _Z * _Z
    middle = share + square / (2 * of)
    spread = _Z * sqrt(share * (1 - share) / of + square / (4 * of * of))
    scale = 1 + square / of
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def _rate(count: int, of: int) -> list[float]:
    low, high = _interval(count, of)
    return [100 * count / of, 100 * low, 100 * high, count, of]


_CLASSES: Final = {
    "taken and right": ("passed",),
    "refused honestly": ("compile_error",),
    "accepts invalid": ("under_constrained", "wrong_both_ways"),
    "blocked valid": ("over_constrained", "mask_gap"),
    "died": ("timeout", "crash", "out_of_memory", "lied", "contradicted",
             "engine_error", "error", "too_much_output", "protocol_error"),
}  # fmt: skip


_Expected = tuple[tuple[str, str], list[float]]


def _of_engines(rows: list[dict[str, Any]]) -> Iterator[_Expected]:
    own: dict[str, dict[tuple[str, str], dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        if row["task"] == "masks":
            own[row["engine"]][row["config"], row["id"]] = row
    common = set.intersection(*map(set, own.values()))
    lines = headline([row for row in rows if row["task"] == "masks"])
    for engine, by in own.items():
        shared = [by[key] for key in common]
        outcomes = Counter(row["outcome"] for row in shared)
        for name, words in _CLASSES.items():
            rate = _rate(sum(outcomes[word] for word in words), len(shared))
            yield (engine, name), rate[:3]
        for config in {config for config, _ in common}:
            in_config = [key for key in common if key[0] == config]
            passed = sum(by[key]["outcome"] == "passed" for key in in_config)
            yield (engine, config), _rate(passed, len(in_config))
        for name in ("compile", "first", "mask"):
            title = name.replace("first", "first mask")
            yield (engine, title), [lines["all", engine][f"{name}_median"]]


@pytest.mark.nightly
def test_300_numbers_of_pages_are_those_of_the_second_script(folder: Path) -> None:
    """Drawn by seed from what the browser shows; each to its last digit."""
    names = ["index.html", "about.html"]
    names += [f"engine/{path.name}" for path in sorted(folder.glob("engine/*.html"))]
    visits = [{"url": f"{folder.as_uri()}/{name}", "read": _TABLES} for name in names]
    rows = pq.read_table(_EDITION / "rows.parquet").to_pylist()
    expected = dict(_of_engines(rows))
    numbers = []
    for name, it in zip(names, visited(visits), strict=True):
        assert it["said"] == []
        for _, heads, cells in it["value"]:
            row = cells[0]
            for head, cell in zip(heads, cells, strict=True):
                ours = expected.get((row, head))
                if ours is None or cell == "-":
                    continue
                shown = _numbers(cell)
                assert len(shown) == len(ours), (name, row, head, cell, ours)
                two = zip(shown, ours, strict=True)
                numbers += [((name, row, head, *each), *each) for each in two]
    assert len(numbers) > 300
    for where, (number, half), own in random.Random(40).sample(numbers, 300):
        assert abs(number - own) <= half * 1.000001, where
