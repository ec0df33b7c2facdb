"""Runs are compared only where their figures mean something together."""

from __future__ import annotations

import random
import re
from copy import deepcopy
from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.packaging.rewritten_fits import FITS
from curation.system.errors import BadConfiguration, BadData
from evaluation.analysis.compare_runs import objections
from evaluation.core.records import Verdict
from evaluation.core.suite import ScoredResponse, ScoredRun
from evaluation.reporting.statistics import Interval
from evaluation.reporting.tables import Rate
from evaluation.results.conditions import check_participants
from evaluation.results.edition_picture import fits_picture
from evaluation.results.fits import WAYS, FitRow, fits_table, reached, read_fits
from evaluation.results.noise import (
    measure_reach,
    repetition_offsets,
    times_by_case,
    widened,
)
from evaluation.results.reader import open_run
from evaluation.results.suite_pairs import (
    changed_classes,
    pair_sides,
    paired_rates,
    pairs_with_free,
)
from evaluation.results.suite_tables import (
    costs,
    passed,
    reading,
    repairs_table,
    standings,
)
from tests.evaluation.made_runs import HEAD, finished, many, row, write_run
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from curation.core.json_types import Json, UntypedJson
    from evaluation.reporting.tables import Table
    from evaluation.results.reader import RecordedRun


_WHOLE: dict[str, Any] = {**HEAD, **table(__file__, "header")[0]}


def _changed(path: str, value: UntypedJson) -> dict[str, Any]:
    """Return the header with the member at a path (`models.dtype`) replaced."""
    head = deepcopy(_WHOLE)
    *parents, last = path.split(".")
    inner: dict[str, Any] = head
    for name in parents:
        inner = inner[name]
    inner[last] = value
    return head


#: A member of the header, another value of it, and what the refusal calls it.
_MATTERS = table(__file__, "conditions_that_matter")
#: What may differ: it decides neither what is asked nor what comes of it.
_DOES_NOT = table(__file__, "conditions_that_do_not")


def _short(value: object) -> str:
    return str(value)[:25]


def _two(folder: Path, other: dict[str, Any]) -> list[RecordedRun]:
    folders = (
        write_run(folder / "a", [row()], _WHOLE),
        write_run(folder / "b", [row(id="o2")], other),
    )
    return [open_run(path) for path in folders]


@pytest.mark.parametrize(("path", "value", "words"), _MATTERS, ids=_short)
def test_f55_what_was_made_otherwise_is_objected_to(
    path: str, value: UntypedJson, words: str, tmp_path: Path
) -> None:
    """One line that names the part, what it is and what it should be."""
    (objection,) = objections(_two(tmp_path, _changed(path, value)))
    assert words in objection
    assert "\n" not in objection


@pytest.mark.parametrize(("path", "value"), _DOES_NOT, ids=_short)
def test_what_decides_nothing_may_differ(
    path: str, value: UntypedJson, tmp_path: Path
) -> None:
    """Two hosts are not two machines for 4 KiB of memory or another path."""
    runs = _two(tmp_path, _changed(path, value))
    assert objections(runs) == []
    check_participants(runs)


def test_settings_of_tasks_that_only_one_run_has_may_differ(tmp_path: Path) -> None:
    """What task probe was told says nothing of the masks beside it."""
    other = {**_changed("settings.values", {"drafts": "7"}), "tasks": ["probe"]}
    assert objections(_two(tmp_path, other)) == []


@pytest.mark.parametrize(
    ("member", "value", "named"),
    [
        ("options", {"strict": True}, "options"),
        ("version", "2.0", "version"),
        ("sha256", "other", "content"),
        ("server", "http://127.0.0.1:1/v1", "server"),
    ],
)
def test_an_engine_run_otherwise_is_refused(
    member: str, value: UntypedJson, named: str, tmp_path: Path
) -> None:
    """One label cannot stand for two ways of running an engine."""
    head = {**_WHOLE, "engines": [{**_WHOLE["engines"][0], member: value}]}
    with pytest.raises(BadConfiguration, match=rf"another alpha 1\.0.*{named}"):
        check_participants(_two(tmp_path, head))


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"finished": None, "rows": 20}, "a: not finished: 13 rows of 20"),
        (
            {"finished": finished(many("alpha 1.0", 20))},
            "alpha 1.0 has 13 of 20 rows of task masks",
        ),
    ],
    ids=["killed", "cut"],
)
def test_a_run_that_lacks_rows_is_objected_to(
    header: dict[str, Any], said: str, tmp_path: Path
) -> None:
    """Because it was killed, or because somebody cut its file."""
    rows = many("alpha 1.0", 20)[:13]
    run = open_run(write_run(tmp_path / "a", rows, {**_WHOLE, **header}))
    (objection,) = objections([run])
    assert said in objection


