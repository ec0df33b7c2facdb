"""Engines take turns, a deadline ends what lasts too long, answers become rows."""

from __future__ import annotations

import subprocess
import sys
import time
from ast import literal_eval
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

import orjson
import pytest

import csbdata
from curation.system.errors import BadUsage
from curation.workers.limits import Ending, ProcessResult
from curation.workers.worker import WorkerDidNotStart
from evaluation.core.cases import (
    LONG_TEXT,
    Bounds,
    Case,
    InstanceWalk,
    Result,
    WalkVerdict,
)
from evaluation.core.run_header import TaskSettings
from evaluation.masks import engine_process, generation_session
from evaluation.masks import run as walking
from evaluation.masks.engine_process import (
    CoreWaits,
    Deadline,
    describe_error,
    engine_warnings,
)
from evaluation.masks.engine_worker import PendingCase, build_row
from evaluation.masks.generation_session import open_session
from evaluation.masks.walk_session import refusal_reason
from tests.evaluation.measuring import measured, miniature, request_of, sample
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.core.cases import Row


_SAMPLES = [sample(f"o{number}", "{}") for number in range(6)]
_ENGINES = [miniature("accept_all"), miniature("refuse_all")]


def _written(folder: Path) -> list[tuple[str, str, int]]:
    """Return who measured which case for which time, as the lines were written."""
    (path,) = folder.glob("attempts.jsonl")
    rows = map(orjson.loads, path.read_bytes().splitlines())
    return [(row["id"], row["engine"], row["repetition"]) for row in rows]


def test_each_case_is_put_to_all_before_the_next(tmp_path: Path) -> None:
    """Both engines, twice each; the order is not the same for all cases."""
    request = request_of(tmp_path, _SAMPLES, repeats=2)
    totals, run = measured(tmp_path, _ENGINES, request)
    rounds = [_written(run.folder)[at : at + 4] for at in range(0, 24, 4)]
    for written in rounds:
        assert len({case for case, _, _ in written}) == 1
        assert len({(engine, time) for _, engine, time in written}) == 4
    orders = {tuple((engine, time) for _, engine, time in one) for one in rounds}
    assert len(orders) > 1
    assert totals.ran == run.header.rows == len(run) == 24
    assert len(list(run.rows())) == 12
    assert Counter(run.attempts("masks")["repetition"]) == {0: 12, 1: 12}


def test_a_run_that_was_ended_goes_on_where_it_was(tmp_path: Path) -> None:
    """In the middle of a round: what has its row is not asked again."""
    request = request_of(tmp_path, _SAMPLES, repeats=2)
    _, run = measured(tmp_path, _ENGINES, request)
    whole = _written(run.folder)
    (path,) = run.folder.glob("attempts.jsonl")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:9]))
    totals, again = measured(tmp_path, _ENGINES, request)
    assert (totals.reused, totals.ran) == (9, 15)
    assert _written(again.folder) == whole


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_engine_that_does_not_start_leaves_its_turns_to_others(
    tmp_path: Path, jobs: int
) -> None:
    """It is named, and the others have every row, on every core."""
    request = request_of(tmp_path, _SAMPLES, repeats=2, jobs=jobs)
    totals, run = measured(tmp_path, [miniature("broken"), _ENGINES[0]], request)
    assert len(totals.unavailable) == 1
    assert len(run) == totals.ran == 12
    asked = run.attempts("masks").select("id", "repetition").rows()
    assert asked == [(f"o{number}", time) for number in range(6) for time in (0, 1)]


def test_one_that_dies_has_its_row_and_its_next_turn(tmp_path: Path) -> None:
    """Its process is started again, and the others' turns are not moved by it."""
    samples = [sample("crash", "{}"), sample("well", "{}")]
    request = request_of(tmp_path, samples)
    _, run = measured(tmp_path, [miniature("crash"), _ENGINES[0]], request)
    results = [(row.id, row.result) for row in run.rows()]
    assert len(results) == 4
    assert results.count(("crash", Result.CRASH)) == 1
    assert results.count(("well", Result.OK)) == 2


