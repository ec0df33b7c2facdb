"""Task `masks`: what is asked of an engine, where it is booked, what is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.system.errors import NoInput
from curation.system.user_files import parse_name
from evaluation.core.cases import Result, WalkVerdict
from evaluation.core.records import Instance, Record
from evaluation.core.run_header import RunHeader, TaskSettings
from evaluation.reporting.tables import NOT_RUN, Rate
from evaluation.results.attempts import make_attempt
from evaluation.results.reader import open_run
from evaluation.tasks.maskbench_files import make_result, write_maskbench
from evaluation.tasks.masks import TASK, cases, permuted_texts
from evaluation.tasks.masks_report import _places
from tests.evaluation.made_runs import HEAD, accepted, blocked, many, row, write_run
from tests.evaluation.measuring import measured, miniature, request_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import Case, Row
    from evaluation.reporting.tables import Table


_SUBJECT = Record(
    id="a",
    group="Made",
    split="test",
    schema='{"type": "object"}',
    dialect="draft-07",
    features=("type",),
    instances=(
        Instance(text='{"a": 1, "b": 2}', valid=True, kind="full"),
        Instance(
            text="7",
            valid=False,
            kind="near_miss",
            keyword="type",
            schema_pointer="/type",
        ),
        Instance(text="[7]", valid=False, kind="suite"),
    ),
)
_EMPTY = Record(id="b", group="Made", schema="true", dialect="draft-07")


def _case(settings: TaskSettings) -> Case:
    (case,) = cases([_SUBJECT], settings)
    return case


def test_every_instance_is_a_walk_with_its_keyword() -> None:
    """A near miss carries the keyword it violates and where that stands."""
    case = _case(TaskSettings())
    assert [(each.text, each.valid) for each in case.walks] == [
        ('{"a": 1, "b": 2}', True),
        ("7", False),
        ("[7]", False),
    ]
    assert [dict(each.label) for each in case.walks] == [
        {"kind": "full"},
        {"kind": "near_miss", "keyword": "type", "pointer": "/type"},
        {"kind": "suite"},
    ]
    assert case.label["dialect"] == "draft-07"


def test_other_orders_are_walks_apart() -> None:
    """Only of valid instances, all marked, and the same ones for the same seed."""
    case = _case(TaskSettings(orders=4))
    apart = [each for each in case.walks if each.label.get("apart")]
    assert [each.text for each in apart] == ['{"b": 2, "a": 1}']
    assert all(each.valid for each in apart)
    assert case == _case(TaskSettings(orders=4))


def test_forced_tokens_are_asked_for_in_the_first_valid_text(tmp_path: Path) -> None:
    """One text a schema tells their share, and to ask takes as long as a mask may."""
    text = Path(miniature("accept_all")).read_text("utf-8")
    engine = tmp_path / "forcing.py"
    engine.write_text(text.replace("return None", "return []"), "utf-8")
    two = Instance(text="{}", valid=True, kind="full")
    subject = msgspec.structs.replace(
        _SUBJECT, instances=(_SUBJECT.instances[1], two, two)
    )
    request = request_of(tmp_path, [subject], settings=TaskSettings(orders=1))
    _, run = measured(tmp_path, [str(engine)], request)
    (row,) = run.rows()
    assert [(walk.valid, walk.forced) for walk in row.walks] == [
        (False, None),
        (True, 0),
        (True, None),
    ]


def test_a_blocked_token_is_offered_where_a_refusal_is_cheap(tmp_path: Path) -> None:
    """An engine with `takes` is asked by it, one by one; others by `commit`."""
    text = Path(miniature("accept_all")).read_text("utf-8").replace("xff", "0")
    silent = text.replace("return True", "return False", 1)
    offered = silent.replace(
        "    def may_end(self):",
        "    def takes(self, _token):\n        return True\n\n    def may_end(self):",
    )
    found = []
    for name, content in (("silent", silent), ("offered", offered)):
        folder = tmp_path / name
        folder.mkdir()
        engine = folder / "engine.py"
        engine.write_text(content, "utf-8")
        _, run = measured(folder, [str(engine)], request_of(folder, [_SUBJECT]))
        found.append(next(run.rows()).walks[0].verdict)
    assert found == [WalkVerdict.BLOCKED, WalkVerdict.MASK_GAP]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(value=_VALUES, count=st.integers(0, 4), seed=st.integers(0, 3))
def test_the_value_is_the_same_and_the_text_is_not(
    value: object, count: int, seed: int
) -> None:
    """Equal as JSON, different as texts, no more than asked for, numbered from 1."""
    text = json.dumps(value, ensure_ascii=False)
    found = list(permuted_texts(text, count, seed))
    texts = [each for _, each in found]
    assert [number for number, _ in found] == list(range(1, len(found) + 1))
    assert len(found) <= count
    assert len({text, *texts}) == len(texts) + 1
    assert all(json.loads(each) == value for each in texts)
    assert found == list(permuted_texts(text, count, seed))


def test_spelling_stays() -> None:
    """Numbers keep how they are written, and all orders are reached."""
    text = '{"a": 1.00, "b": 1e5, "c": -0}'
    texts = {each for _, each in permuted_texts(text, 5, 0)}
    assert len(texts) == 5
    for each in texts:
        assert sorted(each.strip("{}").split(", ")) == [
            '"a": 1.00',
            '"b": 1e5',
            '"c": -0',
        ]


@pytest.mark.parametrize(
    "text",
    [
        *('{"a": 1}', "{}", "[1, 2]", "{", '{"a": 1, "a": 2}', ""),
        # It can be read, and not be written again: no run ends by it.
        *("[" * depth + '{"a": 1, "b": 2}' + "]" * depth for depth in (400, 900)),
    ],
    ids=lambda text: text[:12],
)
def test_what_has_no_other_order_has_none(text: str) -> None:
    """One member, no member, no object, no JSON, repeated names, too deep."""
    assert list(permuted_texts(text, 3, 0)) == []


def _tables(tmp_path: Path, rows: Sequence[Row]) -> list[Table]:
    run = open_run(write_run(tmp_path, rows))
    return [each for each in TASK.tables(run) if each.rows]


def _table(tables: Sequence[Table], slug: str) -> Table:
    return next(each for each in tables if each.slug == slug)


def test_a_wrong_mask_is_booked_under_its_keyword(tmp_path: Path) -> None:
    """Blocked of those walked; what was not run is in no denominator."""
    enum, length = {"keyword": "enum"}, {"keyword": "maxLength"}
    walks = (
        replace(blocked(), label=enum),
        replace(accepted(valid=False), label=enum),
        replace(blocked(), label=enum, verdict=WalkVerdict.NOT_RUN),
        replace(blocked(), label=length, verdict=WalkVerdict.NOT_RUN),
        replace(blocked(), label={}),
    )
    table = _table(_tables(tmp_path, [row(walks=walks)]), "masks-keywords")
    assert set(table.rows) == {("enum", Rate(1, 2, 1.0)), ("(unknown)", Rate(1, 1))}


def test_forced_tokens_are_a_share_of_valid_ones(tmp_path: Path) -> None:
    """An engine that offers none of this has no share, rather than 0."""
    walks = (replace(accepted(tokens=4), forced=3), replace(blocked(), forced=2))
    rows = [row(walks=walks), row(engine="beta 2.0")]
    table = _table(_tables(tmp_path, rows), "masks-instances")
    assert [cells[-1] for cells in table.rows] == [Rate.total([Rate(3, 4)]), None]


def test_intervals_take_texts_of_a_schema_for_one(tmp_path: Path) -> None:
    """Wherever texts are counted: as in the table of coverage."""
    near_miss = replace(blocked(), label={"keyword": "enum"})
    other = replace(accepted(), label={"apart": True, "order": 1})
    walks = (accepted(), near_miss, other) * 20
    found = _tables(tmp_path, [row(id=f"o{n}", walks=walks) for n in range(3)])
    worths = {
        table.slug: [cell.interval.low for cells in table.rows for cell in cells
                     if isinstance(cell, Rate) and cell.of == 60 and cell.interval]
        for table in found
    }  # fmt: skip
    low = Rate(3, 3).interval
    assert low is not None
    for slug in ("coverage", "masks-keywords"):
        assert worths[slug]
        assert worths[slug] == pytest.approx([low.low] * len(worths[slug]))


def test_other_orders_stand_apart(tmp_path: Path) -> None:
    """They have a column, and change nothing else."""
    plain = _tables(tmp_path / "a", [row(walks=(accepted(),))])
    other = replace(blocked(valid=True), label={"apart": True, "order": 1})
    mixed = _tables(tmp_path / "b", [row(walks=(accepted(), other))])
    column = _table(plain, "coverage").columns.index("orders accepted")
    for each in plain:
        rows = _table(mixed, each.slug).rows
        if each.slug == "coverage":
            assert [cells[column] for cells in each.rows] == [NOT_RUN]
            assert [cells[column] for cells in rows] == [Rate(0, 1)]
            rows = tuple(
                (*cells[:column], NOT_RUN, *cells[column + 1 :]) for cells in rows
            )
        assert rows == each.rows


def test_every_unit_has_one_outcome(tmp_path: Path) -> None:
    """Outcomes add up to the cases, and what one engine was not asked is not run."""
    rows = many("alpha 1.0", 40) + many("beta 2.0", 25)
    outcomes = _table(_tables(tmp_path, rows), "outcomes")
    for cells in outcomes.rows:
        total, *counts, not_run = [each for each in cells if isinstance(each, int)]
        assert sum(counts) == total
        assert total + not_run == 40


def test_the_headline_is_told_by_config(tmp_path: Path) -> None:
    """A line for each config and engine; one config alone needs no such table."""
    rows = [
        row(config=config, engine=engine)
        for config in ("Github_easy", "Snowplow")
        for engine in ("alpha 1.0", "beta 2.0")
    ]
    found = _tables(tmp_path / "a", rows)
    lines = [
        ("Github_easy", "alpha 1.0"),
        ("Github_easy", "beta 2.0"),
        ("Snowplow", "alpha 1.0"),
        ("Snowplow", "beta 2.0"),
    ]
    headline = _table(found, "headline-by-config").rows
    assert [cells[:2] for cells in headline] == lines
    times = _table(found, "times-by-config").rows
    assert [cells[1:3] for cells in times] == lines * 3
    alone = _tables(tmp_path / "b", [row()])
    assert not [each.slug for each in alone if "config" in each.slug]


def test_other_tasks_rows_are_left_alone(tmp_path: Path) -> None:
    """A run of another task has no table here."""
    rows = [row(task="probe", result=Result.COMPILE_ERROR, walks=())]
    assert _tables(tmp_path, rows) == []


_MISS = {"kind": "near_miss", "keyword": "maxLength"}


def _long_miss(mask_ns: int = 10**6) -> Row:
    miss = replace(blocked(at=999, mask_ns=mask_ns, tokens=1000), label=_MISS)
    return row(walks=(accepted(mask_ns=1_000, tokens=4), miss))


def test_near_misses_of_length_bounds_stand_alone() -> None:
    """They are in no figure of the time between masks."""
    made = _long_miss()
    assert make_attempt(made, RunHeader()).between_ns == 2_000
    # MaskBench's files have every mask, as its own have.
    assert make_result(made, "x")["num_tokens"] == 1004


@pytest.mark.parametrize(
    ("contexts", "shown"),
    [
        ([], ""),
        (["item", "root", "", "root"], "root 2, item 1"),
        (["a", "b", "c", "b", "b", "a"], "b 3, a 2, ..."),
    ],
)
def test_the_most_frequent_places_are_named(contexts: list[str], shown: str) -> None:
    """Two of them; more are hinted at."""
    assert _places(contexts) == shown


def _dead(result: Result, case: str) -> Row:
    return row(
        id=case, result=result, phase="compile", compile_ns=None,
        first_mask_ns=None, walks=(),
    )  # fmt: skip


def _exported(
    tmp_path: Path, rows: Sequence[Row], engines: Sequence[UntypedJson] = ()
) -> list[Path]:
    header = {**HEAD, "engines": [*engines]}
    run = open_run(write_run(tmp_path / "run", rows, header))
    return write_maskbench(run, tmp_path / "out")


def test_a_schema_has_its_file() -> None:
    """Times in whole microseconds, one for each token: mask and commit together."""
    found = make_result(
        row(walks=(accepted(2_600, tokens=2), blocked(1))), "Github_easy---o1.json"
    )
    assert found == {
        "id": "Github_easy---o1.json",
        "ttfm_us": 2_000,
        "max_ttfm_us": 2_000,
        "masks_us": 3 + 3 + 51 + 50,
        "max_mask_us": 51,
        "num_tokens": 4,
        "num_tests": 2,
        "all_mask_us": [3, 3, 51, 50],
        "num_valid_tests": 1,
        "num_invalid_tests": 1,
    }


def test_what_went_wrong_is_said_in_its_words() -> None:
    """Its tool tells the two kinds apart by these sentences."""
    blocks = make_result(row(walks=(blocked(valid=True), accepted())), "x")
    accepts = make_result(row(walks=(accepted(), accepted(valid=False))), "x")
    refused = make_result(row(result=Result.COMPILE_ERROR, detail="no", walks=()), "x")
    assert blocks["validation_error"] == "test #0: should accept but didn't"
    assert accepts["validation_error"] == "test #1: should reject but didn't"
    assert (refused["compile_error"], refused["ttfm_us"]) == ("no", 0)


def test_no_two_results_share_a_file_on_any_disk(tmp_path: Path) -> None:
    """Ids that differ in case, and all spellings and lengths, stay apart."""
    ids = ["CASE", "case", "Case", "caf\u00e9", "cafe\u0301", "Other"]
    ids += ["a" * 300, "a" * 301]
    rows = [row(id=each, engine=engine) for each in ids for engine in ("a 1", "a/1")]
    folders = _exported(tmp_path, rows)
    assert len({folder.name.casefold() for folder in folders}) == 2
    files = [path.name for path in folders[0].glob("*---*.json")]
    assert len({name.casefold() for name in files}) == len(ids)
    assert "Github_easy---Other.json" in files
    assert {parse_name(Path(name))[1] for name in files} >= set(ids[:6])


def test_a_death_leaves_the_marker_and_the_exit_code(tmp_path: Path) -> None:
    """As its runner does: `pending_file`, and the signal in log.txt."""
    deaths = [Result.CRASH, Result.OUT_OF_MEMORY, Result.TIMEOUT]
    rows = [_dead(each, f"o{place}") for place, each in enumerate(deaths)]
    (folder,) = _exported(tmp_path, rows)
    files = sorted(folder.glob("*.json"))
    assert [json.loads(each.read_text()) for each in files] == [{"pending_file": 1}] * 3
    assert (folder / "log.txt").read_text().splitlines() == [
        "Exit code: -11",
        "Exit code: -6",
        "Exit code: -14",
    ]


def test_hostile_names_stay_in_the_folder(tmp_path: Path) -> None:
    """An id, a config or an engine's name cannot leave the folder."""
    hostile = row(id="../../x/\n", config="../../y", engine="../../e 1")
    (folder,) = _exported(tmp_path, [hostile])
    assert folder.parent == tmp_path / "out"
    assert len(list(folder.glob("*.json"))) == 1