_AS_IT_STANDS, _SAFE, _ANY = WAYS
_ROWS = [
    FitRow(config="c", id="0", target="b", taken=_AS_IT_STANDS, late=True),
    *(
        FitRow(config="c", sampled=True, **given)
        for given in (
            {"id": "1", "target": "b", "taken": _AS_IT_STANDS},
            {"id": "2", "target": "b", "taken": _SAFE, "kept": True, "refused": 1.0},
            {"id": "3", "target": "b", "taken": _ANY, "kept": True, "refused": 0.5}
            | {"in_the_way": ["`not`"]},
            {"id": "4", "target": "b", "taken": _ANY, "kept": False, "refused": 0.0}
            | {"in_the_way": ["`not`", "depth"], "late": True},
            {"id": "1", "target": "a", "taken": "never", "in_the_way": ["depth"]},
        )
    ),
]


def test_a_way_counts_those_before_it_and_nothing_that_keeps_no_witness() -> None:
    """Else a schema that says nothing any more would count as fitting."""
    counts = {name: [it.count for it in ways] for name, ways in reached(_ROWS).items()}
    assert list(counts.items()) == [("b", [1, 2, 3]), ("a", [0, 0, 0])]
    assert {it.of for it in reached(_ROWS)["b"]} == {4}


def test_near_misses_are_those_of_rewritten_records() -> None:
    """As it stands, a schema refuses all; a lost one counts neither; none is a dash."""
    table = fits_table(_ROWS)
    assert [row[4:] for row in table.rows] == [
        ("75.0 %", "50.0 %", "`not` 1"),
        (None, None, "depth 1"),
    ]
    assert "ended: 1." in table.note