def test_repeats_are_for_tasks_that_take_times(tmp_path: Path) -> None:
    """Elsewhere they would measure nothing."""
    request = request_of(tmp_path, _SAMPLES, tasks=("probe",), repeats=2)
    with pytest.raises(BadUsage, match="times of probe are no results"):
        csbdata.run(replace(request, engines=_ENGINES))


_MS = 1_000_000


class _Clocks:
    """Two clocks that are set by hand."""

    wall = 0
    processor = 0


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> _Clocks:
    """Return the clocks that a deadline reads."""
    found = _Clocks()
    monkeypatch.setattr(engine_process, "perf_counter_ns", lambda: found.wall)
    monkeypatch.setattr(engine_process, "process_time_ns", lambda: found.processor)
    return found


@pytest.mark.parametrize(
    ("wall", "processor", "passed"),
    [
        (3_000, 999, ""),
        (3_000, 1_000, "not finished within 1 s of processor time"),
        (4_000, 0, "not finished within 4 s by the wall clock"),
    ],
)
def test_time_that_others_used_is_not_the_engines(
    clocks: _Clocks, wall: int, processor: int, passed: str
) -> None:
    """Processor time decides; what waits for ever is ended by the wall clock."""
    deadline = Deadline(1.0, 4.0)
    clocks.wall, clocks.processor = wall * _MS, processor * _MS
    assert deadline.look(clocks.wall) is bool(passed)
    assert deadline.passed == passed
    assert deadline.by_wall_clock is ("wall" in passed)


@pytest.mark.parametrize(
    ("wall", "processor", "next_look"),
    [
        # With two cores time cannot be used up before half of it has passed.
        (0, 0, 500),
        # The wall clock is never missed.
        (3_900, 0, 4_000),
        # Where next to nothing is left, it is not asked for after every mask.
        (0, 999.999_999, 1),
    ],
)
def test_a_reading_is_due_when_the_time_can_be_used_up(
    clocks: _Clocks,
    monkeypatch: pytest.MonkeyPatch,
    wall: int,
    processor: float,
    next_look: int,
) -> None:
    """A millisecond later at least."""
    monkeypatch.setattr(engine_process, "_usable_cores", lambda: 2)
    deadline = Deadline(1.0, 4.0)
    clocks.wall, clocks.processor = wall * _MS, round(processor * _MS)
    deadline.look(clocks.wall)
    assert deadline.next_look == next_look * _MS


def test_waits_are_those_since_the_last_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And never negative, whatever the system says."""
    account = tmp_path / "schedstat"
    waits, found = CoreWaits(), []
    for told in ("9 100 1", "9 130 1", "9 120 1"):
        account.write_text(told)
        with account.open() as file:
            monkeypatch.setattr(waits, "_file", file.fileno())
            found.append(waits.since_last())
    assert found == [100, 30, 0]


def test_waits_are_counted_where_the_system_does() -> None:
    """Never negative; a thread that sleeps does not wait for its core."""
    waits = CoreWaits()
    first = waits.since_last()
    time.sleep(0.001)
    second = waits.since_last()
    if first is None:
        pytest.skip("this system does not count them")
    assert second is not None
    assert second >= 0


_EIGHT = '["x", "x", "x", "x", "x", "x", "x", "x"]'


@pytest.mark.parametrize(
    ("title", "wall_times", "words"),
    [
        ("slow-walk", 2.0, "within 0.6 s by the wall clock"),
        ("hang-compile", 2.0, "within 0.6 s by the wall clock"),
        pytest.param("busy-walk", 50.0, "of processor time", marks=pytest.mark.slow),
    ],
)
def test_a_row_says_which_clock_ended_it(
    tmp_path: Path, title: str, wall_times: float, words: str
) -> None:
    """An engine that sleeps uses no processor time; it is ended, and marked."""
    bounds = Bounds(compile_seconds=0.3, run_seconds=0.3, wall_times=wall_times)
    request = request_of(tmp_path, [sample(title, _EIGHT)], bounds=bounds)
    _, run = measured(tmp_path, [miniature("troubled")], request)
    (row,) = run.rows()
    assert row.result is Result.TIMEOUT
    assert row.ended_by_wall_clock is ("wall" in words)
    assert words in row.detail


def test_a_walk_that_waited_for_its_core_blames_the_machine(clocks: _Clocks) -> None:
    """Where most of its time without work was that; what sleeps waits for no core."""

    class Waits(CoreWaits):
        def total(self) -> int:
            return waited[-1]

    for waits, machine in (([0, 3_000 * _MS], True), ([0, 100 * _MS], False)):
        clocks.wall, waited = 0, waits[:1]
        deadline = Deadline(1.0, 4.0, Waits())
        waited.append(waits[1])
        clocks.wall = 4_000 * _MS
        assert deadline.look(clocks.wall)
        assert deadline.for_want_of_core is machine


class _Told:
    """A worker whose answers are told: a result, nothing yet, or no start."""

    child = None

    def __init__(self, engine: Any, *_: object) -> None:  # noqa: ANN401 (it has a label)
        self.participant = engine

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End nothing."""

    def give(self, pending: PendingCase) -> None:
        """Take a case; it comes without deaths, whatever it cost before."""
        assert not pending.deaths
        self.pending, pending.deaths = pending, 3

    def collect(self) -> Row | None:
        """Return the next answer."""
        told = self.participant.told.pop(0)
        if told == "no start":
            raise WorkerDidNotStart(told)
        row = build_row("alpha 1.0", self.pending, None)
        return replace(row, result=told) if told else None


