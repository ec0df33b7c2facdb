"""Values that their own schema refuses, told by one validator for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.checking import check_lints
from curation.checking.check_lints import refused_values
from curation.references.schema import Schema
from curation.schema.dialects import DRAFT_07
from curation.validation.metaschemas import RUST_VALIDATORS

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_URI = "http://x.test/a.json"


def _refused(schema: UntypedJson) -> list[str]:
    return [lint.pointer for lint, _ in refused_values(Schema(schema, DRAFT_07))]


@pytest.mark.parametrize("uri", [None, "a.json", "/x/a.json", _URI, f"{_URI}#", "#a"])
def test_whatever_a_schema_calls_itself_its_values_are_judged(uri: str | None) -> None:
    """By what a pointer, and the identifier of an embedded schema, lead to."""
    schema: UntypedJson = {
        "properties": {
            "a": {"$ref": "#/definitions/n", "default": 5},
            "b": {"type": "integer", "default": "x"},
            "c": {"$ref": "sub.json", "default": 5},
            "d": {"$ref": "sub.json", "default": "x"},
        },
        "definitions": {
            "n": {"type": "string"},
            "s": {"$id": "sub.json", "type": "string"},
        },
    }
    named = schema if uri is None else {"$id": uri, **schema}
    assert _refused(named) == [f"/properties/{name}/default" for name in "abc"]


def test_many_values_of_a_recursive_schema_are_judged_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A validator of each would compile all the definitions for each of them."""
    made = 0
    validator = RUST_VALIDATORS[DRAFT_07.name]

    def counted(*given: UntypedJson, **more: UntypedJson) -> UntypedJson:
        nonlocal made
        made += 1
        return validator(*given, **more)

    monkeypatch.setattr(check_lints, "RUST_VALIDATORS", {DRAFT_07.name: counted})
    definitions: UntypedJson = {
        f"d{i}": {
            "type": "object",
            "default": {} if i % 100 else 5,
            "properties": {"p": {"$ref": f"#/definitions/d{(i * 7 + 1) % 400}"}},
        }
        for i in range(400)
    }
    schema: UntypedJson = {"$ref": "#/definitions/d0", "definitions": definitions}
    refused = [f"/definitions/d{i}/default" for i in range(0, 400, 100)]
    assert sorted(_refused(schema)) == refused
    assert made == 1


def test_one_value_that_cannot_be_judged_hides_no_other() -> None:
    """A reference that leads nowhere makes no validator; the others have their own."""
    schema: UntypedJson = {
        "properties": {
            "a": {"$ref": "#/definitions/none", "default": 5},
            "b": {"type": "integer", "default": "x"},
        }
    }
    assert _refused(schema) == ["/properties/b/default"]
