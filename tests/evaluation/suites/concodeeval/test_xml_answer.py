"""XML says a value by its types, by the schema, or as `xmltodict` reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluation.suites.concodeeval.settings import NotRead, Read, SuiteReading
from evaluation.suites.concodeeval.xml_answer import read_xml

if TYPE_CHECKING:
    from curation.core.json_types import Json

_OBJECT: Json = {
    "type": "object",
    "properties": {
        "count": {"type": "number"},
        "on": {"type": "boolean"},
        "gone": {"type": "null"},
        "name": {"type": "string"},
        "sizes": {"type": "array", "items": {"type": "integer"}},
    },
}


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("<x>3.5</x>", {"type": "number"}, 3.5),
        ("<x>many</x>", {"type": "number"}, "many"),
        ("<x>007</x>", {"type": "number"}, "007"),
        ("<x>3</x>", {"type": "string"}, "3"),
        ("<x/>", {"type": "string"}, ""),
        ("<x/>", {"type": "array"}, []),
        ("<x/>", {"type": "object"}, {}),
        ("<x/>", {"type": ["string", "null"]}, None),
        ("<x><item>1</item><item>2</item></x>", {"items": {"type": "number"}}, [1, 2]),
        ("<x><n>1</n></x>", {"type": "array", "contains": {"type": "number"}}, [1]),
        ("<x><item>1</item></x>", {"type": "object"}, {"item": "1"}),
        ("<x type='list'><a type='int'>1</a></x>", {"type": "object"}, [1]),
        ("<x type='bool'>maybe</x>", {}, "maybe"),
        (
            "<s><count>2</count><on>true</on><gone/><name>1</name></s>",
            _OBJECT,
            {"count": 2, "on": True, "gone": None, "name": "1"},
        ),
        ("<s><sizes>1</sizes><sizes>2</sizes></s>", _OBJECT, {"sizes": [1, 2]}),
    ],
)
def test_a_value_without_types_is_read_by_its_schema(
    text: str, schema: Json, value: Json
) -> None:
    """Types in the text come first; a text that is no such value stays a text."""
    assert read_xml(text, schema, SuiteReading.RECOMMENDED) == Read(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<all type='float'>3.5</all>", {"all": {"@type": "float", "#text": "3.5"}}),
        ("<a><b>1</b><b>2</b><c/></a>", {"a": {"b": ["1", "2"], "c": None}}),
        ("<a>  text  </a>", {"a": "text"}),
        ("<a/>", {"a": None}),
    ],
)
def test_the_papers_reading_is_that_of_xmltodict(text: str, value: Json) -> None:
    """The root is always an object with one member, and every scalar a text."""
    assert read_xml(text, {"type": "number"}, SuiteReading.PAPER) == Read(value)


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        ("<all type='str' escaped='true'>\\ud800</all>", {}),
        ("<all><key name='\\ud800' escaped='true'>1</key></all>", {}),
    ],
)
def test_half_of_a_surrogate_pair_is_no_text(text: str, schema: Json) -> None:
    """As in an answer in JSON; no validator could take it."""
    assert isinstance(read_xml(text, schema, SuiteReading.RECOMMENDED), NotRead)


def test_an_integer_may_have_any_number_of_digits() -> None:
    """As in an answer in JSON."""
    text = f"<all type='int'>{'1' * 400}</all>"
    assert read_xml(text, {}, SuiteReading.RECOMMENDED) == Read(int("1" * 400))
