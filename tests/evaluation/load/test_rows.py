"""Rates, quantiles and goodput are those of the requests, by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from curation.system.errors import BadData
from evaluation.core.cases import Result
from evaluation.core.records import Message, Record
from evaluation.generation.text_generation import (
    Generation,
    GenerationRequest,
    TextEnding,
)
from evaluation.load.arrivals import (
    LoadSettings,
    PlannedRequest,
    SchemaChoice,
    parse_limits,
    plan_stream,
)
from evaluation.load.rows import ROWS, LoadRow, RequestTimes, read_rows, report
from evaluation.reporting.printing import as_csv, as_json
from evaluation.reporting.tables import Duration, Rate, Table
from evaluation.suites.coverage.judgement import Judgement, TextVerdict, classify

if TYPE_CHECKING:
    from pathlib import Path

_MS = 1_000_000
_REQUEST = GenerationRequest(
    record=Record(id="a", group="made", schema="{}", dialect="2020-12"),
    messages=(Message(role="user", content="write"),),
    budget=9,
)


def _plan(choice: SchemaChoice, count: int, warm_up: int) -> list[PlannedRequest]:
    settings = LoadSettings(rate=10.0, warm_up=warm_up)
    stream = plan_stream([_REQUEST] * count, choice, settings)
    return [replace(one, arrival_ns=one.number * 100 * _MS) for one in stream]


def _row(
    planned: PlannedRequest, total_ms: int, engine: str = "strict small"
) -> LoadRow:
    """Return a text of five tokens: the first after a fifth of its time."""
    made = Generation(
        id=planned.id,
        result=Result.OK,
        ending=TextEnding.END,
        text="{}",
        ttft_ns=total_ms * _MS // 5,
        total_ns=total_ms * _MS,
        counted=5,
        pieces=5,
    )
    valid = TextVerdict.VALID if planned.number % 2 else TextVerdict.INVALID
    judgement = Judgement(is_json=True, own=valid)
    return _load_row(made, _times(planned, total_ms), judgement, engine)


def _load_row(
    generation: Generation,
    times: RequestTimes,
    judgement: Judgement | None = None,
    engine: str = "strict small",
) -> LoadRow:
    return LoadRow(
        engine=engine,
        config="made",
        record="a",
        times=times,
        generation=generation,
        judgement=judgement,
        outcome=classify(generation, judgement),
        fingerprint="x",
    )


def _times(planned: PlannedRequest, over_ms: int, sitting: str = "1") -> RequestTimes:
    return RequestTimes(
        choice=planned.choice,
        number=planned.number,
        warm_up=planned.warm_up,
        scheduled_ns=planned.arrival_ns,
        sent_late_ns=0,
        over_ns=over_ms * _MS,
        gaps_ns=(over_ms * _MS // 5,) * 4,
        sitting=sitting,
    )


def _tables(rows: list[LoadRow], *goodput: str) -> dict[str, Table]:
    return {table.slug: table for table in report(rows, parse_limits(goodput))}


def _cells(table: Table, row: int = 0) -> dict[str, object]:
    return dict(zip(table.columns, table.rows[row], strict=True))


def test_quantiles_are_those_of_the_measured_requests_alone() -> None:
    """Totals of 10 to 1,000 ms, and a warm-up that took far longer."""
    stream = _plan(SchemaChoice.ONE, 100, warm_up=3)
    rows = [
        _row(planned, 60_000 if planned.warm_up else (planned.number - 2) * 10)
        for planned in stream
    ]
    table = _tables(rows)["latencies"]
    lines = {str(row[2]): row for row in table.rows}
    assert lines["e2e"][3] == 100
    assert lines["e2e"][4:] == tuple(_about(ms * _MS) for ms in (505, 901, 990.1, 1000))
    assert lines["ttft"][4] == _about(101 * _MS)
    # Four later tokens take four fifths.
    assert lines["tpot"][4] == _about(101 * _MS)
    assert lines["itl"][3] == 400


def test_goodput_counts_what_is_in_time_for_each_second_of_the_span() -> None:
    """Ten requests, 100 ms apart, the last over after 1,000 ms: a span of 1.9 s."""
    stream = _plan(SchemaChoice.ONE, 10, warm_up=0)
    rows = [_row(planned, (planned.number + 1) * 100) for planned in stream]
    cells = _cells(_tables(rows, "e2e:400ms", "ttft:60ms")["under-load"])
    assert cells["answered"] == Rate(10, 10)
    assert cells["valid"] == Rate(5, 10)
    assert cells["span"] == _about(1.9e9)
    assert cells["answers/s"] == pytest.approx(10 / 1.9)
    assert cells["tokens/s"] == pytest.approx(50 / 1.9)
    # 100, 200 and 300 ms have a first token within 60 ms; of these 200 ms is valid.
    assert cells["in time"] == Rate(3, 10)
    assert cells["goodput/s"] == pytest.approx(3 / 1.9)
    assert cells["valid goodput/s"] == pytest.approx(1 / 1.9)


def test_tokens_that_a_server_did_not_count_are_no_rate() -> None:
    """One of two answers is not counted: the sum of the other is not that of both."""
    rows = [_row(planned, 100) for planned in _plan(SchemaChoice.ONE, 2, warm_up=0)]
    untold = replace(rows[1].generation, counted=None)
    rows[1] = msgspec.structs.replace(rows[1], generation=untold)
    assert "tokens/s" not in _cells(_tables(rows)["under-load"])


def test_a_failed_request_is_never_in_time_and_a_late_one_bounds_quantiles() -> None:
    """One of three failed, one was cut off by its deadline after a second."""
    first, second, third = _plan(SchemaChoice.ONE, 3, warm_up=0)
    failed = Generation(
        id=second.id, result=Result.ERROR, ending=TextEnding.MODEL, pieces=0
    )
    late = replace(failed, result=Result.TIMEOUT, ending=TextEnding.TIMEOUT)
    rows = [
        _row(first, 100),
        *(
            _load_row(made, replace_gaps(_times(planned, over)))
            for planned, made, over in ((second, failed, 1), (third, late, 1000))
        ),
    ]
    tables = _tables(rows, "e2e:5s")
    cells = _cells(tables["under-load"])
    assert cells["answered"] == Rate(1, 3)
    assert cells["in time"] == Rate(1, 3)
    e2e = next(row for row in tables["latencies"].rows if row[2] == "e2e")
    assert e2e[3] == 2
    assert e2e[-1] == Duration(1e9, at_least=True)


def _about(ns: float) -> Duration:
    """Return a duration that is equal to those close to it."""
    return Duration(cast("float", pytest.approx(ns)))


def replace_gaps(times: RequestTimes) -> RequestTimes:
    """Return the times of an answer without any piece."""
    return RequestTimes(
        **{name: getattr(times, name) for name in times.__struct_fields__}
        | {"gaps_ns": ()}
    )


def test_streams_are_paired_by_place_and_only_where_one_thing_differs() -> None:
    """Marked against one of a participant, and participants against each other."""
    one, marked = (
        _plan(choice, 6, warm_up=1)
        for choice in (SchemaChoice.ONE, SchemaChoice.MARKED)
    )
    rows = [
        *(_row(planned, 100) for planned in one),
        *(_row(planned, 150) for planned in marked),
        *(_row(planned, 50, "none small") for planned in one),
    ]
    table = _tables(rows)["streams-paired"]
    lines = {(row[0], row[1]): row for row in table.rows}
    assert set(lines) == {
        ("strict small one", "strict small marked"),
        ("strict small one", "none small one"),
    }
    slower = lines["strict small one", "strict small marked"]
    assert slower[2] == 6
    assert str(slower[-1]).startswith("1.5x")
    assert str(lines["strict small one", "none small one"][-1]).startswith("0.5x")


def test_programs_get_figures_with_units_in_the_names_of_columns() -> None:
    """CSV has `p99 ns`; JSON has the same figure under `ns`."""
    rows = [_row(planned, 100) for planned in _plan(SchemaChoice.ONE, 2, warm_up=0)]
    table = _tables(rows)["latencies"]
    assert "p99 ns" in as_csv(table).splitlines()[0]
    told: Any = as_json(table)
    assert isinstance(told, dict)
    assert told["rows"][0]["p50"]["ns"] == 20 * _MS


def test_a_run_in_two_sittings_counts_neither_the_night_between_them() -> None:
    """The span is the sum of what both lasted."""
    first, second = _plan(SchemaChoice.ONE, 2, warm_up=0)
    rows = [_row(first, 100), _row(second, 100)]
    times = _times(second, 100, sitting="2")
    later = msgspec.structs.replace(rows[1], times=times)
    cells = _cells(_tables([rows[0], later])["under-load"])
    assert cells["sittings"] == 2
    assert cells["span"] == _about(0.2e9)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    """A torn last line is left out; any other is an error with file and line."""
    (tmp_path / ROWS).write_bytes(b'{"torn": ')
    assert read_rows(tmp_path) == []
    (tmp_path / ROWS).write_bytes(b'\0{"damaged": 1}\n')
    with pytest.raises(BadData, match="damaged line") as caught:
        read_rows(tmp_path)
    assert f"{ROWS}:1" in str(caught.value)
