"""JSON values and pointers: equality, walks, edits, and places in a text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curation.json.pointer import (
    Drop,
    Put,
    at,
    fragment_of,
    pointer,
    replaced,
    rewritten,
    tokens_of,
    tokens_of_fragment,
)
from curation.json.positions import TextPositions, _offsets
from curation.json.text import MAX_DEPTH, SpelledFloat
from curation.json.values import (
    identity,
    is_multiple,
    is_number,
    objects,
    remembered,
    searchable,
    tokens,
    type_of,
)
from tests.curation.schema.test_measures import VALUES

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (False, "boolean"),
        ("1", "string"),
        (1, "integer"),
        (1.0, "integer"),
        (1.5, "number"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_every_value_has_one_type(value: Json, kind: str) -> None:
    """A number without a fraction is an integer, a boolean is no number."""
    assert type_of(value) == kind
    assert is_number(value) == (kind in ("integer", "number"))


def test_equal_values_have_one_identity() -> None:
    """1 is 1.0 at any depth, but true is not 1, and "1" is neither."""
    assert identity({"a": [1]}) == identity({"a": [1.0]})
    assert len({identity(value) for value in (1, True, "1", None)}) == 4


def test_multiples_are_those_of_decimals() -> None:
    """0.3 is three times 0.1, which binary fractions deny."""
    assert is_multiple(0.3, 0.1)
    assert not is_multiple(0.35, 0.1)


def test_the_same_object_is_asked_about_once() -> None:
    """The work is done once for one object, and its answer handed out again."""
    calls: list[int] = []

    @remembered
    def total(numbers: list[int], more: int) -> list[int]:
        calls.append(more)
        return [sum(numbers) + more]

    numbers = [1, 2]
    assert total(numbers, 3) == [6]
    assert total(numbers, 3) is total(numbers, 3)
    assert calls == [3]


def test_an_equal_object_is_another_one() -> None:
    """`1` and `1.0` are equal in Python and are not in a schema's text."""
    one: list[float] = [1]
    other: list[float] = [1.0]
    shown = remembered(lambda value, mark: repr(value) + str(mark))
    assert (shown(one, "!"), shown(other, "!")) == ("[1]!", "[1.0]!")


def test_what_is_long_ago_is_forgotten_and_found_anew() -> None:
    """A new object never gets the answer of one that stood at its address."""

    @remembered
    def size(value: list[int], more: int) -> int:
        return len(value) + more

    assert all(size([0] * length, 1) == length + 1 for length in range(200))


def count(value: UntypedJson) -> int:
    """Return how many objects a value holds, itself included."""
    if isinstance(value, dict):
        return 1 + sum(map(count, value.values()))
    return sum(map(count, value)) if isinstance(value, list) else 0


@given(VALUES)
def test_every_object_is_met_where_its_trail_says(value: UntypedJson) -> None:
    """Each once, and at the place that the tokens lead to."""
    found = list(objects(value))
    assert len(found) == count(value)
    assert all(at(value, tokens(trail)) is each for trail, each in found)


def test_objects_come_in_the_order_they_stand() -> None:
    """Outer ones before inner ones, earlier before later."""
    value: UntypedJson = {"a": [{"b": {}}, {"c": 1}], "d": {}}
    met = [tokens(trail) for trail, _ in objects(value)]
    assert met == [(), ("a", "0"), ("a", "0", "b"), ("a", "1"), ("d",)]


def test_deep_values_are_walked_without_recursion() -> None:
    """Deeper than the interpreter's stack."""
    value: UntypedJson = {}
    for _ in range(5_000):
        value = [{"a": value}]
    *_, (trail, _) = objects(value)
    assert len(tokens(trail)) == 10_000


@given(VALUES)
def test_the_text_to_search_is_json_text_of_the_value(value: UntypedJson) -> None:
    """Without whitespace outside strings; equal when read again."""
    assert json.loads(searchable(value)) == value


