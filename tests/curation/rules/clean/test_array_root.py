"""Array roots in rule set `clean`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Document, Reason, Rejected
from curation.rules.clean import array_root
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def test_an_object_root_is_left_alone() -> None:
    """A root that is an object passes, the very same document."""
    given = document({"type": "string"})
    assert array_root.apply(given, CONTEXT) is given


def test_an_array_of_one_object_is_unwrapped() -> None:
    """The one object of an array becomes the schema, and the change says so."""
    result = array_root.apply(document([{"type": "string"}]), CONTEXT)
    assert isinstance(result, Document)
    assert result.schema == {"type": "string"}
    (change,) = result.changes
    assert (change.rule, change.pointer) == (array_root.name, "")
    assert change.before == '[{"type": "string"}]'
    assert change.after == '{"type": "string"}'


@pytest.mark.parametrize(
    ("root", "told"),
    [
        ([], "an array of 0"),
        ([{}, {}], "an array of 2"),
        ([[{}]], "an array of 1"),
        ([True], "an array of 1"),
        (True, "a boolean"),
        (False, "a boolean"),
        (None, "null"),
        (3, "a number"),
        (2.5, "a number"),
        ("text", "a string"),
    ],
)
def test_other_roots_are_no_schema(root: UntypedJson, told: str) -> None:
    """What is neither an object nor an array of one is rejected and described."""
    result = array_root.apply(document(root), CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.NOT_A_SCHEMA
    assert told in result.detail
