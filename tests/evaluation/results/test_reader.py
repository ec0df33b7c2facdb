"""Runs and editions are read back: every case once, whatever stands in the files."""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from importlib.resources import files
from itertools import product
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import orjson
import polars as pl
import pytest

from curation.system.errors import BadData, NoInput
from evaluation.core.cases import InstanceResult, Result, Row, WalkVerdict, Why
from evaluation.core.run_header import RunHeader
from evaluation.generation.text_generation import DecodingStep, Generation, TextEnding
from evaluation.results.attempts import ATTEMPTS, Attempt
from evaluation.results.edition import ROWS, read_index, read_rows
from evaluation.results.outcomes import Outcome, read_outcome
from evaluation.results.reader import (
    TEXT_COLUMNS,
    NotAnAttempt,
    list_gaps,
    open_run,
    parse_line,
)
from evaluation.results.suite_rows import answer_id, ask_again, scored_run
from evaluation.suites.coverage.scorer import Judgement
from evaluation.suites.coverage.scorer import TextVerdict as Said
from tests.evaluation.made_runs import (
    HEAD,
    accepted,
    blocked,
    finished,
    line,
    many,
    row,
    write_run,
)
from tests.evaluation.site.made_editions import line as edition_line
from tests.evaluation.site.made_editions import write_edition
from tests.evaluation.suites.coverage.written_texts import row_of

if TYPE_CHECKING:
    from collections.abc import Callable


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    """What was written is read, by engine, task, config and id."""
    rows = [row(engine="beta 2.0"), *many("alpha 1.0", 40), row(task="probe")]
    run = open_run(write_run(tmp_path, rows))
    ordered = sorted(rows, key=lambda r: (r.engine, r.task, r.config, r.id))
    assert list(run.rows()) == ordered
    assert len(rows) == 42
    assert run.problems == ()
    counts = {("alpha 1.0", "masks"): 40, ("alpha 1.0", "probe"): 1}
    counts["beta 2.0", "masks"] = 1
    assert repr(run) == f"RecordedRun(folder={tmp_path!r}, row_counts={counts!r})"


def test_a_frame_has_one_line_a_unit(tmp_path: Path) -> None:
    """Counts and sums are those of the row; nothing that is missing is 0."""
    whole = row(walks=(accepted(10, tokens=3), blocked(1), accepted(valid=False)))
    refused = row(id="o2", result=Result.COMPILE_ERROR, walks=(), compile_ns=None)
    frame = open_run(write_run(tmp_path, [whole, refused])).frame()
    assert frame.columns == [*Attempt.__struct_fields__]
    counts = {"valid": 1, "valid_accepted": 1, "invalid": 2, "invalid_blocked": 1}
    times = {"tokens": 9, "between_ns": (3 * 1_010 + 51_000 + 50_000 + 4 * 51_000) / 9}
    missing = dict.fromkeys(("compile_ns", "between_ns"))
    for found, expected in zip(
        frame.to_dicts(),
        (
            {"outcome": "under_constrained", **counts, **times},
            {"outcome": "compile_error", **missing},
        ),
        strict=True,
    ):
        assert found.items() >= expected.items()


def test_walks_have_a_line_each(tmp_path: Path) -> None:
    """One line for each walk of every batch, with the number of its masks."""
    run = open_run(write_run(tmp_path, many("alpha 1.0", 600)))
    walks = run.walks()
    assert list(walks.columns) == list(TEXT_COLUMNS)
    assert walks.height == sum(len(each.walks) for each in run.rows())
    assert walks["masks"][0] == 4
    assert run.walks("masks").equals(walks)


def test_walks_apart_do_not_count(tmp_path: Path) -> None:
    """A walk labelled apart changes neither the outcome nor the counts."""
    other = replace(blocked(valid=True), label={"apart": 1})
    run = open_run(write_run(tmp_path, [row(walks=(accepted(), other))]))
    assert run.frame().to_dicts()[0]["outcome"] == "passed"
    assert run.frame()["valid"].to_list() == [1]
    assert run.walks()["apart"].to_list() == [False, True]
    assert run.walks()["size"].to_list() == [0, 0]


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    """What a killed writer left behind costs its own case alone, silently."""
    whole = line(row(id="o2"))
    for cut in range(1, len(whole) - 1, 53):
        run = open_run(write_run(tmp_path, [row()], tail=whole[:cut]))
        assert [each.id for each in run.rows()] == ["o1"]
        assert run.problems == ()


