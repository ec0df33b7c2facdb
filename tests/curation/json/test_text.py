"""The laws of JSON text: what is read is written back; diffs are short and right."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curation.core.documents import ABSENT, Rejected
from curation.json.line_diff import line_diff, split_lines
from curation.json.text import (
    MAX_DEPTH,
    Policy,
    SpelledFloat,
    any_spelled,
    canonical,
    depth,
    digest,
    parse,
    plain,
    write,
)
from curation.json.values import write_document
from tests.curation.schema.test_measures import VALUES

if TYPE_CHECKING:
    import random

    from curation.core.json_types import UntypedJson


#: Strings that are Unicode text: no half of a surrogate pair.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def _number(sign: str, whole: int, fraction: str, exponent: str) -> str:
    return f"{sign}{whole}{fraction}{exponent}"


#: Number tokens of RFC 8259 that a double can hold, spelled in every way.
NUMBERS = st.builds(
    _number,
    st.sampled_from(["", "-"]),
    st.integers(0, 10**25),
    st.one_of(st.just(""), st.from_regex(r"\.[0-9]{1,20}", fullmatch=True)),
    st.one_of(st.just(""), st.from_regex(r"[eE][-+]?[0-9]{1,2}", fullmatch=True)),
)
#: JSON texts, as trees of tokens: (kind, content).
SCALARS = st.one_of(
    NUMBERS,
    TEXTS.map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.sampled_from(["true", "false", "null"]),
)


def _array(parts: list[str]) -> str:
    return "[" + ", ".join(parts) + "]"


def _object(parts: dict[str, str]) -> str:
    members = (f"{json.dumps(k, ensure_ascii=False)}: {v}" for k, v in parts.items())
    return "{" + ", ".join(members) + "}"


#: JSON texts as `write` spaces them, with numbers spelled in every way.
JSON_TEXTS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(_array),
        st.dictionaries(TEXTS, inner, max_size=4).map(_object),
    ),
    max_leaves=20,
)
#: So few texts that equal values in different spellings are often met.
FEW_TEXTS = st.recursive(
    st.sampled_from(["1", "1.0", "1e0", "10E-1", "true", '"1"', "null", "-0", "0"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2).map(_array),
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2).map(_object),
    ),
    max_leaves=3,
)


def _read(text: str) -> UntypedJson:
    value = parse(text.encode())
    assert not isinstance(value, Rejected), value
    return value


def _model(value: UntypedJson) -> UntypedJson:
    """Return a value that is equal to another's exactly where the two are one."""
    if isinstance(value, dict):
        return "object", frozenset((name, _model(each)) for name, each in value.items())
    if isinstance(value, list):
        return "array", tuple(_model(each) for each in value)
    return type(value).__name__, value


def _exact(text: str) -> UntypedJson:
    """Read a text with exact numbers, by nothing that is tested here."""
    return _model(
        json.loads(
            text,
            parse_float=lambda number: Fraction(Decimal(number)),
            parse_int=Fraction,
        )
    )


def _shuffled(value: UntypedJson, order: random.Random) -> UntypedJson:
    if isinstance(value, dict):
        names = list(value)
        order.shuffle(names)
        return {name: _shuffled(value[name], order) for name in names}
    if isinstance(value, list):
        return [_shuffled(each, order) for each in value]
    return value


@given(JSON_TEXTS)
def test_reading_and_writing_gives_the_same_text_back(text: str) -> None:
    """Key order, number spelling and absent-versus-null survive exactly."""
    assert write(_read(text)) == text


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_what_is_written_is_what_the_standard_library_writes(
    value: UntypedJson,
) -> None:
    """Its separators, its escapes and its floats, halves of surrogate pairs included.

    `write_document` writes the same, also when it is asked again.
    """
    expected = json.dumps(value, ensure_ascii=False)
    assert write(value) == expected
    assert [write_document(value), write_document(value)] == [expected] * 2


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_json_has_no_number_for_is_not_written(number: float) -> None:
    """It is a fault of the caller, and must not become null."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        write({"a": [1, number]})


@given(JSON_TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_enter_the_digest(
    text: str, order: random.Random
) -> None:
    """A permutation of an object's members is the same value."""
    value = _read(text)
    assert digest(_shuffled(value, order)) == digest(value)


