"""F13 to F19: texts that are not what they seem, as one reason each."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Reason, Rejected
from curation.json.text import MAX_DEPTH, canonical, digest, parse, write
from curation.workers.limits import Limits, too_big, too_many

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

#: Seconds that no text here may take; quadratic reading would take minutes.
LINEAR = 10.0


def _reason(content: bytes) -> Reason | None:
    value = parse(content)
    return value.reason if isinstance(value, Rejected) else None


def _value(content: bytes) -> UntypedJson:
    value = parse(content)
    assert not isinstance(value, Rejected), value
    return value


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": "\xff"}',
        b'{"a": "\xc0\xaf"}',
        b'{"a": "\xed\xa0\x80"}',
        b'{"caf\xe9": 1}',
        '{"a": 1}'.encode("utf-16"),
        '{"a": 1}'.encode("utf-16-le"),
        '{"a": 1}'.encode("utf-16-be"),
        '{"a": 1}'.encode("utf-32"),
        '{"a": 1}'.encode("utf-32-le"),
        rb'{"a": "\ud800"}',
        rb'{"a": "\udc00\ud800"}',
        rb'{"\uDBFF": 1}',
        rb'["\ud83d x \ude00"]',
    ],
)
def test_f13_what_is_not_utf_8_is_named_so(content: bytes) -> None:
    """Foreign encodings, overlong forms and half surrogates are `bad_encoding`."""
    assert _reason(content) is Reason.BAD_ENCODING


def test_f13_a_byte_order_mark_is_dropped() -> None:
    """UTF-8 with a mark is UTF-8; a second mark is no JSON."""
    assert parse(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    assert _reason(b"\xef\xbb\xbf\xef\xbb\xbf{}") is Reason.NOT_JSON


def test_f13_zero_characters_and_whole_pairs_are_kept() -> None:
    """An escaped NUL and an escaped pair are text; a raw NUL is not JSON."""
    assert parse(rb'["\u0000", "\ud83d\ude00"]') == ["\0", "\U0001f600"]
    assert _reason(b'{"a": "x\0y"}') is Reason.NOT_JSON
    assert _reason(b'{"abc": 1}\0') is Reason.NOT_JSON


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"   ",
        b"{",
        b'{"a": 1',
        b'{"a": 1} x',
        b'{"a": 1}{"b": 2}',
        b'{"a": 1,}',
        b"[1, 2,]",
        b"{'a': 1}",
        b"{a: 1}",
        b'// a comment\n{"a": 1}',
        b'{"a": 1 /* a comment */}',
        b'{"a": 0x10}',
        b'{"a": +1}',
        b'{"a": .5}',
        b'{"a": 5.}',
        b'{"a": 01}',
        b'{"a": 1e}',
        b'{"a": "line\nbreak"}',
        b'{"a": "\\x41"}',
        b'{"a": "\\u12"}',
        "{\u00a0}".encode(),
        '{"a": \u0661}'.encode(),
        b"undefined",
        b"True",
        b"<!DOCTYPE html>",
    ],
)
def test_f14_what_is_nearly_json_is_not_json(content: bytes) -> None:
    """Comments, trailing commas, cut texts and dialects of JSON are `not_json`."""
    assert _reason(content) is Reason.NOT_JSON


def test_f14_the_detail_says_where_the_text_breaks() -> None:
    """A person finds the place by line and column."""
    value = parse(b'{\n  "a": 1,\n}')
    assert isinstance(value, Rejected)
    assert "(line 3, column 1)" in value.detail


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": 1, "a": 1}',
        b'{"x": [{"b": 1, "c": 2, "b": 3}]}',
        rb'{"a": 1, "\u0061": 2}',
        b'{"": 1, "": 2}',
    ],
)
def test_f15_two_members_of_one_name_are_refused(content: bytes) -> None:
    """Equal names count as equal however they are escaped and however deep."""
    assert _reason(content) is Reason.DUPLICATE_KEYS


def test_f15_names_that_only_look_equal_are_two_names() -> None:
    """No Unicode normalisation: JSON compares code points."""
    assert len(_value('{"é": 1, "e\u0301": 2}'.encode())) == 2


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity", "[1, NaN]"])
def test_f16_nan_and_infinities_are_not_json(name: str) -> None:
    """What Python would read is no JSON, and the detail says which word."""
    value = parse(name.encode())
    assert isinstance(value, Rejected)
    assert value.reason is Reason.NOT_JSON
    assert name.strip("[1, ]") in value.detail


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1" + 400 * "0" + ".0"])
def test_f16_a_number_beyond_a_double_is_out_of_range(number: str) -> None:
    """It is refused by name, not read as infinity."""
    assert _reason(number.encode()) is Reason.NUMBER_OUT_OF_RANGE


@pytest.mark.parametrize(
    "number", ["-0", "-0.0", "1.0", "1E5", "1e+5", "0.10", "1e-400"]
)
def test_f16_every_spelling_is_written_back(number: str) -> None:
    """Numbers that no rule touched keep their author's spelling."""
    value: UntypedJson = parse(number.encode())
    assert write(value) == number


