"""YAML and object literals of JavaScript that are read as JSON, or refused."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Reason, Rejected
from curation.json.javascript import OPAQUE, is_plain, object_literals
from curation.json.text import parse
from curation.json.yaml_reader import parse_yaml, yaml_1_1_scalar

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


# PyYAML follows YAML 1.1 and writes a text such as 0E0 without quotes, which is a
# number in YAML 1.2.
_NUMBER_OF_1_2 = re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+")
_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8).filter(
    lambda text: not _NUMBER_OF_1_2.fullmatch(text)
)
VALUES: st.SearchStrategy[UntypedJson] = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_json_is_yaml(value: UntypedJson) -> None:
    """A JSON text means the same in YAML (YAML 1.2, section 1.2)."""
    text = json.dumps(value, ensure_ascii=False)
    assert parse_yaml(text.encode()) == value


@given(VALUES)
def test_what_pyyaml_writes_is_read(value: UntypedJson) -> None:
    """The block style of others comes back as it was."""
    assert parse_yaml(yaml.safe_dump(value, allow_unicode=True).encode()) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on: yes", {"on": "yes"}),
        ("date: 2026-11-22", {"date": "2026-11-22"}),
        ("1: a\nnull: b", {"1": "a", "null": "b"}),
        ("a: 0o17\nb: 0x1F\nc: 017", {"a": 15, "b": 31, "c": 17}),
        ("a: 1e3\nb: .5\nc: -2", {"a": 1000.0, "b": 0.5, "c": -2}),
        ("a: 12:30:00", {"a": "12:30:00"}),
        ("a: ~\nb:", {"a": None, "b": None}),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("<<: {a: 1}\nb: 2", {"a": 1, "b": 2}),
    ],
)
def test_words_are_those_of_yaml_1_2(text: str, value: UntypedJson) -> None:
    """No `on` becomes a truth value, no date a date, no key anything but text."""
    assert parse_yaml(text.encode()) == value


LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\na: 2", "'a' stands twice (line 2, column 1)"),
        ("[1]: 2", "a collection as a member's name"),
        (
            "a: !!python/object:os.system x",
            "the tag tag:yaml.org,2002:python/object:os.system",
        ),
        (
            "b:\n  - !!binary aGk=",
            "the tag tag:yaml.org,2002:binary (line 2, column 5)",
        ),
        ("&a\n[*a]", "an alias inside its own anchor (line 2, column 2)"),
        (LAUGHS, "over 1,000,000 values"),
        ("a: [1", "did not find expected ',' or ']' (line 2, column 1)"),
        ("a: 1\n---\nb: 2", "more than one document"),
        ("[" * 100_000, "nested over 256 levels"),
        ("- " * 100_000, "nested over 256 levels"),
    ],
)
def test_what_json_cannot_say_is_refused(text: str, said: str) -> None:
    """Equal keys, objects of Python, cycles, bombs and several documents."""
    found = parse_yaml(text.encode())
    assert isinstance(found, Rejected)
    assert found.reason is Reason.NOT_JSON
    assert said in found.detail


def test_other_encodings_are_refused() -> None:
    """YAML files are UTF-8 here, as JSON files are."""
    found = parse_yaml(b"a: \xff")
    assert isinstance(found, Rejected)
    assert found.reason is Reason.BAD_ENCODING


def test_an_integer_too_long_is_refused_as_in_json() -> None:
    """With the same reason and words, which name nothing of Python's."""
    digits = b"9" * 5_000
    assert isinstance(parse_yaml(b"a: " + digits), Rejected)
    assert parse_yaml(b"a: " + digits) == parse(b'{"a": ' + digits + b"}")


def test_digits_after_a_point_may_be_as_many_as_one_likes() -> None:
    """A double takes a time that is linear in them, as in PyYAML."""
    assert yaml_1_1_scalar("40." + "9" * 5_000) == 41.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 0x" + "f" * 4_000, Reason.NUMBER_OUT_OF_RANGE),
        ("a: !!float 1" + "0" * 400, Reason.NOT_JSON),
        ("a: !!float false", Reason.NOT_JSON),
        (
            "a0: &a0 [1]\n"
            + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 1_300)),
            Reason.NOT_JSON,
        ),
    ],
    ids=["hexadecimal", "float", "boolean", "aliases"],
)
def test_what_python_could_not_write_again_is_refused(
    text: str, reason: Reason
) -> None:
    """Numbers too large, and what aliases nest."""
    found = parse_yaml(text.encode())
    assert isinstance(found, Rejected)
    assert found.reason is reason


PLAIN_VALUES = st.recursive(
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


@given(PLAIN_VALUES)
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
