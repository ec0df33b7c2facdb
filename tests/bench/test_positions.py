"""Where near misses show: the first byte that llguidance refuses."""

from __future__ import annotations

import json

import pytest

from bench.data.positions import Refused, figures, tally

pytest.importorskip("llguidance", reason="an extra")

_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"ü": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["ü"],
        "additionalProperties": False,
    }
)


def test_a_position_is_that_of_the_first_byte_refused() -> None:
    """Beside `fails_at`, which counts characters; what is accepted does not count."""
    refused = [
        Refused('{"ü": 1}', "type", 6),
        Refused('{"ü": "text", "n": null}', "type", 19),
        Refused('{"n": 1}', "required", 7),
        Refused('{"ü": ""}', "type", 0),
    ]
    counted = figures(tally(_SCHEMA, refused))
    assert (counted["near_misses"], counted["measured"]) == (4, 3)
    assert (counted["equal"], counted["earlier"]) == (2, 1)
    assert (counted["quarter 2"], counted["quarter 4"]) == (1, 2)
    assert counted["late_share"] == 0.6667
    assert counted["keywords"]["required"] == {"share": 0.25, "late_share": 0.0}


def test_without_a_grammar_nothing_is_measured() -> None:
    """A schema that llguidance does not compile counts with its keywords alone."""
    counted = figures(tally('{"uniqueItems": true}', [Refused("[1, 1]", "x")]))
    assert counted["near_misses"] == 1
    assert "measured" not in counted
    assert counted["late_share"] is None
