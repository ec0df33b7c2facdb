"""What providers want changed is changed on a copy, and every change is listed."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from evaluation.servers.dialect import unchanged
from evaluation.servers.dialects.gemini import for_gemini
from evaluation.servers.dialects.openai import for_openai

_SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "A crate",
    "properties": {
        "title": {"type": "string"},
        "lid": {"type": "object", "properties": {"id": {"type": "integer"}}},
    },
    "required": ["lid"],
}


def test_openai_gets_closed_objects_with_everything_required() -> None:
    """Objects are closed, all properties required, and the root is an object."""
    sent, edits = for_openai(json.dumps(_SCHEMA), "draft-07")
    adapted = json.loads(sent)
    assert adapted["type"] == "object"
    assert adapted["required"] == ["title", "lid"]
    assert adapted["additionalProperties"] is False
    assert adapted["properties"]["lid"]["required"] == ["id"]
    assert edits == (
        "type set to object at the root",
        "additionalProperties set to false at the root",
        "every property required at the root",
        "additionalProperties set to false at /properties/lid",
        "every property required at /properties/lid",
    )


def test_gemini_gets_no_names_but_keeps_properties_called_so() -> None:
    """`title` and `id` go as keywords and stay as properties."""
    sent, edits = for_gemini(json.dumps(_SCHEMA), "draft-07")
    adapted = json.loads(sent)
    assert "title" not in adapted
    assert set(adapted["properties"]) == {"title", "lid"}
    assert set(adapted["properties"]["lid"]["properties"]) == {"id"}
    assert edits == ("$schema dropped at the root", "title dropped at the root")


def test_what_needs_no_change_is_sent_as_it_is() -> None:
    """Without an edit the very text is sent."""
    text = '{ "type":"object","properties":{},"additionalProperties":false }'
    assert for_openai(text, "2020-12") == (text, ())
    assert unchanged(text, "2020-12") == (text, ())


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "items", "title", "a"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_VALUES)
def test_any_json_is_adapted_once_and_for_all(value: object) -> None:
    """Adapting what was adapted changes nothing more, whatever the text says."""
    text = json.dumps(value)
    for adapt in (for_openai, for_gemini):
        sent, _ = adapt(text, "2020-12")
        again, edits = adapt(sent, "2020-12")
        assert (again, edits) == (sent, ())
