"""Answers are two clicks away, and numbers are the second script's."""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow.parquet as pq
import pytest

from bench.edition.figures import figures, interval, times
from evaluation.site.build import build_site
from tests.evaluation.site.browser import visited

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.nightly
_EDITION: Final = Path("results/2026.11")
_CLICKS: Final = 2
_CELL: Final = """((rows) => rows
  .find((row) => row.textContent.includes("xgrammar 0.2.8"))
  .cells[[...rows[0].cells].findIndex((cell) => cell.textContent === "anyOf")]
  .textContent)([...document.querySelector("table.places").rows])"""
_MAIN: Final = "document.querySelector('main').innerText"
#: The question, what is clicked on from `/`, where the answer stands, and what it is.
_QUESTIONS: Final[tuple[tuple[str, list[str], str, str], ...]] = (
    ("Does XGrammar 0.2.8 enforce minItems inside anyOf?",
     ["Keywords", "minItems"], _CELL, "^enforced$"),
    ("Which engine takes most real schemas and is right?",
     [], "document.querySelector('.matrix tbody th').innerText", "^llguidance 1.9.1"),
    ("What is wrong with lm-format-enforcer?",
     ["lm_format_enforcer 0.11.3 faithful"], _MAIN,
     "Causes of wrong texts\n[^]+; format"),
    ("What would OpenAI refuse of a schema?",
     ["Your schema", "Show an example"], _MAIN, "OpenAI, strict mode: . refused"),
    ("Does Gemini take oneOf?",
     ["Keywords", "oneOf"], _MAIN, "Gemini, responseJsonSchema[^]{0,40}ignored"),
    ("How is silently wrong defined?", ["About"], _MAIN, "[Ss]ilently wrong"),
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of the published edition, without its dataset."""
    made = tmp_path_factory.mktemp("claims") / "site"
    build_site(_EDITION, None, made)
    return made


def test_a_strangers_six_questions_take_two_clicks(folder: Path) -> None:
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
    assert len(_QUESTIONS) == 6


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


def _rate(count: int, of: int) -> list[float]:
    low, high = interval(count, of)
    return [100 * count / of, 100 * (low or 0), 100 * (high or 0), count, of]


_CLASSES: Final = {
    "taken and right": ("passed",),
    "refused honestly": ("compile_error",),
    "silently wrong": ("under_constrained", "wrong_both_ways"),
    "blocked valid": ("over_constrained", "mask_gap"),
    "died": ("timeout", "crash", "out_of_memory", "lied", "contradicted",
             "engine_error", "error", "too_much_output", "protocol_error"),
}  # fmt: skip


_Expected = tuple[tuple[str, str], list[float]]


def _of_all(engine: str, all_: dict[str, Any]) -> Iterator[_Expected]:
    for name, part in (("compiles", "compiled"), ("passes", "passed")):
        yield (engine, name), _rate(all_[part]["count"], all_[part]["of"])
    for name in ("valid accepted", "invalid blocked"):
        part = all_[name.replace(" ", "_")]
        share = 100 * part["count"] / part["of"]
        yield (engine, name), [share, part["count"], part["of"]]
    for name, part in (("first mask", "compile"), ("between masks", "between")):
        yield (
            (engine, f"time {'to ' * (part == 'compile')}{name}"),
            [all_[part]["median_ns"]],
        )


def _of_engines(rows: list[dict[str, Any]]) -> Iterator[_Expected]:
    own: dict[str, dict[tuple[str, str], dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        if row["task"] == "masks":
            own[row["engine"]][row["config"], row["id"]] = row
    common = set.intersection(*map(set, own.values()))
    compiled = [{key for key in common if by[key]["compiled"]} for by in own.values()]
    for engine, by in own.items():
        shared = [by[key] for key in common]
        outcomes = Counter(row["outcome"] for row in shared)
        for name, words in _CLASSES.items():
            rate = _rate(sum(outcomes[word] for word in words), len(shared))
            yield (engine, name), rate[:3]
            yield (f"version {engine}", name), rate
        timed = [by[key] for key in sorted(set.intersection(*compiled))]
        for name, column in (("compile", "compile_ns"), ("mask", "between_ns")):
            found = times(timed, column)
            assert found is not None
            yield (engine, name), [found["median_ns"]]
        yield from _of_all(engine, figures(list(by.values())))


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
            if heads[0] == "version":
                row = f"version {row}"
            for head, cell in zip(heads, cells, strict=True):
                ours = expected.get((row, head))
                if ours is None or cell == "not run":
                    continue
                shown = _numbers(cell)
                assert len(shown) == len(ours), (name, row, head, cell, ours)
                two = zip(shown, ours, strict=True)
                numbers += [((name, row, head, *each), *each) for each in two]
    assert len(numbers) > 300
    for where, (number, half), own in random.Random(40).sample(numbers, 300):
        assert abs(number - own) <= half * 1.000001, where
