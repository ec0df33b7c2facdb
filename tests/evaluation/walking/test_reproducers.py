"""Reproducers of wrong walks can be read by the command that they name."""

from __future__ import annotations

import json

import pytest

from evaluation.walking.reproducers import _test


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a":1,"a":2}', "1e999", "["])
def test_a_text_that_no_file_may_hold_is_given_as_text_alone(text: str) -> None:
    """Else the whole file would be refused."""
    assert json.loads(_test(text, valid=False)) == {"valid": False, "text": text}


def test_json_is_given_as_it_is_spelled() -> None:
    """`1.0` stays `1.0`."""
    assert _test("1.0", valid=True).endswith('"data": 1.0}')
