"""The raw file's figures: taken before the rules, and only for the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from curation.dataset.decisions import DocumentResult
from curation.dataset.paper_tables import RawFigures, raw_figures
from curation.pipeline.process_document import apply_rules
from curation.rules.sets import rule_set
from tests.curation.rules.documents_made import CONTEXT, raw_document

if TYPE_CHECKING:
    from curation.core.json_types import Json

SCHEMA: Json = {
    "$schema": "http://json-schema.org/draft-06/schema#",
    "not": {"a": [{}]},
}
RAW = raw_document(b'{"template": "${x}", "a": {"b": 1}}')


def test_the_figures_of_a_file() -> None:
    """Size with Python's separators, three counts, and the declared draft."""
    assert raw_figures(SCHEMA) == RawFigures(
        raw_size=74, raw_field_count=3, raw_fan_out=2, raw_depth=2, raw_draft="draft-06"
    )


@pytest.mark.parametrize(("rules", "known"), [("paper", True), ("clean", False)])
def test_they_are_taken_where_the_rules_count_by_them(
    rules: str, *, known: bool
) -> None:
    """Even a rejected file has them under the paper's rules; `clean` has no use."""
    outcome = apply_rules(RAW, rule_set(rules), CONTEXT)
    assert outcome.rejected is not None
    assert (outcome.raw is not None) == known
    answer = msgspec.json.decode(msgspec.json.encode(outcome))
    assert msgspec.convert(answer, DocumentResult) == outcome