@pytest.mark.parametrize(
    ("told", "written", "counts"),
    [
        ([Result.OK], Result.OK, (1, 0)),
        ([Result.UNDECIDED, None, Result.TIMEOUT], Result.TIMEOUT, (1, 0)),
        ([Result.UNDECIDED] * 2, Result.UNDECIDED, (1, 1)),
        ([Result.UNDECIDED, "no start"], Result.UNDECIDED, (1, 1)),
    ],
)
def test_an_undecided_case_is_asked_once_more(
    told: list[Any],
    written: Result,
    counts: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At the end, alone; still undecided it has a row that the next run repeats."""
    for name, made in (("EngineWorker", _Told), ("_wait_for", lambda _: None)):
        monkeypatch.setattr(walking, name, made)
    task = SimpleNamespace(
        name="masks",
        timed=False,
        takes_turns=False,
        needs_data=False,
        cases=lambda *_: [replace(_CASE, walks=())],
    )
    plan: Any = walking.RunPlan(
        tasks=[task],  # type: ignore[list-item]  # what is asked of it
        records=list,
        tokenizer=SimpleNamespace(digest=""),  # type: ignore[arg-type]  # as above
        settings=TaskSettings(),
        bounds=Bounds(),
    )
    engine: Any = SimpleNamespace(
        label="alpha 1.0", identity="", unavailable="", told=told
    )
    rows: list[Row] = []
    folder: Any = SimpleNamespace(
        finished=(), write=rows.append, record_unavailable=lambda _: None
    )
    steps: list[int] = []
    totals = walking.run([engine], plan, folder, steps.append)
    (row,) = rows
    assert (row.result, bool(row.fingerprint)) == (written, not counts[1])
    assert (totals.ran, totals.undecided, steps) == (*counts, [1])
    assert not told


def test_an_engine_that_dies_of_the_warm_up_has_its_rows(tmp_path: Path) -> None:
    """It is asked again without; what it does with the schemas at hand is told."""
    samples = [sample("one", "{}"), sample("two", "[1]")]
    totals, run = measured(tmp_path, [miniature("cold")], request_of(tmp_path, samples))
    assert not totals.unavailable
    assert [row.result for row in run.rows()] == [Result.OK, Result.OK]
    assert {walk.verdict for row in run.rows() for walk in row.walks} == {
        WalkVerdict.ACCEPTED
    }


_CASE = Case(
    task="masks",
    id="one",
    config="Made",
    schema="{}",
    walks=(InstanceWalk(text="1", valid=True), InstanceWalk(text="2", valid=False)),
)
_COMPILED: dict[str, Json] = {"compile_ns": 7, "warnings": ["w"], "printed": "p"}
_WALKED: dict[str, Json] = {
    "walks": [{"verdict": "accepted", "mask_ns": [1, 2], "commit_ns": [3]}],
    "first_mask_ns": 9,
    "quiet": True,
    "rss_bytes": 11,
}


def _row(*answers: Json, end: ProcessResult | None = None) -> Row:
    pending = PendingCase(_CASE, [[5, 6], [7]], "f", answers=[*answers])
    return build_row("alpha 1.0", pending, end)


def test_both_answers_make_a_row() -> None:
    """Times, warnings and walks are those of the answers."""
    row = _row(_COMPILED, _WALKED)
    assert (row.result, row.phase, row.quiet) == (Result.OK, "", True)
    assert (row.compile_ns, row.first_mask_ns, row.rss_bytes) == (7, 9, 11)
    assert row.warnings == ("w", "p")
    assert row.walks[0].mask_ns == (1, 2)
    assert row.walks[0].tokens == 2
    # The worker ended, or its time was up, before it.
    assert row.walks[1].verdict is WalkVerdict.NOT_RUN


@pytest.mark.parametrize(
    ("answers", "end", "expected"),
    table(__file__, "ends"),
)
def test_an_end_is_the_result(
    answers: list[Json], end: dict[str, Any] | None, expected: list[str]
) -> None:
    """In the words of whoever saw it, without addresses in memory."""
    ended = end and ProcessResult(**{**end, "ending": Ending(end["ending"])})
    row = _row(*answers, end=ended or None)
    assert [row.result, row.phase, row.detail] == expected


def test_a_row_keeps_what_was_seen_last() -> None:
    """Memory and printed lines, each line once, and whether all of it was quiet."""
    many = "[12:34:56] late\n\n late \n" + "\n".join(f"{n}" for n in range(60))
    end = ProcessResult(ending=Ending.TIMEOUT, by_wall_clock=True, stderr=many)
    row = _row({"rss_bytes": 5, "quiet": False, "printed": "x" * 1_001}, None, end=end)
    assert (row.rss_bytes, row.quiet, row.ended_by_wall_clock) == (5, False, True)
    assert row.warnings[:3] == ("late", "0", "1")
    assert len(row.warnings) == 50
    row = _row({"printed": "x" * 1_001, "quiet": False}, _WALKED)
    assert (row.quiet, row.ended_by_wall_clock) == (False, False)
    assert len(row.warnings[0]) == 1_000
    assert _row({}, {}).quiet is None


@pytest.mark.parametrize(
    ("walks", "expected"),
    [
        (["mask_gap", "mask_gap"], ["mask_gap", "lied"]),
        (["accepted", "blocked"], ["accepted", "blocked"]),
    ],
)
def test_a_commit_that_an_invalid_text_needs_is_the_fault(
    walks: list[str], expected: list[str]
) -> None:
    """A mask that lacks its token is right."""
    row = _row(_COMPILED, {"walks": [{"verdict": it, "at": 0} for it in walks]})
    assert [walk.verdict for walk in row.walks] == expected


def test_a_contradiction_names_the_other_text() -> None:
    """By its number from 1; the end is allowed like a token."""
    case = replace(_CASE, walks=(_CASE.walks[0], _CASE.walks[0]))
    ends: tuple[tuple[dict[str, Json], list[int], str], ...] = (
        ({"verdict": "blocked", "at": 1}, [5, 6, 7], "this token"),
        ({"verdict": "unfinished"}, [5, 6], "the end"),
    )
    for walk, tokens, said in ends:
        answers: list[Json] = [{}, {"walks": [{"verdict": "accepted"}, walk]}]
        pending = PendingCase(case, [[5, 6], tokens], "f", answers=answers)
        result = build_row("alpha 1.0", pending, None).walks[1]
        assert result.verdict is WalkVerdict.CONTRADICTED
        assert result.detail == f"{said} was allowed after the same tokens in text 1"


def test_forced_tokens_are_counted_of_one_text() -> None:
    """Of the first valid one that has tokens and counts; long texts come last."""
    texts = [
        (InstanceWalk(text="a", valid=False), [5]),
        (InstanceWalk(text="b", valid=True), None),
        (InstanceWalk(text="c", valid=True, label={"apart": True}), [5] * LONG_TEXT),
        (InstanceWalk(text="d", valid=True), [5] * (LONG_TEXT + 1)),
        (InstanceWalk(text="e", valid=True), [5]),
    ]
    walks, tokens = zip(*texts, strict=True)
    bounds = Bounds(compile_seconds=3.0, run_seconds=2.0, wall_times=4.0)
    pending = PendingCase(replace(_CASE, walks=walks), tokens, "f")
    (compiling, first), (walking, second) = pending.questions(bounds, warm_up=False)
    assert (compiling, first) == ({"compile": "{}", "warm_up": False}, 3.0)
    assert (walking["seconds"], walking["wall_seconds"], second) == (2.0, 8.0, 3.0)
    asked: Any = walking["walks"]
    assert [it["counts_forced"] for it in asked] == [*[False] * 3, True, False]
    assert [it["last"] for it in asked] == [*[False] * 3, True, False]
    assert [it["text"] for it in asked] == [None, "b", "c", "d", "e"]
    assert [it["tokens"] and len(it["tokens"]) for it in asked][:2] == [1, None]
    alone = PendingCase(replace(_CASE, walks=()), [], "f")
    assert len(alone.questions(bounds, warm_up=True)) == 1


@pytest.mark.parametrize(
    "answers",
    [
        ([1],),
        ({"compile_ns": -1},),
        ({"compile_ns": True},),
        ({"compile_ns": 1 << 70},),
        ({"refusal": 3},),
        (_COMPILED, {"walks": [{"verdict": "accepted", "mask_ns": [1.5]}]}),
        (_COMPILED, {"walks": [{"verdict": "perhaps"}]}),
        (_COMPILED, {"walks": [{"at": 1}]}),
        (_COMPILED, {"walks": {}}),
    ],
)
def test_what_is_no_answer_is_a_protocol_error(answers: tuple[Json, ...]) -> None:
    """An engine shares the worker's process: what it says is checked."""
    row = _row(*answers)
    assert row.result is Result.PROTOCOL_ERROR
    assert row.phase == ("walk" if len(answers) > 1 else "compile")
    assert row.detail
    assert {walk.verdict for walk in row.walks} == {WalkVerdict.NOT_RUN}


def test_what_an_engine_says_can_be_sent() -> None:
    """Half of a surrogate pair is sent as its escape: no JSON of ours holds one."""
    odd: Any = SimpleNamespace(
        warnings=lambda _: ["\ud800", "x" * 2_000] * 40, reason=lambda: "\udfff"
    )
    warnings = engine_warnings(odd, None)
    assert (warnings[0], len(warnings[1]), len(warnings)) == ("\\ud800", 1_000, 50)
    assert refusal_reason(odd) == ": \\udfff"
    assert engine_warnings(object(), None) == []  # type: ignore[arg-type]  # no warnings


def test_a_mistake_in_a_user_s_engine_has_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The innermost of its file; a refusal has none, nor has a file of ours."""
    path = tmp_path / "mine.py"
    source = (
        "def inner(error):\n    raise error\n\ndef outer(error):\n    inner(error)\n"
    )
    path.write_text(source, encoding="utf-8")
    members: dict[str, Any] = {}
    exec(compile(source, str(path), "exec"), members)  # noqa: S102 (as an engine is)
    for file, error, said in (
        (str(path), NameError("x"), "NameError: x (mine.py:2)"),
        (str(path), ValueError("x" * 3_000), f"ValueError: {'x' * 2_000}"),
        (engine_process._OUR_ENGINES + "/none.py", NameError("x"), "NameError: x"),
    ):
        module = SimpleNamespace(__file__=file)
        monkeypatch.setitem(sys.modules, "csbdata_engine", module)
        with pytest.raises(type(error)) as caught:
            members["outer"](error)
        assert describe_error(caught.value) == said
    assert describe_error(NameError("y")) == "NameError: y"


_PRINTS = """
import os, sys
from evaluation.masks.engine_process import PrintedOutput
out = os.dup(1)
printed = PrintedOutput(sys.argv[1], 20_000)
takes = []
for size in (0, 3, 9_000, 19_999, 20_000):
    print("a" * (size - 1), end="b" * (size > 0))
    takes.append((printed.take(), printed.too_much))
os.write(2, b"native")
takes.append((printed.take(), printed.too_much))
told = [(len(text), text[:1], text[-1:], much) for text, much in takes]
os.write(out, repr(told).encode())
"""


def test_what_an_engine_prints_comes_back_once(tmp_path: Path) -> None:
    """By its end where it is long; as much as may be printed is too much."""
    (tmp_path / "printed").touch()
    words = [sys.executable, "-c", _PRINTS, str(tmp_path / "printed")]
    done = subprocess.run(words, capture_output=True, check=True, text=True)
    assert literal_eval(done.stdout) == [
        (0, "", "", False),
        (3, "a", "b", False),
        (8 * 1024, "a", "b", False),
        (8 * 1024, "a", "b", False),
        (8 * 1024, "a", "b", True),
        (6, "n", "e", False),
    ]


class _Word:
    """A matcher of one word, each letter of it forced where the word says so."""

    def __init__(self, word: bytes, forced: int, refused: int) -> None:
        self.left, self.most, self.refused = [*word], forced, refused

    def forced(self) -> list[int]:
        return self.left[: self.most]

    def commit(self, token: int) -> bool:
        good = token != self.refused and self.left[:1] == [token]
        self.left = self.left[good:]
        return good

    def may_end(self) -> bool:
        return not self.left

    def mask(self) -> bytes:
        return bytes([0, 0b1000_0001]) if self.left else bytes([0, 0x80, 0xFF])


@pytest.fixture
def masks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of three processes' masks, of two bytes each."""
    monkeypatch.setattr(generation_session, "freeze", lambda: None)
    path = tmp_path / "masks"
    path.write_bytes(bytes([9] * 6))
    return path


def _under_way(
    masks: Path, word: bytes, forced: int = 0, refused: int = -1, size: int = 16
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what answers about a text in the second of the processes."""
    engine: Any = SimpleNamespace(
        compile=lambda schema: schema, start=lambda _: _Word(word, forced, refused)
    )
    setup: Any = {
        "tokenizer": {"vocab_size": size, "eos_id": 0},
        "masks": str(masks),
        "mask_bytes": 2,
        "row": 1,
        "ends": [8, 9, size],
    }
    printed: Any = SimpleNamespace(take=lambda: "said")
    answer = open_session(engine, setup, printed)
    assert answer({"open": True, "forced": 0}) == {"closed": True}
    assert answer({"compile": "{}"})["printed"] == "said"
    assert answer({"mask": True}) == {"closed": True}
    return answer


def test_a_text_takes_what_is_forced_and_no_more(masks: Path) -> None:
    """As many tokens as may be taken; the mask tells of every end.

    Of 17 tokens it has three bytes.
    """
    answer = _under_way(masks, b"\1\2\3\4", forced=3)
    assert answer({"open": True, "forced": 2}) == {"forced": [1, 2]}
    assert answer({"mask": True})["mask_ns"] >= 0
    assert [*masks.read_bytes()] == [9, 9, 0, 0b1000_0000, 9, 9]
    assert answer({"take": 3, "forced": 0}) == {"taken": True, "forced": []}
    assert answer({"take": 4, "forced": 0}) == {"taken": True, "forced": []}
    answer({"mask": True})
    assert [*masks.read_bytes()] == [9, 9, 0, 0b1000_0011, 9, 9]
    assert answer({"take": 9, "forced": 2}) == {"taken": False, "forced": []}
    assert answer({"mask": True}) == {"closed": True}
    answer = _under_way(masks, b"\1", size=17)
    answer({"open": True, "forced": 0})
    with pytest.raises(ValueError, match="a mask of 2 bytes where 3 are needed"):
        answer({"mask": True})


def test_an_engine_that_refuses_what_it_forces_is_closed(masks: Path) -> None:
    """What was taken before is told."""
    answer = _under_way(masks, b"\1\2\3", forced=3, refused=2)
    assert answer({"open": True, "forced": 3}) == {"forced": [1]}
    assert answer({"mask": True}) == {"closed": True}
    answer = _under_way(masks, b"\1\2\3", forced=3, refused=3)
    assert answer({"open": True, "forced": 0}) == {"forced": []}
    assert answer({"take": 1, "forced": 2}) == {"taken": False, "forced": [2]}
