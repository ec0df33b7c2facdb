"""What the part `batches` puts to engines is what it says it is."""

from __future__ import annotations

import json

import jsonschema_rs
import pytest

from bench.engine.batches import schema_of, text_of


@pytest.mark.parametrize("number", [0, 1, 127])
def test_each_text_fits_its_schema_and_no_other(number: int) -> None:
    """So that a step of a batch walks texts of as many grammars."""
    text = json.loads(text_of(number))
    assert jsonschema_rs.is_valid(json.loads(schema_of(number)), text)
    assert not jsonschema_rs.is_valid(json.loads(schema_of(number + 1)), text)
