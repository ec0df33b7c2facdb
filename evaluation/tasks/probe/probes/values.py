"""Probes of what a value is: type, enum, const, numbers and strings.

Sources: JSON Schema validation 2020-12, section 6.1 to 6.3, and the same sections of
the earlier drafts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.tasks.probe.probes.base import UNTYPED, Probe, keyword_probe

if TYPE_CHECKING:
    from curation.core.json_types import Json

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
    """Return the Boolean form that draft-04 has beside a bound."""
    return Probe(
        name=f"{keyword} (Boolean)",
        keyword=keyword,
        schema={"type": "integer", bound: 5, keyword: True},
        valid=valid,
        violating=violating,
        feature="@minmaxInteger",
        until="draft-04",
    )


_INTEGER, _NUMBER, _LENGTH = "@minmaxInteger", "@minmaxNumber", "@minmaxLength"

PROBES: Final = (
    *(
        Probe(
            name=f"type ({name})",
            keyword="type",
            schema={"type": name},
            valid=valid,
            violating=violating,
        )
        for name, (valid, violating) in _NAMES.items()
    ),
    Probe(
        name="type (list)",
        keyword="type",
        schema={"type": ["integer", "null"]},
        valid=1,
        violating="a",
    ),
    Probe(
        name="enum",
        keyword="enum",
        schema={"enum": ["a", "b"]},
        valid="b",
        violating="c",
    ),
    Probe(
        name="enum (mixed)",
        keyword="enum",
        schema={"enum": [1, "a", [2]]},
        valid=[2],
        violating=[3],
    ),
    Probe(
        name="const",
        keyword="const",
        schema={"const": "a"},
        valid="a",
        violating="b",
        since="draft-06",
    ),
    Probe(
        # One item: white space, which may stand anywhere else, is another question.
        name="const (array)",
        keyword="const",
        schema={"const": [1]},
        valid=[1],
        violating=[2],
        since="draft-06",
    ),
    keyword_probe("integer", "multipleOf", {"multipleOf": 3}, 6, 7, "integer"),
    keyword_probe("number", "multipleOf", {"multipleOf": 0.5}, 1.5, 1.7, "number"),
    keyword_probe("integer", "minimum", {"minimum": 10}, 10, 9, "integer", _INTEGER),
    keyword_probe("integer", "maximum", {"maximum": 10}, 10, 11, "integer", _INTEGER),
    keyword_probe("number", "minimum", {"minimum": 1.5}, 1.5, 1.4, "number", _NUMBER),
    keyword_probe("number", "maximum", {"maximum": 1.5}, 1.5, 1.6, "number", _NUMBER),
    keyword_probe(
        "integer",
        "exclusiveMinimum",
        {"exclusiveMinimum": 10},
        11,
        10,
        "integer",
        _INTEGER,
        "draft-06",
    ),
    keyword_probe(
        "integer",
        "exclusiveMaximum",
        {"exclusiveMaximum": 10},
        9,
        10,
        "integer",
        _INTEGER,
        "draft-06",
    ),
    keyword_probe(
        "number",
        "exclusiveMinimum",
        {"exclusiveMinimum": 1.5},
        1.6,
        1.5,
        "number",
        _NUMBER,
        "draft-06",
    ),
    keyword_probe(
        "number",
        "exclusiveMaximum",
        {"exclusiveMaximum": 1.5},
        1.4,
        1.5,
        "number",
        _NUMBER,
        "draft-06",
    ),
    _old_bound("exclusiveMinimum", "minimum", 6, 5),
    _old_bound("exclusiveMaximum", "maximum", 4, 5),
    keyword_probe(
        "string", "minLength", {"minLength": 3}, "abc", "ab", feature=_LENGTH
    ),
    keyword_probe(
        "string", "maxLength", {"maxLength": 3}, "abc", "abcd", feature=_LENGTH
    ),
    keyword_probe(
        "string",
        "maxLength",
        {"maxLength": 1},
        "\U0001f600",
        "ab",
        "code points",
        _LENGTH,
    ),
    keyword_probe("string", "pattern", {"pattern": "^a+$"}, "aa", "b"),
    keyword_probe("string", "pattern", {"pattern": "b"}, "abc", "ac", "unanchored"),
    keyword_probe(
        "string", "pattern", {"pattern": "^(?=a)[a-c]+$"}, "ab", "ba", "lookahead"
    ),
    keyword_probe(
        "string", "pattern", {"pattern": "^(a|b)\\1$"}, "aa", "ab", "backreference"
    ),
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