HOSTILE = {
    "foreign": b'{"hello": "world"}\n',
    "array": b"[1, 2]\n",
    "null": b"null\n",
    "binary": b"\x00\xff\xfe\n",
    "NaN": line(row()).replace(b"2000000", b"NaN"),
    "Infinity": line(row()).replace(b"2000000", b"Infinity"),
    "huge": line(row()).replace(b"2000000", b"9" * 30),
    "beyond int64": line(row()).replace(b"2000000", b"9223372036854775808"),
    "negative": line(row()).replace(b"2000000", b"-1"),
    "fraction": line(row()).replace(b"2000000", b"2.5"),
    "truth": line(row()).replace(b"2000000", b"true"),
    "unknown outcome": line(row()).replace(b'"passed"', b'"splendid"'),
    "deep": b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_line_that_is_no_attempt_is_told_and_left_out(
    name: str, tmp_path: Path
) -> None:
    """It is named by file and line; the rows around it are read.

    The reader and the schema refuse the same JSON.
    """
    tail = HOSTILE[name] + line(row(id="o2"))
    run = open_run(write_run(tmp_path, [row()], tail=tail))
    assert [each.id for each in run.rows()] == ["o1", "o2"]
    (problem,) = run.problems
    assert problem.startswith("attempts.jsonl:2: ")
    with suppress(ValueError, RecursionError):
        assert not _VALIDATOR.is_valid(json.loads(HOSTILE[name]))


_LOST = row(result=Result.UNDECIDED, walks=())


@pytest.mark.parametrize(
    ("rows", "read", "masks"),
    [
        # Run twice, as it was run last.
        ([row(), row(result=Result.CRASH, walks=())], [(Result.CRASH, 0)], [0]),
        # Undecided first: the next repetition.
        ([_LOST, *(row(repetition=n) for n in (1, 2))], [(Result.OK, 1)], [1, 2]),
        # Another engine, task or config is another unit.
        (
            [row(), row(engine="beta 2.0"), row(task="probe"), row(config="Snowplow")],
            4 * [(Result.OK, 0)],
            [0, 0, 0],
        ),
        # A run that was killed at once has tables of no lines.
        ([], [], []),
    ],
)
def test_a_case_counts_once(
    rows: list[Row], read: list[tuple[Result, int]], masks: list[int], tmp_path: Path
) -> None:
    """Tables of rows and of measurements have the same cases."""
    run = open_run(write_run(tmp_path, rows))
    assert [(each.result, each.repetition) for each in run.rows()] == read
    assert run.frame().height == len(read)
    assert run.attempts("masks")["repetition"].to_list() == masks
    assert run.walks().height == sum(len(each.walks) for each in run.rows())


def test_a_case_with_one_undecided_repetition_is_not_left_out(tmp_path: Path) -> None:
    """Its other repetitions are in figures; the gap speaks of the measurement."""
    header = {**HEAD, "finished": finished([row()])}
    rows = [row(), replace(_LOST, repetition=1)]
    run = open_run(write_run(tmp_path, rows, header))
    (gap,) = list_gaps(run)
    assert "has 1 case of task masks with an undecided measurement" in gap
    assert len([*run.rows()]) == 1


DAMAGED = {
    "time": (b"[50000,", b'["50000",'),
    "result": (b'"ok"', b'"fine"'),
    "verdict": (b'"accepted"', b'"perhaps"'),
    "walk": (b'"walks":[', b'"walks":[7,'),
}


@pytest.mark.parametrize("change", DAMAGED.values(), ids=DAMAGED)
def test_damaged_texts_are_named_where_they_are_read(
    change: tuple[bytes, bytes], tmp_path: Path
) -> None:
    """The table needs none of them; who does is told the line."""
    damaged = line(row(id="o2")).replace(*change)
    run = open_run(write_run(tmp_path, [row()], tail=damaged))
    assert run.attempts("masks").height == 2
    with pytest.raises(BadData, match=r"attempts\.jsonl:2"):
        list(run.rows())


def test_texts_of_a_file_that_has_gone_are_unavailable(tmp_path: Path) -> None:
    """The fault names the file, rather than fewer rows."""
    run = open_run(write_run(tmp_path, [row()]))
    assert run.frame().height == 1
    (tmp_path / ATTEMPTS).unlink()
    with pytest.raises(NoInput, match=ATTEMPTS):
        list(run.rows())


def test_a_folder_without_its_files_is_no_run(tmp_path: Path) -> None:
    """The fault names the file and the command that makes one.

    A folder in its place is no run of no rows.
    """
    with pytest.raises(NoInput, match=r"run\.json: No such file .*csbdata eval"):
        open_run(tmp_path)
    with pytest.raises(NoInput, match=r"index\.json: No such file .*results publish"):
        read_index(tmp_path)
    write_run(tmp_path, [])
    (tmp_path / ATTEMPTS).unlink()
    (tmp_path / ATTEMPTS).mkdir()
    with pytest.raises(NoInput, match=r"attempts\.jsonl: Is a directory"):
        open_run(tmp_path)


def test_a_row_of_a_task_is_no_answer(tmp_path: Path) -> None:
    """Whoever asks for a suite's answers is told whose row it is."""
    run = open_run(write_run(tmp_path, [row(task="passrate")]))
    with pytest.raises(BadData, match=r"easy/o1: no row of suite passrate"):
        scored_run(run, "passrate")


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{", "NaN", '{"limits": 40}', '{"tokenizer": "smollm2"}'),
        *(f'{{"engines": {it}}}' for it in ('{"a": 1}', '["a"]', '[{"engine": 1}]')),
    ],
)
def test_a_header_that_is_none_is_bad_data(content: str, tmp_path: Path) -> None:
    """The fault names the file."""
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(BadData, match=r"run\.json"):
        open_run(tmp_path)