def test_any_number_can_be_searched_past() -> None:
    """Spelled ones and those past 64 bits are written in some way."""
    assert searchable([SpelledFloat("1.00"), {"a": "b"}]) == b'[1.0,{"a":"b"}]'
    assert searchable([10**30, {"a": "é"}]) == b'[1%s,{"a":"\xc3\xa9"}]' % (b"0" * 30)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ((), "#"),
        (("a", "b c"), "#/a/b%20c"),
        (("x/y", "~"), "#/x~1y/~0"),
        (("50%",), "#/50%25"),
        (("\u00e9",), "#/%C3%A9"),
    ],
)
def test_a_pointer_is_written_as_a_uri_fragment(
    tokens: tuple[str, ...], expected: str
) -> None:
    """What a URI cannot hold is escaped, what a pointer cannot hold too."""
    assert fragment_of(tokens) == expected


@given(st.lists(st.text(), max_size=4).map(tuple))
@example(("~1", "a/b"))
def test_what_is_written_is_read_back(tokens: tuple[str, ...]) -> None:
    """As text, and as a fragment where UTF-8 can say it."""
    assert tokens_of(pointer(tokens)) == tokens
    if not any("\ud800" <= letter <= "\udfff" for token in tokens for letter in token):
        assert tokens_of_fragment(fragment_of(tokens)) == tokens


def test_a_value_is_found_where_its_pointer_leads() -> None:
    """Members by name, items by index; what is not there is an error."""
    assert at({"a": [1, {"b": 2}]}, ("a", "1", "b")) == 2
    for path in (("b",), ("a", "2"), ("a", "-1"), ("a", "x"), ("a", "0", "b")):
        with pytest.raises(LookupError):
            at({"a": [1, {"b": 2}]}, path)


def test_nothing_is_put_inside_a_scalar() -> None:
    """A pointer that leads through a number leads nowhere."""
    with pytest.raises(LookupError):
        replaced({"a": 1}, ("a", "b"), 2)


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


def test_an_index_of_any_length_leads_somewhere_or_nowhere() -> None:
    """Python reads no number of more than 4,300 digits."""
    with pytest.raises(LookupError):
        at([1], ("1" * 5_000,))


DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner)
    ),
    max_leaves=12,
)


def places(value: Json, tokens: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return the pointer of every value, with the text that begins there."""
    found = []
    if isinstance(value, dict):
        for name, inner in value.items():
            own = (*tokens, name)
            found += [(pointer(own), json.dumps(name)), *places(inner, own)[1:]]
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            found += places(inner, (*tokens, str(number)))
    return [(pointer(tokens), json.dumps(value, indent=1)[:1]), *found]


@given(DOCUMENTS, st.sampled_from([None, 1]))
def test_every_value_is_found_where_it_stands(value: Json, indent: int | None) -> None:
    """A member at its name, an item and the root at their first character."""
    text = json.dumps(value, indent=indent)
    positions = TextPositions(text)
    lines = text.split("\n")
    for where, begins in places(value):
        line, column = positions.of(where)
        assert lines[line - 1][column - 1 :].startswith(begins)


@pytest.mark.parametrize(
    ("text", "where", "place"),
    [
        ('{"a": [1, {"b": 2}]}', "/a/1/c", (1, 11)),
        ('{"a": 1}', "/x/y", (1, 1)),
        ('\ufeff{"a":\n {"b": 1}}', "/a/b", (2, 3)),
        ('{"a": 1, "a": 2}', "/a", (1, 10)),
        ('{"\\u0061/": 1}', "/a~1", (1, 2)),
        ("", "/a", (1, 1)),
    ],
)
def test_what_is_not_there_is_where_its_way_ends(
    text: str, where: str, place: tuple[int, int]
) -> None:
    """The innermost value on the way; of equal names the last counts."""
    assert TextPositions(text).of(where) == place


@given(st.text(alphabet='{}[],:"\\a1 \n'))
def test_any_text_has_a_root(text: str) -> None:
    """What is no JSON is no error."""
    assert TextPositions(text).of("/a/0").line >= 1
    assert tokens_of("") == ()


def test_a_text_that_nests_without_end_takes_no_memory() -> None:
    """No text that is read nests deeper than the limit."""
    assert sum(1 for _ in _offsets("[" * 100_000)) == MAX_DEPTH + 1
