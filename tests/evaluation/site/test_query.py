"""Queries over records and paired tests say in the browser what Python says."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evaluation.reporting.statistics import mcnemar
from evaluation.results.edition import COLUMNS, Line, pairs_of, read_index
from evaluation.results.outcomes import Outcome
from evaluation.site.classes import Class, class_of
from evaluation.site.query import records_data
from evaluation.site.site import Site
from tests.evaluation.site.node import answers, needs_node

pytestmark = [pytest.mark.slow, needs_node]
_EDITION = Path("results/2026.11")
_OLD, _NEW, _OTHER = "alpha 1.9.0 faithful", "alpha 1.10.0 faithful", "beta"
_ENDS = {Outcome.COMPILE_ERROR, Outcome.TIMEOUT, Outcome.CRASH, Outcome.OUT_OF_MEMORY}


@pytest.fixture(scope="module")
def site(sample_build: Path) -> Site:
    """Return the site of made-up outcomes on the sample; not all are asked."""
    index = read_index(_EDITION)
    engines = [
        msgspec.structs.replace(index.engines[0], engine=name)
        for name in (_OLD, _NEW, _OTHER)
    ]
    index = msgspec.structs.replace(index, engines=engines)
    empty = Site(folder=_EDITION, index=index, lines=[], data=sample_build)
    draw = random.Random(40)
    lines = [
        _line(engine, record, draw)
        for record in empty.records()
        for engine in (_OLD, _NEW, _OTHER)
        if draw.random() < 0.8
    ]
    return Site(folder=_EDITION, index=index, lines=lines, data=sample_build)


def _line(engine: str, record: dict[str, Any], draw: random.Random) -> Line:
    outcome = draw.choice(list(Outcome))
    return {
        **dict.fromkeys(COLUMNS),
        "engine": engine,
        "task": "masks",
        "config": record["config"],
        "id": record["unique_id"],
        "outcome": str(outcome),
        "compiled": outcome not in _ENDS,
        "passed": None if outcome is Outcome.UNTESTED else outcome is Outcome.PASSED,
        "compile_ns": draw.randint(1, 10**9),
    }


_SEARCHED = """({ data, queries }) => {
  const own = csbdata.query.prepared(data);
  return queries.map((text) => {
    const { found, problems } = csbdata.query.search(text, own);
    return [found.map((index) => own.records.id[index]), problems];
  });
}"""


def _data(site: Site) -> Any:  # noqa: ANN401 - any JSON
    return json.loads(msgspec.json.encode(records_data(site)))


def test_a_query_finds_what_all_its_terms_hold_for(site: Site) -> None:
    """Outcome, class, version, keyword, config, size, text and minus: as in Python."""
    records = {it["unique_id"]: it for it in site.records()}
    lines = {(it["engine"], it["id"]): it for it in site.lines}

    def classes(engine: str, kind: Class) -> set[str]:
        return {id_ for id_ in records if _has(lines.get((engine, id_)), kind)}

    # In o214 a property has that name; in o405 it stands in what no draft reads.
    lengths = {i for i, it in records.items() if '"minLength"' in it["json_schema"]}
    lengths -= {"o214", "o405"}

    asked = {id_ for engine, id_ in lines if engine == _OTHER}
    failed = {i for (e, i), it in lines.items() if e == _NEW and it["passed"] is False}
    config = next(iter(records.values()))["config"]
    small = {i for i, it in records.items() if len(it["json_schema"]) < 800}
    of_config = {i for i, it in records.items() if it["config"] == config}
    expected = {
        "": set(records),
        "alpha:right": classes(_NEW, Class.RIGHT),
        "alpha-1.9.0:right": classes(_OLD, Class.RIGHT),
        f'"{_OLD}":refused': classes(_OLD, Class.REFUSED),
        "alpha:silent beta:blocked": classes(_NEW, Class.SILENT)
        & classes(_OTHER, Class.BLOCKED),
        "-beta:asked": set(records) - asked,
        "alpha:failed": failed,
        "kw:minLength": lengths,
        "-kw:minLength beta:died": classes(_OTHER, Class.DIED) - lengths,
        f"config:{config} size:<800": of_config & small,
        "size:>=800": set(records) - small,
        "id:O1": {id_ for id_ in records if "o1" in id_.lower()},
        "name:zzzz": set(),
    }
    assert sum(map(bool, expected.values())) >= len(expected) - 2
    given = {"data": _data(site), "queries": list(expected)}
    found = answers("json query", _SEARCHED, given)
    for (query, ids), (theirs, problems) in zip(expected.items(), found, strict=True):
        assert (set(theirs), problems) == (ids, []), query


def _has(line: Line | None, kind: Class) -> bool:
    return line is not None and class_of(line) is kind


def test_what_cannot_be_asked_is_named_with_what_can(site: Site) -> None:
    """A typo is neither nothing nor everything: the words that exist are listed."""
    queries = ["alpah:right", "alpha:wright", "kw:minItem", "config:x", "size:many"]
    given = {"data": _data(site), "queries": queries}
    for query, (found, problems) in zip(
        queries, answers("json query", _SEARCHED, given), strict=True
    ):
        (problem,) = problems
        assert not found, query
        assert query.split(":")[0 if query == "alpah:right" else 1] in problem


def test_mcnemar_in_the_browser_is_that_of_python() -> None:
    """The last bit of p is the same, from 1 down to numbers too small for a double."""
    draw = random.Random(40)
    counts = [(0, 0), (1, 0), (3, 3), (0, 1070), (1076, 0), (0, 4000), (2, 1080)]
    counts += [(draw.randrange(9), draw.randrange(9)) for _ in range(30)]
    counts += [(draw.randrange(900), draw.randrange(900)) for _ in range(60)]
    counts += [(draw.randrange(4000), draw.randrange(4000)) for _ in range(20)]
    function = "(pairs) => pairs.map(([a, b]) => csbdata.query.mcnemar(a, b))"
    assert answers("json query", function, counts) == [mcnemar(*it) for it in counts]


def test_pairs_of_the_browser_are_those_of_the_edition(site: Site) -> None:
    """Each pair has the counts and the p of `index.json`'s own function."""
    function = """(data) => {
      const own = csbdata.query.prepared(data);
      const all = [...own.records.id.keys()];
      const { paired, flag } = csbdata.query;
      return own.engines.flatMap((a) => own.engines.map((b) => {
        const it = paired(flag(a.passed), flag(b.passed), all);
        return [a.name, b.name, it.both.length, it.onlyA.length, it.onlyB.length, it.p];
      }));
    }"""
    theirs = answers("json query", function, _data(site))
    for pair in pairs_of(site.lines, "masks"):
        own = [pair.a, pair.b, pair.both_pass, pair.only_a, pair.only_b, pair.p]
        assert own in theirs