@pytest.mark.parametrize(
    "number",
    [2**53 + 1, 2**63, 2**64, -(2**64) - 1, 123456789012345678901234567890, 10**4299],
)
def test_f17_integers_are_exact_at_any_size(number: int) -> None:
    """No integer is rounded by reading, writing or canonicalising."""
    value = parse(b'{"maximum": %d}' % number)
    assert value == {"maximum": number}
    assert write(value) == f'{{"maximum": {number}}}'
    assert canonical(value) == b'{"maximum":%d}' % number


def test_f17_an_integer_of_too_many_digits_is_refused_at_once() -> None:
    """A million digits are neither converted, which is quadratic, nor rounded."""
    started = time.monotonic()
    assert _reason(b"1" * 4301) is Reason.NUMBER_OUT_OF_RANGE
    assert _reason(b'{"a": -%b}' % (b"9" * 1_000_000)) is Reason.NUMBER_OUT_OF_RANGE
    assert time.monotonic() - started < LINEAR


@pytest.mark.parametrize(
    "number", ["0e9999999999", "1e-99999999999999999999", "0." + "1e-" + "9" * 5000]
)
def test_f17_an_exponent_beyond_reason_is_refused(number: str) -> None:
    """No arithmetic could tell such a number from zero."""
    assert _reason(number.encode()) is Reason.NUMBER_OUT_OF_RANGE


@pytest.mark.parametrize(
    "number",
    ["0e999999999", "1e-999999999", "1." + "0" * 1_000_000, "0." + "1" * 1_000_000],
)
def test_f17_long_and_tiny_numbers_are_canonical_in_linear_time(number: str) -> None:
    """A number's canonical form is never expanded to its exponent's length."""
    started = time.monotonic()
    value: UntypedJson = parse(number.encode())
    form = canonical(value)
    assert len(form) <= len(number) + 10
    assert time.monotonic() - started < LINEAR


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        b'{"a":[' * 200 + b"]}" * 200,
    ],
)
def test_f18_deep_nesting_is_too_deep_not_a_crash(content: bytes) -> None:
    """A hundred thousand levels end as a reason, like one level too many."""
    assert _reason(content) is Reason.TOO_DEEP


def test_f18_the_deepest_nesting_that_is_allowed_is_read() -> None:
    """The limit itself is within the limit."""
    assert _reason(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) is None


@pytest.mark.slow
def test_f18_a_million_keys_are_read_and_counted() -> None:
    """Width costs linear time; the limit on nodes then gives the verdict."""
    content = b"{" + b",".join(b'"k%d":0' % n for n in range(1_000_000)) + b"}"
    started = time.monotonic()
    value = _value(content)
    assert len(value) == 1_000_000
    assert len(digest(value)) == 64
    assert time.monotonic() - started < LINEAR
    verdict = too_many(value, Limits())
    assert verdict is not None
    assert verdict.reason is Reason.TOO_LARGE


def test_f18_a_long_string_is_refused_before_it_is_read() -> None:
    """The limit on bytes is looked at before the parser."""
    content = b'"' + b"x" * (17 * 2**20) + b'"'
    verdict = too_big(content, Limits())
    assert verdict is not None
    assert verdict.reason is Reason.TOO_LARGE
    assert _reason(content) is None


@pytest.mark.parametrize("count", [1_000, 200_000])
def test_f18_many_escapes_and_many_duplicates_take_linear_time(count: int) -> None:
    """Neither escapes nor repeated names make reading quadratic."""
    started = time.monotonic()
    assert parse(b'"' + rb"\u0041" * count + b'"') == "A" * count
    names = b",".join([b'"a":1'] * count)
    assert _reason(b"{" + names + b"}") is Reason.DUPLICATE_KEYS
    assert time.monotonic() - started < LINEAR


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"null", None), (b'"x"', "x"), (b"3", 3), (b"true", True), (b"[1]", [1])],
)
def test_f19_a_root_of_any_kind_is_json(content: bytes, expected: UntypedJson) -> None:
    """The parser reads it; whether it is a schema is decided behind it."""
    assert parse(content) == expected


def test_f12_a_git_lfs_pointer_is_named_as_one() -> None:
    """The archive holds a pointer instead of the content."""
    content = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    assert _reason(content) is Reason.LFS_POINTER