def test_the_picture_has_three_bars_a_target() -> None:
    """Each as wide as its share, the widest and lightest below the others."""
    picture = fits_picture(_ROWS, "2026.11")
    assert 'viewBox="0 0 640 88"' in picture
    bars = re.findall(r'<rect x="210" y="(\d+)" width="(.*?)" .*y="(.*?)"/>', picture)
    assert bars == [
        *(("37", "225.0", "0.3"), ("37", "150.0", "0.45"), ("37", "75.0", "1")),
        *(("61", "0.0", "0.3"), ("61", "0.0", "0.45"), ("61", "0.0", "1")),
    ]
    assert "25 / 50 / 75 %" in picture


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Of an edition without the file there are no rows; a foreign one is named."""
    assert read_fits(tmp_path) == []
    rows = [msgspec.to_builtins(row) for row in _ROWS]
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(tmp_path / FITS)
    assert read_fits(tmp_path) == _ROWS
    pl.DataFrame({"target": ["a"]}).write_parquet(tmp_path / FITS)
    with pytest.raises(BadData, match="not of an edition"):
        read_fits(tmp_path)


def _processes(deviation: float, count: int, seed: int) -> list[list[float]]:
    """Return times of 50 schemas in so many processes, each faster or slower."""
    draw = random.Random(seed)
    offsets = [draw.gauss(0, deviation) for _ in range(count)]
    return [
        [exp(10 + size + offset) for offset in offsets]
        for size in (draw.gauss(0, 1) for _ in range(50))
    ]


def test_times_are_by_case_in_the_order_of_attempts() -> None:
    """A bootstrap draws by place; a case without one of its times has none."""
    ids = [str(number) for number in range(60, 0, -1)]
    lines = {"config": ["c"] * 120, "id": ids * 2, "ns": [None, *range(1, 120)]}
    found = times_by_case(pl.DataFrame(lines), "ns")
    assert [*found] == [("c", id_) for id_ in ids[1:]]
    assert found["c", "59"] == [1, 61]


def test_the_deviation_between_processes_is_found() -> None:
    """Whatever lies between schemas; more processes leave less of it.

    Without repetitions nothing is known, which widens nothing.
    """
    assert measure_reach([[[5.0], [7.0]], [[5.0]]]) == 0
    # Student's quantile of one degree of freedom, of offsets -1 and 1.
    two_and_one = measure_reach([[[1.0, exp(2)]], [[1.0]]])
    assert two_and_one == pytest.approx(12.7062 * (2 * (1 / 2 + 1)) ** 0.5, rel=1e-4)
    once = [[10.0]] * 50
    for count in (200, 800):
        reach = measure_reach([_processes(0.1, count, 1), once])
        assert reach == pytest.approx(0.196, rel=0.1)
        both = measure_reach([_processes(0.1, count, 1), _processes(0.1, count, 2)])
        assert both == pytest.approx(0.196 * (2 / count) ** 0.5, rel=0.1)


def test_offsets_are_of_the_cases_that_all_repetitions_have() -> None:
    """They add up to nothing; a case that lacks one says nothing of any."""
    offsets = repetition_offsets([[1.0, exp(2)], [1.0, exp(2)], [9.0]])
    assert offsets == pytest.approx([-1.0, 1.0])
    assert repetition_offsets([[1.0], [2.0]]) == repetition_offsets([]) == []


@given(
    value=st.floats(0.1, 10),
    low=st.floats(0.5, 1),
    high=st.floats(1, 2),
    reach=st.floats(0, 2),
)
def test_an_interval_never_gets_narrower(
    value: float, low: float, high: float, reach: float
) -> None:
    """And it reaches at least as far as the other error."""
    before = Interval(value * low, value * high)
    after = widened(value, before, reach)
    assert after.low <= before.low * (1 + 1e-9)
    assert after.high >= before.high * (1 - 1e-9)
    assert log(after.high / value) >= reach - 1e-9
    assert log(value / after.low) >= reach - 1e-9


_RESPONSE = ScoredResponse(
    record="r",
    group="",
    repeat=0,
    model="a",
    condition="free",
    verdicts=(Verdict(passed=True),),
)


def _sides(*names: str) -> dict[str, list[ScoredResponse]]:
    """Return a right answer for each model and condition."""
    sides = {}
    for name in names:
        model, condition = name.split()
        sides[name] = [replace(_RESPONSE, model=model, condition=condition)]
    return sides


def _answered(verdicts: Iterable[Verdict], **fields: Any) -> list[ScoredResponse]:  # noqa: ANN401 (fields of a response)
    """Return an answer to each of as many records, which takes ever longer."""
    return [
        replace(
            _RESPONSE,
            record=str(place),
            verdicts=(verdict,),
            seconds=place + 1.0,
            **fields,
        )
        for place, verdict in enumerate(verdicts)
    ]


def _cells(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_each_constrained_side_is_paired_with_the_free_one_of_its_model() -> None:
    """A model without a free side is in no pair, and neither is an empty side.

    An empty list of pairs compares nothing; without a list every two are.
    """
    assert pairs_with_free({**_sides("a E", "b E", "a free"), "x": []}) == [
        ("a free", "a E")
    ]
    sides = _sides("a free", "b free")
    assert pair_sides(sides, []) == []
    assert [(pair.a, pair.b) for pair in pair_sides(sides)] == [("a free", "b free")]


def test_answers_of_one_cluster_count_together() -> None:
    """Twenty records of one schema are one difference, not twenty."""
    details: dict[str, Json] = {"cluster": "one schema"}
    wrong = Verdict(passed=False, failure_class="parse", details=details)
    right = Verdict(passed=True, details=details)
    sides = {"a": _answered([wrong] * 20), "b": _answered([right] * 20)}
    (pair,) = pair_sides(sides)
    (cells,) = _cells(paired_rates([pair]))
    assert cells["p"] == 1.0
    assert cells["b passes"] == passed(sides["b"]) == Rate(20, 20, 1.0)
    assert changed_classes([pair]).rows[0][4] == Rate(20, 20, 1.0)
    assert repairs_table(ScoredRun(by_label=sides, facts={})).rows == ()
    repaired = [replace(it, verdicts=(wrong, right)) for it in sides["b"]]
    repairs = repairs_table(ScoredRun(by_label={"b": repaired}, facts={}))
    assert repairs.rows[0][1:] == (Rate(0, 20, 1.0), Rate(20, 20, 1.0))


def test_the_first_table_ranks_the_models_and_says_how_sure() -> None:
    """The best first, with its interval by clusters, its price and what fails most.

    All of the records that both answered; two more were asked of one alone.
    """
    wrong = [
        Verdict(passed=False, failure_class=name, details={"envelope": "bare"})
        for name in ["parse"] * 5 + ["type"] * 3 + ["range"] * 4
    ]
    right = [Verdict(passed=True, details={"envelope": "fence"})] * 10
    by_label = {
        label: _answered(verdicts, cost=0.5, output_tokens=3)
        for label, verdicts in (("a", wrong), ("b", right))
    }
    run = ScoredRun(by_label=by_label, facts={"records": 20})
    table = standings(run)
    rows = _cells(table)
    assert [str(row["p50"]) for row in rows] == ["5.50 s", "5.50 s"]
    cells = _cells(costs(run))[1]
    assert (str(cells["p50"]), str(cells["p95"])) == ("5.50 s", "9.55 s")
    assert (cells["output tokens"], cells["thinking"]) == (30, None)
    assert [row["model"] for row in rows] == ["b", "a"]
    assert rows[0]["p against the first"] is None
    assert rows[1]["p against the first"] == 2 / 2**10
    assert rows[1]["fails most"] == "parse 5, type 3"
    assert rows[0]["cost"] == 5
    assert [row["envelope"] for row in rows] == ["fence 10", None]
    assert "every model answered: 10 of 12. 12 of 20 records were" in table.note
    alike = standings(ScoredRun(by_label=by_label, facts={"records": 12}))
    assert "12 of 12 records" not in alike.note


def test_a_report_names_a_folder_without_where_it_was() -> None:
    """It is handed on, as an edition is; what is no place stays as it was given."""
    places = "epfl-dlab/JSONSchemaBench, build/sample"
    said = reading({"data": f"/home/ada/own, {places}", "origin": "build"})
    records = f"Records: own, {places} (build)."
    assert said == f"{records} Reading: the recommended one."
    said = reading({"compat": "paper", "settings": {"budget": 1500}})
    limit = "Reading: paper. At most 1,500 tokens a text."
    assert said == f"Records: not recorded (?). {limit}"
