"""Many edits of one JSON value at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from curation.json.edits import Drop, Put, rewritten
from curation.json.pointer import replaced

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def test_edits_keep_key_order_and_share_the_rest() -> None:
    """What no edit concerns is the very same value."""
    value: UntypedJson = {
        "b": {"x": 1, "y": [{"z": 1}, {"z": 2}]},
        "a": {"k": 1},
        "c": 3,
    }
    result: UntypedJson = rewritten(
        value,
        {
            ("b", "x"): Put("one"),
            ("b", "y", "1", "z"): Put("two", "renamed"),
            ("c",): Drop(),
            ("missing",): Drop(),
            ("a", "missing"): Put(1),
        },
    )
    assert list(result) == ["b", "a"]
    assert result["b"] == {"x": "one", "y": [{"z": 1}, {"renamed": "two"}]}
    assert result["a"] == value["a"]
    assert result["b"]["y"][0] is value["b"]["y"][0]
    assert value["c"] == 3


_VALUES = st.recursive(
    st.integers(),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


def _members(value: UntypedJson, tokens: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    members: UntypedJson = value if isinstance(value, dict) else {}
    if isinstance(value, list):
        members = {str(index): each for index, each in enumerate(value)}
    for name, each in members.items():
        if isinstance(value, dict):
            found.append((*tokens, name))
        found.extend(_members(each, (*tokens, name)))
    return found


@given(_VALUES, st.data())
def test_one_edit_is_a_replacement(value: UntypedJson, data: st.DataObject) -> None:
    """A single edit does what `replaced` does."""
    members = _members(value)
    if members:
        tokens = data.draw(st.sampled_from(members))
        assert rewritten(value, {tokens: Put("new")}) == replaced(value, tokens, "new")
    assert rewritten(value, {}) is value
