"""Object literals in JavaScript, read as far as they are plain data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.json.javascript import OPAQUE, is_plain, object_literals

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=4), inner)
    ),
    max_leaves=12,
)


def value_of(literal: str) -> UntypedJson:
    """Return what is read of one expression."""
    ((_, found),) = object_literals(f"x = {{it: {literal}, after: 1}}", {"it"})
    assert found["after"] == 1
    return found["it"]


@given(VALUES)
def test_json_is_read_as_json(value: UntypedJson) -> None:
    """A JSON text is an expression of JavaScript with the same value."""
    assert value_of(json.dumps(value)) == value
    assert value_of(json.dumps(value, ensure_ascii=False, indent=1)) == value


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'it\\'s' + `\n` + \"\\x41\\u{1F600}\\ud83d\\ude00\"", "it's\nA😀😀"),
        ("'a\\\nb'", "ab"),
        ("[!0, !1, -1, 1e3, .5, 1.0,]", [True, False, -1, 1000, 0.5, 1]),
        ("{a: 1, 'b-c': {}, 3: null /* d: 4 */} // e", {"a": 1, "b-c": {}, "3": None}),
        ("['x', 'y'] as const", ["x", "y"]),
        ("[!!0, - -1]", [False, 1]),
        ("![" * 40 + "1" + "]" * 40, OPAQUE),
        ("`${'`'} ${{a: `}`}}`", OPAQUE),
        ('/[/}]"/g', OPAQUE),
        ("name", OPAQUE),
        ("z.object({a: 1}).strict()", OPAQUE),
        ("'a'.repeat(2)", OPAQUE),
        ("on ? 'a' : 'b'", OPAQUE),
        ("(x, y) => { return x / y }", OPAQUE),
        ("0x10", OPAQUE),
        ("1 + 1", OPAQUE),
    ],
)
def test_what_is_no_plain_data_is_opaque(literal: str, value: UntypedJson) -> None:
    """Nothing is guessed, and the member after it is found all the same."""
    assert value_of(literal + "\n") == value


def test_a_spread_and_a_method_make_an_object_opaque() -> None:
    """Others may be among their members."""
    for member in ("...rest", "[key]: 1", "method() { return {a: 1} }", "short"):
        (value,) = (value_of(f"{{a: 1, {member}}}"),)
        assert isinstance(value, dict)
        assert value["a"] == 1
        assert not is_plain(value)


def test_each_object_is_read_once_with_its_line() -> None:
    """Wherever it stands, in code that no one runs."""
    text = (
        'if (a / b > 1) {\n f({n: 1,\n m: 2}); return /"/ } g({m: "x"})\n'
        "class A { m = [{m: `\n`}, {x: 1}] }"
    )
    found = list(object_literals(text, {"n", "m"}))
    assert found == [(2, {"n": 1, "m": 2}), (3, {"m": "x"}), (4, {"m": "\n"})]


@given(st.text(alphabet="{}[]()`'\"\\/$:,+-!*a1 \n"))
def test_no_text_is_too_broken(text: str) -> None:
    """A cut or odd file ends without an exception."""
    list(object_literals(f"{text}{{a: {text}", {"a"}))