@given(JSON_TEXTS)
def test_the_canonical_form_is_its_own_canonical_form(text: str) -> None:
    """Canonicalising twice changes nothing."""
    once = canonical(_read(text))
    assert canonical(_read(once.decode())) == once


@example("{}", '{"a": null}')
@given(FEW_TEXTS, FEW_TEXTS)
def test_digests_are_equal_exactly_where_values_are(one: str, other: str) -> None:
    """The canonical form neither merges different values nor splits equal ones."""
    same = _exact(one) == _exact(other)
    assert (digest(_read(one)) == digest(_read(other))) is same


@given(NUMBERS, NUMBERS)
def test_numbers_have_one_canonical_form_each(one: str, other: str) -> None:
    """Two number tokens agree in canonical form exactly if they denote one number."""
    same = Decimal(one) == Decimal(other)
    assert (canonical(_read(one)) == canonical(_read(other))) is same


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | TEXTS,
        lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
        max_leaves=20,
    )
)
def test_without_fractions_the_standard_library_writes_the_same(
    value: UntypedJson,
) -> None:
    """Keys are in code point order; nothing insignificant stands between tokens."""
    expected = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert canonical(value) == expected.encode()


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_every_character_is_written_alike_by_both_writers(text: str) -> None:
    """The fast writer and the careful one escape the same characters."""
    careful = canonical([text, SpelledFloat("1e0")])
    assert careful == canonical([text, 1])


def test_keys_are_sorted_by_code_point() -> None:
    """U+1F600 sorts behind U+FFFD, which UTF-16 order would turn around."""
    text = '{"\U0001f600": 1, "\ufffd": 2, "a": 3, "Z": 4, "é": 5}'
    names = json.loads(canonical(_read(text)))
    assert list(names) == ["Z", "a", "é", "\ufffd", "\U0001f600"]


