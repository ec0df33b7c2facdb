"""Probes of values, arrays and formats.

Sources: JSON Schema validation 2020-12, sections 6.1 to 6.4, 7.3, 8 and 9, core,
sections 10.3.1 and 11.2, and the earlier drafts. Since 2019-09 `format` only annotates
unless it is asked to assert; engines generate, so what counts is whether they write
what the format promises.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from curation.core.json_types import Json
from evaluation.tasks.probe.probe import NOTHING, UNTYPED, Probe, keyword_probe

_NAMES: Final[dict[str, tuple[Json, Json]]] = {
    "string": ("a", 1),
    "number": (1.5, "a"),
    "integer": (1, 1.5),
    "boolean": (True, "a"),
    "null": (None, 1),
    "array": ([], {}),
    "object": ({}, []),
}


def _old_bound(keyword: str, bound: str, valid: int, violating: int) -> Probe:
    schema: dict[str, Json] = {bound: 5, keyword: True}
    return keyword_probe(
        "integer",
        keyword,
        schema,
        valid,
        violating,
        "Boolean",
        "@minmaxInteger",
        until="draft-04",
    )


_BOUND, _NUMBER, _LENGTH = "@minmaxInteger", "@minmaxNumber", "@minmaxLength"

_probe = partial(keyword_probe, "")
_string = partial(keyword_probe, "string")

VALUES: Final = (
    *(
        _probe("type", {"type": name}, valid, violating, name)
        for name, (valid, violating) in _NAMES.items()
    ),
    _probe("type", {"type": ["integer", "null"]}, 1, "a", "list"),
    _probe("enum", {"enum": ["a", "b"]}, "b", "c"),
    _probe("enum", {"enum": [1, "a", [2]]}, [2], [3], "mixed"),
    _probe("const", {"const": "a"}, "a", "b", since="draft-06"),
    # One item: white space, which may stand anywhere else, is another question.
    _probe("const", {"const": [1]}, [1], [2], "array", since="draft-06"),
    keyword_probe("integer", "multipleOf", {"multipleOf": 3}, 6, 7, "integer"),
    keyword_probe("number", "multipleOf", {"multipleOf": 0.5}, 1.5, 1.7, "number"),
    *(
        keyword_probe(kind, name, {name: bound}, valid, violating, kind, feature, since)
        for kind, feature, name, bound, valid, violating, since in (
            ("integer", _BOUND, "minimum", 10, 10, 9, "draft-04"),
            ("integer", _BOUND, "maximum", 10, 10, 11, "draft-04"),
            ("number", _NUMBER, "minimum", 1.5, 1.5, 1.4, "draft-04"),
            ("number", _NUMBER, "maximum", 1.5, 1.5, 1.6, "draft-04"),
            ("integer", _BOUND, "exclusiveMinimum", 10, 11, 10, "draft-06"),
            ("integer", _BOUND, "exclusiveMaximum", 10, 9, 10, "draft-06"),
            ("number", _NUMBER, "exclusiveMinimum", 1.5, 1.6, 1.5, "draft-06"),
            ("number", _NUMBER, "exclusiveMaximum", 1.5, 1.4, 1.5, "draft-06"),
        )
    ),
    _old_bound("exclusiveMinimum", "minimum", 6, 5),
    _old_bound("exclusiveMaximum", "maximum", 4, 5),
    _string("minLength", {"minLength": 3}, "abc", "ab", feature=_LENGTH),
    _string("maxLength", {"maxLength": 3}, "abc", "abcd", feature=_LENGTH),
    _string("maxLength", {"maxLength": 1}, "\U0001f600", "ab", "code points", _LENGTH),
    _string("pattern", {"pattern": "^a+$"}, "aa", "b"),
    _string("pattern", {"pattern": "b"}, "abc", "ac", "unanchored"),
    _string("pattern", {"pattern": "^(?=a)[a-c]+$"}, "ab", "ba", "lookahead"),
    _string("pattern", {"pattern": "^(a|b)\\1$"}, "aa", "ab", "backreference"),
    Probe(
        name="minLength (without type)",
        keyword="minLength",
        schema={"minLength": 3},
        valid="abc",
        violating="ab",
        feature=_LENGTH,
        contexts=UNTYPED,
    ),
)


_INTEGER: Final[dict[str, Json]] = {"type": "integer"}
_STRING: Final[dict[str, Json]] = {"type": "string"}
_ITEMS, _CONTAINED = "@minmaxItems", "@minmaxContains"

_array = partial(keyword_probe, "array")

ARRAYS: Final = (
    _array("items", {"items": _INTEGER}, [1], ["a"]),
    _array("items", {"items": False}, [], [1], "false", since="draft-06"),
    _array(
        "items",
        {"items": [_INTEGER, _STRING]},
        [1, "a"],
        ["a"],
        "list",
        until="2019-09",
    ),
    _array(
        "items",
        {"prefixItems": [_INTEGER], "items": _STRING},
        [1, "a"],
        [1, 2],
        "after prefixItems",
        since="2020-12",
    ),
    _array(
        "prefixItems",
        {"prefixItems": [_INTEGER, _STRING]},
        [1, "a"],
        ["a"],
        since="2020-12",
    ),
    _array(
        "additionalItems",
        {"items": [_INTEGER], "additionalItems": False},
        [1],
        [1, 2],
        "false",
        until="2019-09",
    ),
    _array(
        "additionalItems",
        {"items": [_INTEGER], "additionalItems": _STRING},
        [1, "a"],
        [1, 2],
        "schema",
        until="2019-09",
    ),
    _array("minItems", {"items": _INTEGER, "minItems": 2}, [1, 2], [1], "", _ITEMS),
    _array("maxItems", {"items": _INTEGER, "maxItems": 1}, [1], [1, 2], "", _ITEMS),
    _array("uniqueItems", {"items": _INTEGER, "uniqueItems": True}, [1, 2], [1, 1]),
    _array("contains", {"contains": _STRING}, [1, "a"], [1, 2], since="draft-06"),
    _array(
        "minContains",
        {"contains": _STRING, "minContains": 2},
        ["a", "b"],
        ["a", 1],
        feature=_CONTAINED,
        since="2019-09",
    ),
    _array(
        "maxContains",
        {"contains": _STRING, "maxContains": 1},
        ["a", 1],
        ["a", "b"],
        feature=_CONTAINED,
        since="2019-09",
    ),
    _array(
        "unevaluatedItems",
        {"items": [_INTEGER], "unevaluatedItems": False},
        [1],
        [1, 2],
        "after items",
        since="2019-09",
        until="2019-09",
    ),
    _array(
        "unevaluatedItems",
        {"prefixItems": [_INTEGER], "unevaluatedItems": False},
        [1],
        [1, 2],
        since="2020-12",
    ),
    Probe(
        name="items (without type)",
        keyword="items",
        schema={"items": _INTEGER},
        valid=[1],
        violating=["a"],
        contexts=UNTYPED,
    ),
)


#: Format: valid, violating, the oldest draft that defines it.
_FORMATS: Final = {
    "date-time": ("2020-01-31T10:00:00Z", "2020-01-31", "draft-04"),
    "date": ("2020-01-31", "2020-13-31", "draft-07"),
    "time": ("10:00:00Z", "10:00", "draft-07"),
    "duration": ("P1D", "1D", "2019-09"),
    "email": ("a@example.com", "a", "draft-04"),
    "idn-email": ("ä@example.com", "ä", "draft-07"),
    "hostname": ("example.com", "-a.example", "draft-04"),
    "idn-hostname": ("bücher.example", "-ü.example", "draft-07"),
    "ipv4": ("127.0.0.1", "127.0.0", "draft-04"),
    "ipv6": ("::1", "::g", "draft-04"),
    "uri": ("https://example.com/a", "a", "draft-04"),
    "uri-reference": ("/a", "\\a", "draft-06"),
    "iri": ("https://example.com/ä", "ä", "draft-07"),
    "iri-reference": ("/ä", "\\ä", "draft-07"),
    "uuid": ("2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08", "2019-09"),
    "uri-template": ("/{a}", "/{a", "draft-06"),
    "json-pointer": ("/a", "a", "draft-06"),
    "relative-json-pointer": ("1/a", "/a", "draft-07"),
    "regex": ("^a+$", "(a", "draft-07"),
}
#: Annotation: its value, the oldest draft that has it.
_ANNOTATIONS: Final[dict[str, tuple[Json, str]]] = {
    "title": ("a title", "draft-04"),
    "description": ("a text", "draft-04"),
    "default": ("b", "draft-04"),
    "examples": (["a"], "draft-06"),
    "$comment": ("a remark", "draft-07"),
    "readOnly": (True, "draft-07"),
    "writeOnly": (True, "draft-07"),
    "deprecated": (True, "2019-09"),
    "contentEncoding": ("base64", "draft-07"),
    "contentMediaType": ("text/plain", "draft-07"),
    "contentSchema": ({"type": "integer"}, "2019-09"),
    "x-unknown": ({"a": 1}, "draft-04"),
}

#: The values of `format` that are probed.
FORMAT_VALUES: Final = tuple(_FORMATS)
#: How the probe of a value is called.
FORMAT_PROBE: Final = "format ({})"
#: The value that no draft defines.
UNKNOWN: Final = "unknown"

FORMATS: Final = (
    *(
        _string("format", {"format": name}, valid, violating, name, since=since)
        for name, (valid, violating, since) in _FORMATS.items()
    ),
    _string("format", {"format": "x-unknown"}, "a", NOTHING, UNKNOWN),
    *(
        # Whatever reads these as assertions finds it as base64, too.
        _string(name, {name: value}, "YQ==", NOTHING, since=since)
        for name, (value, since) in _ANNOTATIONS.items()
    ),
)