def test_a_run_without_masks_has_none(tmp_path: Path) -> None:
    """The fault names the task that was not run."""
    with pytest.raises(NoInput, match="masks"):
        _exported(tmp_path, [row(task="probe")])


_SCRIPT = Path(os.environ.get("CSBDATA_MASKBENCH", "/nowhere")).joinpath(
    "maskbench", "scripts", "maskbench_results.py"
)


@pytest.mark.slow
@pytest.mark.skipif(
    not _SCRIPT.is_file(), reason="not run: CSBDATA_MASKBENCH names no checkout"
)
def test_its_script_of_results_prints_its_table(tmp_path: Path) -> None:
    """Of two engines, with its counts of our files."""
    engines: list[UntypedJson] = [
        {"engine": f"{name} 1.0 faithful", "name": name, "version": "1.0"}
        for name in ("xgrammar", "llguidance")
    ]
    rows = [
        row(engine=engine["engine"], id=f"o{place}", walks=walks)
        for engine in engines
        for place, walks in enumerate(
            [(accepted(20_000_000), blocked()), (accepted(valid=False),)]
        )
    ]
    folders = _exported(tmp_path, rows, engines)
    command: list[str | Path] = [sys.executable, _SCRIPT, *folders]
    said = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    table = [line.split("|")[1:-1] for line in said.splitlines() if line[:1] == "|"]
    cells = {line[0].strip(): [cell.strip() for cell in line[1:]] for line in table}
    assert cells["metric"] == ["llguidance 1.0 faithful", "xgrammar 1.0 faithful"]
    assert cells["passing"] == cells["invalidation error"] == ["1", "1"]
    assert cells["tokens"] == ["11", "11"]
    assert cells["TBM p100"] == ["20,001", "20,001"]


def test_an_engine_that_maskbench_does_not_know_has_another_id(tmp_path: Path) -> None:
    """It is taken for none of those that it knows, which have theirs."""
    engines: list[UntypedJson] = [
        {"engine": f"{name} 1.0", "name": name} for name in ("llguidance", "alpha")
    ]
    rows = [row(engine=engine["engine"]) for engine in engines]
    folders = _exported(tmp_path, rows, engines)
    ids = {json.loads((folder / "meta.txt").read_text())["id"] for folder in folders}
    assert ids == {"llg", "alpha+1.0"}
