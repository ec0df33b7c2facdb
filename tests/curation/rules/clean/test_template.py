"""Templates in rule set `clean`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Reason, Rejected
from curation.rules.clean import template
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"${key}": 1}, "/${key}"),
        ({"properties": {"${name}": {"type": "string"}}}, "/properties/${name}"),
        ({"patternProperties": {"^${x}$": {}}}, "/patternProperties/^${x}$"),
        ({"x-settings": {"a": [{"${b}": 1}]}}, "/x-settings/a/0/${b}"),
        ({"$ref": "${base}/a.json"}, "/$ref"),
        ({"$id": "${base}/a.json"}, "/$id"),
        ({"id": "${base}/a.json"}, "/id"),
        ({"$schema": "${draft}"}, "/$schema"),
        ({"properties": {"a": {"type": "${t}"}}}, "/properties/a/type"),
        ({"type": ["string", "${t}"]}, "/type"),
        ({"enum": ["a", "${e}"]}, "/enum/1"),
        ({"enum": [{"deep": ["${e}"]}]}, "/enum/0/deep/0"),
        ({"const": {"${k}": 1}}, "/const/${k}"),
        ({"pattern": "^${x}$"}, "/pattern"),
        ({"items": "${schema}"}, "/items"),
        ({"properties": "${all}"}, "/properties"),
        ({"properties": {"a": "${schema}"}}, "/properties/a"),
        ({"allOf": [{}, "${schema}"]}, "/allOf"),
        ({"dependencies": {"a": ["${name}"]}}, "/dependencies/a"),
        ({"required": ["${name}"]}, "/required"),
        ({"minLength": "${n}"}, "/minLength"),
    ],
)
def test_a_mark_that_decides_the_meaning_drops_the_file(
    schema: UntypedJson, place: str
) -> None:
    """A key, a keyword's value or a schema with `${` is a template, and named."""
    result = template.apply(document(schema), CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.TEMPLATE
    assert place in result.detail


@pytest.mark.parametrize(
    "schema",
    [
        {"description": "use ${name}", "title": "${t}", "$comment": "${c}"},
        {"default": "${x}", "examples": [{"${k}": "${v}"}], "example": "${y}"},
        {"default": {"${key}": ["${value}"]}},
        {"properties": {"pattern": {"description": "${x}"}}},
        {"properties": {"default": {"default": "${x}"}}},
        {"x-note": "${x}", "links": [{"href": "${base}/a"}]},
        {"pattern": "^\\$\\{[a-z]+\\}$", "enum": ["$", "{"]},
    ],
)
def test_a_mark_in_text_is_text(schema: UntypedJson) -> None:
    """In annotations and in words that no draft knows `${` changes nothing."""
    given = document(schema)
    assert template.apply(given, CONTEXT) is given


def test_position_decides_what_a_keyword_is() -> None:
    """A property named `pattern` is no pattern, but its own type is a type."""
    named = {"properties": {"pattern": {"title": "${a}"}, "enum": {"default": "${b}"}}}
    assert template.apply(document(named), CONTEXT).schema == named  # type: ignore[union-attr]  # kept
    typed = {"properties": {"pattern": {"type": "${a}"}}}
    assert isinstance(template.apply(document(typed), CONTEXT), Rejected)
