"""F25 and F28: recursion with and without an end, and `format` as nobody meant it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import Reason
from tests.hostile import schemas
from tests.hostile.judging import judged, reason_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from curation.core.json_types import UntypedJson

_ITSELF = {"$ref": "#"}
_DECLARED = "https://json-schema.org/draft/2020-12/schema"


def _holder(item: UntypedJson, **more: UntypedJson) -> dict[str, UntypedJson]:
    return {"type": "object", "properties": {"next": item}, **more}


def _format(name: UntypedJson, type_: str = "string") -> dict[str, UntypedJson]:
    return _holder({"type": type_, "format": name}, required=["next"])


_LISTS = {"type": "array", "items": {"$ref": "#/$defs/a"}, "minItems": 1}
_EITHER = {"oneOf": [{"type": "integer"}, _ITSELF]}
_SHORT = {"type": "string", "minLength": 3, "maxLength": 2}
_NO_NAMES: tuple[UntypedJson, ...] = (5, None, [], {}, True, ["date"])
#: By what becomes of them; None is kept.
_SCHEMAS: Mapping[Reason | None, list[UntypedJson]] = {
    # Every instance would be endless, or nothing meets them for another reason.
    Reason.UNSATISFIABLE: [
        _holder(_ITSELF, required=["next"]),
        {**_LISTS, "$defs": {"a": _LISTS}},
        {"type": "string", "enum": [1]},
        {"type": "object", "minProperties": 3, "maxProperties": 2},
        _holder(_SHORT, required=["next"]),
    ],
    # Every metaschema wants a string: with a draft that is declared, or inferred.
    Reason.INVALID_SCHEMA: [
        {**head, **_format(name)}
        for name in _NO_NAMES
        for head in ({}, {"$schema": _DECLARED})
    ],
    None: [
        # Recursion that ends: it may be left off, be null, or be empty.
        _holder(_ITSELF),
        _holder({"anyOf": [_ITSELF, {"type": "null"}]}, required=["next"]),
        _holder({"type": "array", "items": _ITSELF}, required=["next"]),
        {"type": "object", "properties": {"a": _EITHER}, "required": ["a"]},
        # Names that no vocabulary has, and types of which a format says nothing.
        *map(
            _format, ("", "regex", "int32", "x" * 10_000, "\x1b[31m", "DATE", " date")
        ),
        *(
            _format("date-time", type_)
            for type_ in ("integer", "boolean", "null", "object", "array")
        ),
    ],
}


def test_endless_recursion_and_odd_formats_end_as_what_they_are(
    subtests: pytest.Subtests,
) -> None:
    """Proven unsatisfiable, invalid, or kept: none hangs."""
    wanted = {
        schemas.text(schema): reason
        for reason, several in _SCHEMAS.items()
        for schema in several
    }
    found = judged("clean", {text.decode(): text for text in wanted})
    for text, reason in wanted.items():
        with subtests.test(text=text[:200]):
            assert reason_of(found[text.decode()]) == reason
