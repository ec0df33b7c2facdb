"""Columns of a record about targets: taken, or by which one rule not."""

from __future__ import annotations

import json

from curation.fit.records import RecordFit, record_fit, target_counts

_OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def test_one_rule_in_the_way_is_named_and_several_are_not() -> None:
    """A target stands in one column, or in none if it refuses for two reasons."""
    fit = record_fit(json.dumps(_OPEN))
    assert {"gemini", "vllm"} <= {*fit.fits}
    assert fit.fits_but_for[:2] == (
        "anthropic: open-object",
        "openai-strict: open-object",
    )
    two = record_fit(json.dumps(_OPEN | {"maxProperties": 3}))
    assert not [it for it in two.fits_but_for if it.startswith("openai-strict")]
    assert "openai-strict" not in two.fits


def test_counts_are_of_targets_that_rows_name() -> None:
    """A target that was never asked has no 0; the most frequent rule comes first."""
    rows = [
        RecordFit(("a",), ("b: `not`",)),
        RecordFit(("a",), ("b: depth",)),
        RecordFit(("a", "b"), ()),
        RecordFit((), ("b: depth",)),
    ]
    counts = target_counts(rows)
    assert {name: it.taken for name, it in counts.items()} == {"a": 3, "b": 1}
    assert list(counts["b"].but_for.items()) == [("depth", 2), ("`not`", 1)]
    assert target_counts([]) == {}
