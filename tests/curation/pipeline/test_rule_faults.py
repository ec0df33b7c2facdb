"""A rule that raises is a defect, and no property of the data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import pytest

from curation.core.documents import Reason
from curation.core.rule import Rule
from curation.pipeline.process_document import apply_rules
from curation.pipeline.read_batches import NO_RULE, find_rule_faults
from curation.rules.sets import CLEAN
from tests.builds import write_build
from tests.curation.rules.documents_made import CONTEXT, raw_document
from tests.made import rejected

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.documents import Document
    from curation.core.rule import Context


def _raise(_document: Document, _context: Context) -> NoReturn:
    raise ZeroDivisionError("a slip")


SLIP = Rule(name="slip", summary="Raises.", source="a test", apply=_raise)


def test_what_a_rule_raises_names_the_rule() -> None:
    """The document is `crashed`, by that rule, with what it raised and where."""
    rules = replace(CLEAN, rules=(SLIP,))
    result = apply_rules(raw_document(), rules, CONTEXT)
    assert result.rejected is not None
    assert (result.rejected.reason, result.rejected.rule) == (Reason.CRASHED, "slip")
    assert "ZeroDivisionError: a slip (test_rule_faults.py:" in result.rejected.detail


def test_memory_that_runs_out_is_no_slip_of_the_rule() -> None:
    """Its outcome has a name of its own."""

    def take_all(_document: Document, _context: Context) -> NoReturn:
        raise MemoryError

    rules = replace(CLEAN, rules=(replace(SLIP, apply=take_all),))
    with pytest.raises(MemoryError):
        apply_rules(raw_document(), rules, CONTEXT)


def test_the_rules_that_raised_are_found_again_in_the_build(tmp_path: Path) -> None:
    """Even where the build was there already; a process that died is none of them."""
    crashed = Reason.CRASHED
    gone = [
        rejected("a", "Snowplow", crashed, rule="slip", detail="ValueError: 1"),
        rejected("b", "Snowplow", crashed, rule="slip", detail="ValueError: 2"),
        rejected("c", "Snowplow", crashed, rule=NO_RULE, detail="SIGSEGV"),
        rejected("d", "Snowplow", Reason.EMPTY, rule="slip", detail=""),
    ]
    (fault,) = find_rule_faults(write_build(tmp_path, gone=gone))
    assert str(fault) == (
        "rule slip raised for 2 documents, first Snowplow/a (ValueError: 1)"
    )