def test_a_header_of_little_is_one(tmp_path: Path) -> None:
    """A part that is not there is missing, and no fault.

    Nothing is left out or invalid; one greedy text a schema, one at a time.
    """
    run = open_run(write_run(tmp_path, [row()], {"finished": None}))
    assert (run.header, run.tasks, len(run)) == (RunHeader(), ("masks",), 1)
    data, model = run.header.data, run.header.models
    assert (data.invalid, data.left_out, data.vacuous) == (0, 0, 0)
    assert (model.samples, model.batch, model.seed, model.temperature) == (1, 1, 0, 0)
    assert (run.header.settings.seed, run.header.settings.orders) == (0, 0)


def test_unknown_fields_are_left_alone(tmp_path: Path) -> None:
    """A later version may add fields."""
    given = orjson.loads(line(row())) | {"novel": {"a": 1}}
    run = open_run(write_run(tmp_path, [], tail=orjson.dumps(given) + b"\n"))
    assert list(run.rows()) == [row()]


def test_a_time_that_is_all_waiting_stays(tmp_path: Path) -> None:
    """It says more than none; of a longer one the wait is taken out."""
    waited = [
        row(id=str(took), compile_ns=took, compile_waited_ns=5) for took in (5, 8)
    ]
    run = open_run(write_run(tmp_path, waited))
    assert [read.compile_ns for read in run.rows()] == [5, 3]


def test_a_step_of_over_four_medians_may_have_waited(tmp_path: Path) -> None:
    """One of four has not: nothing is taken out of it."""
    walk = replace(
        accepted(),
        mask_ns=(10, 10, 10, 41),
        commit_ns=(10, 10, 10, 40),
        waited_ns=31,
    )
    run = open_run(write_run(tmp_path, [row(walks=(walk,), first_mask_ns=50)]))
    (read,) = run.rows()
    assert read.walks[0].mask_ns == (10, 10, 10, 10)
    assert read.walks[0].commit_ns == (10, 10, 10, 40)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda it: it.cast({"id": pl.Int8, "tokens": pl.String}), "column id, tokens"),
        (lambda it: it.with_columns(why=pl.lit(None, pl.String)), "every row of why"),
        (lambda it: it.with_columns(outcome=pl.lit("new")), "no outcome: new"),
    ],
    ids=["of another type", "null", "another outcome"],
)
def test_rows_are_read_with_all_that_pages_show(
    change: Callable[[pl.DataFrame], pl.DataFrame], said: str, tmp_path: Path
) -> None:
    """Every column of its type, a text in each of texts, outcomes that are known."""
    outcomes = ["passed", "compile_error"]
    lines = [edition_line("alpha 1.0", str(n), it) for n, it in enumerate(outcomes)]
    path = write_edition(tmp_path, lines) / ROWS
    assert read_rows(tmp_path)["outcome"].to_list() == outcomes
    change(pl.read_parquet(path)).write_parquet(path)
    with pytest.raises(BadData, match=said):
        read_rows(tmp_path).to_dicts()