@pytest.mark.parametrize(
    ("spelling", "form"),
    [
        ("1", "1"),
        ("1.0", "1"),
        ("1e0", "1"),
        ("10E-1", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("0e99", "0"),
        ("0.10", "0.1"),
        ("1e-7", "1e-07"),
        ("1E-7", "1e-07"),
        ("0.0000001", "1e-07"),
        ("1e23", "1" + 23 * "0"),
        ("1e+23", "1" + 23 * "0"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("18446744073709551616", "18446744073709551616"),
        ("9007199254740993", "9007199254740993"),
        ("9007199254740993.0", "9007199254740993"),
        ("0.1000000000000000055511151231257827", None),
        ("1e-400", None),
        ("1e-999999999", None),
    ],
)
def test_a_number_is_canonical_by_its_exact_value(
    spelling: str, form: str | None
) -> None:
    """The form denotes the number itself, not the double nearest to it."""
    written = canonical(_read(spelling)).decode()
    assert Decimal(written) == Decimal(spelling)
    assert form is None or written == form


def test_the_digest_is_the_sha256_of_the_canonical_form() -> None:
    """A record's identity can be computed by anyone."""
    value = _read('{"b": [1.0, "é"], "a": null}')
    expected = '{"a":null,"b":[1,"é"]}'.encode()
    assert canonical(value) == expected
    assert digest(value) == hashlib.sha256(expected).hexdigest()


def test_deep_values_have_a_canonical_form() -> None:
    """The careful writer takes over where the fast one gives up on depth."""
    value = _read("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert canonical(value) == b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    spelled = _read("[" * MAX_DEPTH + "1E2" + "]" * MAX_DEPTH)
    assert canonical(spelled) == b"[" * MAX_DEPTH + b"100" + b"]" * MAX_DEPTH
    assert write(spelled) == "[" * MAX_DEPTH + "1E2" + "]" * MAX_DEPTH


def test_plain_values_hold_ordinary_floats_only() -> None:
    """The validators are given doubles; what was plain is not copied."""
    value = _read('{"a": [1.50, 2.5], "b": -0}')
    assert any_spelled(value)
    assert not any_spelled(plain(value))
    assert plain(value) == {"a": [1.5, 2.5], "b": 0.0}
    untouched = _read('{"a": [2.5]}')
    assert plain(untouched) is untouched


def test_a_spelled_number_survives_copying_between_processes() -> None:
    """The spelling travels with the value."""
    number = SpelledFloat("1.00")
    assert pickle.loads(pickle.dumps(number)).spelling == "1.00"  # noqa: S301 - our own bytes
    assert math.isclose(number, 1.0)


@pytest.mark.parametrize(
    ("text", "levels"),
    [("1", 0), ("[]", 1), ("{}", 1), ('{"a": [1, {"b": 2}]}', 3), ("[[], [[1]]]", 3)],
)
def test_depth_counts_nested_objects_and_arrays(text: str, levels: int) -> None:
    """A scalar has depth 0, every object or array around it one more."""
    assert depth(_read(text)) == levels


def test_the_last_of_two_equal_keys_counts_if_the_policy_says_so() -> None:
    """Rule set `paper` reads as the original's parser did."""
    value = parse(b'{"a": 1, "a": 2}', Policy(last_key_counts=True))
    assert value == {"a": 2}


def test_integers_past_64_bits_are_doubles_where_the_policy_says_so() -> None:
    """As the paper's parser read them; smaller ones stay exact."""
    policy = Policy(large_integers_are_floats=True)
    value = parse(b"[18446744073709551615, 18446744073709551616]", policy)
    assert value == [2**64 - 1, float(2**64)]
    assert isinstance(value, list)
    assert [type(item) for item in value] == [int, float]


@given(VALUES)
def test_indented_lines_are_the_same_json(value: object) -> None:
    """The lines, joined, are a JSON text of the same value."""
    text = json.dumps(value)
    assert json.loads("\n".join(split_lines(text))) == value


@given(VALUES)
def test_equal_texts_have_no_diff(value: object) -> None:
    """Nothing is shown where nothing changed."""
    assert line_diff(json.dumps(value), json.dumps(value)) == []


@given(VALUES, VALUES)
def test_a_diff_shows_every_new_and_old_line(before: object, after: object) -> None:
    """Exchanging the sides exchanges the signs' totals."""
    there = line_diff(json.dumps(before), json.dumps(after))
    back = line_diff(json.dumps(after), json.dumps(before))
    for sign, other in ("+-", "-+"):
        count = sum(line.startswith(sign) for line in there)
        assert (count == 0) == (not any(line.startswith(other) for line in back))


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        # Two lines of context are around a change.
        (
            *("[1, 2, 3, 4, 5, 6]", "[1, 2, 3, 0, 5, 6]"),
            ["   2,", "   3,", "-  4,", "+  0,", "   5,", "   6"],
        ),
        # What was absent is all new, and 1.0 and 1.00 are different texts.
        (ABSENT, '{"a": 1}', ["+{", '+  "a": 1', "+}"]),
        ("1.0", "1.00", ["-1.0", "+1.00"]),
    ],
)
def test_a_diff_is_one_of_lines(before: str, after: str, lines: list[str]) -> None:
    """Indented as they are shown, with their signs."""
    assert line_diff(before, after) == lines


def test_huge_texts_are_summarised() -> None:
    """A change of many thousand lines costs one line."""
    before = json.dumps(list(range(5_000)))
    after = json.dumps(list(range(7_000, 12_000)))
    (line,) = line_diff(before, after)
    assert line.startswith("@ 5,000 lines became 5,000")
