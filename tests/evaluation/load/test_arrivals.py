"""What is asked, and when, is drawn in advance and the same for everybody."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from curation.system.errors import BadUsage
from evaluation.core.records import Message, Record
from evaluation.generation.text_generation import GenerationRequest
from evaluation.load.arrivals import (
    LoadSettings,
    SchemaChoice,
    draw_arrivals,
    parse_limits,
    plan_stream,
)


def _requests(*schemas: str) -> list[GenerationRequest]:
    return [
        GenerationRequest(
            record=Record(
                id=f"s{number}", group="made", schema=schema, dialect="2020-12"
            ),
            messages=(Message(role="user", content=schema),),
            budget=8,
        )
        for number, schema in enumerate(schemas)
    ]


_SCHEMAS = [json.dumps({"title": "x" * length}) for length in (9, 3, 7, 5, 1)]
_SETTINGS = LoadSettings(rate=10.0, warm_up=2)


@pytest.mark.parametrize("burstiness", [0.25, 1.0, 4.0])
def test_gaps_have_the_mean_and_spread_of_their_gamma_distribution(
    burstiness: float,
) -> None:
    """Mean 1 / rate; squared coefficient of variation 1 / burstiness."""
    moments = draw_arrivals(40_000, 8.0, burstiness=burstiness, seed=3)
    gaps = np.diff([0.0, *moments])
    assert gaps.min() >= 0
    assert gaps.mean() == pytest.approx(1 / 8, rel=0.05)
    assert gaps.var() / gaps.mean() ** 2 == pytest.approx(1 / burstiness, rel=0.1)


def test_the_same_seed_draws_the_same_moments_and_another_one_others() -> None:
    """Arrivals depend on nothing but rate, burstiness and seed."""
    assert draw_arrivals(9, 2.0, seed=5) == draw_arrivals(9, 2.0, seed=5)
    assert draw_arrivals(9, 2.0, seed=5) != draw_arrivals(9, 2.0, seed=6)


def test_streams_of_every_choice_arrive_at_the_same_moments() -> None:
    """So that requests of one place can be compared."""
    streams = [
        plan_stream(_requests(*_SCHEMAS), choice, _SETTINGS) for choice in SchemaChoice
    ]
    moments = [[one.arrival_ns for one in stream] for stream in streams]
    assert moments[0] == moments[1] == moments[2]
    assert [one.warm_up for one in streams[0]] == [True] * 2 + [False] * 5


def test_one_schema_is_asked_of_all_marked_ones_differ_and_each_comes_once() -> None:
    """What is marked has prompt and meaning of the one, and a text of its own."""
    requests = _requests(*_SCHEMAS)
    one, marked, each = (
        plan_stream(requests, choice, _SETTINGS) for choice in SchemaChoice
    )
    assert {planned.schema for planned in one} == {_SCHEMAS[3]}
    assert len({planned.schema for planned in marked}) == len(marked)
    assert {planned.request.messages for planned in marked} == {requests[3].messages}
    for planned in marked:
        read = json.loads(planned.schema)
        assert read.pop("$comment")
        assert read == json.loads(_SCHEMAS[3])
    measured = [planned.schema for planned in each if not planned.warm_up]
    assert sorted(measured) == sorted(_SCHEMAS)
    warming = {planned.schema for planned in each if planned.warm_up}
    assert warming.isdisjoint(measured)


def test_data_without_any_object_is_refused_in_one_line() -> None:
    """A boolean schema cannot be marked."""
    with pytest.raises(BadUsage, match="no schema of the data is a JSON object"):
        plan_stream(_requests("true"), SchemaChoice.ONE, _SETTINGS)


def test_limits_are_read_with_units_and_bad_ones_are_refused() -> None:
    """Several in one text; a unit is ms unless it is said."""
    found = parse_limits(["ttft:0.2s, tpot:50ms", "e2e=900"])
    assert [str(limit) for limit in found] == ["ttft:200ms", "tpot:50ms", "e2e:900ms"]
    bad_ones = ("itl:5ms", "ttft", "ttft:0", "ttft:-1", "ttft:1h", "")
    for bad in (*bad_ones, "ttft:0.0000001ms"):
        with pytest.raises(BadUsage, match="no limit"):
            parse_limits([bad])
    with pytest.raises(BadUsage, match="two limits for ttft"):
        parse_limits(["ttft:1s ttft:2s"])


@pytest.mark.parametrize("text", ["e2e:1000s", "e2e:1234.567ms", "ttft:0.001ms"])
def test_a_limit_is_written_as_it_is_read(text: str) -> None:
    """Whole: a row that is asked again has the limit that it was asked with."""
    (limit,) = parse_limits([text])
    assert parse_limits([str(limit)]) == (limit,)


def test_a_burst_of_all_at_once_has_no_gaps() -> None:
    """An infinite rate is a burst."""
    settings = replace(_SETTINGS, rate=float("inf"))
    stream = plan_stream(_requests(*_SCHEMAS), SchemaChoice.EACH, settings)
    assert {planned.arrival_ns for planned in stream} == {0}
