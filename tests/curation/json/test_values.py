"""JSON values, pointers and places; YAML and JavaScript that are read as JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from curation.core.documents import Reason, Rejected
from curation.json.javascript import OPAQUE, is_plain, object_literals
from curation.json.pointer import (
    Drop,
    Put,
    at,
    parse_tokens,
    pointer,
    replaced,
    rewritten,
    to_fragment,
    tokens_of_fragment,
)
from curation.json.positions import TextPositions, offsets
from curation.json.text import MAX_DEPTH, SpelledFloat, parse
from curation.json.values import (
    identity,
    is_multiple,
    is_number,
    json_type,
    objects,
    remembered,
    searchable,
)
from curation.json.yaml_reader import parse_yaml, yaml_1_1_scalar
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
    assert json_type(value) == kind
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
def test_every_object_is_met_where_its_tokens_say(value: UntypedJson) -> None:
    """Each once, and at the place that the tokens lead to."""
    found = list(objects(value))
    assert len(found) == count(value)
    assert all(at(value, tokens) is each for tokens, each in found)


def test_objects_come_in_the_order_they_stand() -> None:
    """Outer ones before inner ones, earlier before later."""
    value: UntypedJson = {"a": [{"b": {}}, {"c": 1}], "d": {}}
    met = [tokens for tokens, _ in objects(value)]
    assert met == [(), ("a", "0"), ("a", "0", "b"), ("a", "1"), ("d",)]


def test_deep_values_are_walked_without_recursion() -> None:
    """Deeper than the interpreter's stack."""
    value: UntypedJson = {}
    for _ in range(5_000):
        value = [{"a": value}]
    *_, (tokens, _) = objects(value)
    assert len(tokens) == 10_000


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
    assert to_fragment(tokens) == expected


@given(st.lists(st.text(), max_size=4).map(tuple))
@example(("~1", "a/b"))
def test_what_is_written_is_read_back(tokens: tuple[str, ...]) -> None:
    """As text, and as a fragment where UTF-8 can say it."""
    assert parse_tokens(pointer(tokens)) == tokens
    if not any("\ud800" <= letter <= "\udfff" for token in tokens for letter in token):
        assert tokens_of_fragment(to_fragment(tokens)) == tokens


def test_a_value_is_found_where_its_pointer_leads() -> None:
    """Members by name, items by index; what is not there is an error."""
    assert at({"a": [1, {"b": 2}]}, ("a", "1", "b")) == 2
    # Python reads no number of more than 4,300 digits.
    for index in ("2", "-1", "x", "1" * 5_000):
        with pytest.raises(LookupError):
            at({"a": [1, {"b": 2}]}, ("a", index))
    for path in (("b",), ("a", "0", "b")):
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
    assert rewritten(value, {}) is value


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


@given(VALUES, st.sampled_from([None, 1]))
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
    assert parse_tokens("") == ()


def test_a_text_that_nests_without_end_takes_no_memory() -> None:
    """No text that is read nests deeper than the limit."""
    assert sum(1 for _ in offsets("[" * 100_000)) == MAX_DEPTH + 1


# PyYAML follows YAML 1.1 and writes a text such as 0E0 without quotes, which is a
# number in YAML 1.2.
_NUMBER_OF_1_2 = re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+")
_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8).filter(
    lambda text: not _NUMBER_OF_1_2.fullmatch(text)
)
DRAWN: st.SearchStrategy[UntypedJson] = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(DRAWN)
def test_json_is_yaml(value: UntypedJson) -> None:
    """A JSON text means the same in YAML (YAML 1.2, section 1.2)."""
    text = json.dumps(value, ensure_ascii=False)
    assert parse_yaml(text.encode()) == value


@given(DRAWN)
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
        ("a: 1\n---\nb: 2", "several YAML documents in one file (line 2, column 1)"),
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