SCHEMA = json.loads(
    files("evaluation.results").joinpath("attempt.schema.json").read_bytes()
)
_VALIDATOR = jsonschema_rs.validator_for(SCHEMA)


def test_the_schema_is_one() -> None:
    """It is valid under its own dialect, and names the files that readers look for."""
    jsonschema_rs.meta.validate(SCHEMA)
    assert f" {ATTEMPTS}:" in SCHEMA["title"]


def test_what_is_written_fits() -> None:
    """Each line that we write is an instance."""
    for each in many("alpha 1.0", 60):
        _VALIDATOR.validate(orjson.loads(line(each)))


@pytest.mark.parametrize("sample", [0, 3])
@pytest.mark.parametrize("judged", [None, Judgement(is_json=True, own=Said.VALID)])
def test_what_a_model_wrote_fits(judged: Judgement | None, sample: int) -> None:
    """The lines of task coverage are instances, too, and stand by their class."""
    step = DecodingStep(fed=1, forward_ns=2, mask_ns=None, wait_ns=3)
    made = row_of(
        Generation(id="o1", result=Result.OK, ending=TextEnding.END, steps=(step,)),
        judged,
        engine="alpha 1.0",
        repeat=sample,
    )
    _VALIDATOR.validate(orjson.loads(line(made)))
    passed = read_outcome(parse_line(line(made), Row)) is Outcome.PASSED
    assert passed == (judged is not None)


#: A line with all its parts, and what a field of any of them may be given instead.
_FULL = line(row(walks=(replace(blocked(), why=Why(stands="limit")),)))
_GONE = object()
_VALUES = (
    *(_GONE, None, True, 0, -1, 1.5, 1e300, 2**64, "", "???"),
    *([], [1], [[]], ["x"], {}, {"a": 1}, *Result, *Outcome, *WalkVerdict),
)


def _read(content: bytes) -> tuple[Row, Attempt] | None:
    try:
        return parse_line(content, Row), parse_line(content, Attempt)
    except NotAnAttempt:
        return None


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        *((Attempt, ()), (Row, ())),
        *((InstanceResult, ("walks", 0)), (Why, ("walks", 0, "why"))),
    ],
)
def test_a_field_is_read_as_given_or_refused_by_both(
    kind: type, place: tuple[str | int, ...]
) -> None:
    """The published contract and what readers check against are one.

    Whatever the field, a mistaken value is neither an instance nor an attempt.
    """
    for name, value in product(kind.__annotations__, _VALUES):
        changed = json.loads(_FULL)
        part: Any = reduce(getitem, place, changed)
        part.pop(name, None)
        if value is not _GONE:
            part[name] = value
        read = _read(json.dumps(changed).encode())
        assert (read is not None) is _VALIDATOR.is_valid(changed), (name, value)
        expected = tuple(value) if isinstance(value, list) else value
        if read and not place and name != "label" and value is not _GONE:
            assert {getattr(it, name, expected) == expected for it in read} == {True}


@pytest.mark.parametrize("repeat", [0, 2])
@pytest.mark.parametrize("record", ["o1", "a#b", "#", "a#b#c", "a#2", "a#0"])
def test_a_command_asks_the_record_of_any_answer(record: str, repeat: int) -> None:
    """A `#` in a record's own id ends nothing."""
    asked = ["csbdata", "suite", "run", "passrate"]
    chosen = ["--id", "g/other", "--jobs", "2", "--limit=3"]
    header = {"command": [*asked, *chosen]}
    own = answer_id(record, repeat)
    words = shlex.split(ask_again(header, Path("records.jsonl"), "g", own))
    data = ["--data", str(Path("records.jsonl").resolve())]
    assert words == [*asked, "--jobs", "2", *data, "--id", f"g/{record}"]


def test_two_answers_never_share_a_row() -> None:
    """The third answer to `a` is not the first one to a record called `a#2`."""
    answers = [(record, n) for record in ("a", "a#2", "a#2#0") for n in range(3)]
    assert len({answer_id(*answer) for answer in answers}) == len(answers)
