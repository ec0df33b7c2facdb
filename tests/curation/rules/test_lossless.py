"""Repairs that lose nothing: what means the same everywhere, or applies nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import Reason
from curation.core.rule import RepairKind
from curation.pipeline.process_document import apply_rules
from curation.rules.lossless import empty_lists, exclusive_bounds, repeated_values
from curation.rules.sets import rule_set
from tests.curation.rules.documents_made import (
    CONTEXT,
    raw_document,
)

if TYPE_CHECKING:
    from curation.dataset.decisions import DocumentResult


def make_result(text: str, rules: str = "clean") -> DocumentResult:
    """Return what a rule set makes of a text."""
    return apply_rules(raw_document(text.encode()), rule_set(rules), CONTEXT)


def test_equal_members_are_one() -> None:
    """Equal in canonical form is enough; the ledger says how often one stood there."""
    text = (
        '{"properties": {"a": {"maximum": 1}, "b": {}, "a": {"maximum": 1.0}, '
        '"a": {"maximum": 1}}, "type": "object"}'
    )
    result = make_result(text)
    assert result.record is not None
    assert result.record.changes == ("equal-members",)
    assert '"a": {"maximum": 1}' in result.record.json_schema
    (change,) = result.changes
    assert change.pointer == "/properties/a"
    assert change.note.startswith("stood there 3 times")
    assert change.before == '{"a": {"maximum": 1}, "a": {"maximum": 1}}'


def test_members_that_differ_are_refused() -> None:
    """Nobody can say which of them was meant; the paper's parser took the last."""
    text = '{"properties": {"a": {"maximum": 1}, "a": {"maximum": 2}}}'
    rejected = make_result(text).rejected
    assert rejected is not None
    assert rejected.reason is Reason.DUPLICATE_KEYS
    assert "different values" in rejected.detail
    kept = make_result(text, "paper").record
    assert kept is not None
    assert '{"maximum": 2}' in kept.json_schema


def test_these_repairs_lose_nothing() -> None:
    """The kind that a rule states is that of its rows in `cases/lossless.jsonl`."""
    rules = (empty_lists, repeated_values, exclusive_bounds)
    assert {rule.repair for rule in rules} == {RepairKind.LOSSLESS}
