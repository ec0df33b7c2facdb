"""Responses find their records: nothing counts twice, nothing is dropped silently."""

from __future__ import annotations

from evaluation.asking.scoring import match_responses
from evaluation.core.records import Record, Response


def _response(record: str, text: str = "{}", **more: object) -> Response:
    return Response(record=record, text=text, **more)  # type: ignore[arg-type] # as named


_RECORDS = [
    Record(id="1", group="a"),
    Record(id="1", group="b"),
    Record(id="2", group="b"),
]


def test_a_record_is_named_by_key_or_by_an_id_that_only_one_has() -> None:
    """An id of two records names neither."""
    found = match_responses(
        _RECORDS, [_response("2"), _response("a/1"), _response("1")]
    )
    assert [record.key for record, _ in found.pairs] == ["a/1", "b/2"]
    assert (found.unknown, found.repeated) == (1, 0)
    assert found.problems == ["1 response for no record of this set: 1"]
    assert found.unanswered == {"model free": 1}


def test_of_two_responses_to_one_record_the_first_counts() -> None:
    """Others are those of another model, condition, repeat or attempt."""
    found = match_responses(
        _RECORDS,
        [
            _response("a/1", "first"),
            _response("a/1", "second"),
            _response("a/1", "again", repeat=1),
            _response("a/1", "mended", attempt=1),
            _response("a/1", "held", condition="llguidance"),
            _response("a/1", "other", model="other"),
        ],
    )
    assert [response.text for _, response in found.pairs] == [
        "first",
        "mended",
        "again",
        "held",
        "other",
    ]
    assert found.repeated == 1
    assert (
        "answered already; the first one counts: a/1 (model free)"
        in (found.problems[0])
    )


def test_records_without_any_response_are_counted_for_every_model() -> None:
    """A model that answered two of three is no model that answered all it was asked."""
    found = match_responses(
        _RECORDS, [_response("2"), *(_response(r.key, model="x") for r in _RECORDS)]
    )
    assert found.unanswered == {"model free": 2, "x free": 0}


def test_a_record_without_a_schema_is_asked_free_alone() -> None:
    """Under an engine there is nothing to hold an answer to, and nothing is missing."""
    held = Record(id="3", group="b", schema="{}")
    answers = [_response("b/3", condition="llguidance"), _response("a/1")]
    found = match_responses([*_RECORDS, held], answers)
    assert found.unanswered == {"model llguidance": 0, "model free": 3}
    odd = match_responses(_RECORDS, [_response("a/1", condition="llguidance")])
    assert odd.unanswered == {"model llguidance": 0}


def test_trouble_with_many_responses_is_one_line() -> None:
    """The first five are named, the rest counted."""
    found = match_responses(_RECORDS, [_response(f"z{n}") for n in range(2000)])
    assert found.problems == [
        "2,000 responses for no record of this set: z0, z1, z2, z3, z4 and 1,995 more"
    ]
