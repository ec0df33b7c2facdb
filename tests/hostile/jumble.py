"""Keywords where they do not belong: each with every kind of value, or at random."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson

_WORDS = (
    "$schema", "$id", "id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor",
    "$recursiveRef", "$recursiveAnchor", "$vocabulary", "$comment", "$defs",
    "definitions", "type", "enum", "const", "properties", "patternProperties",
    "additionalProperties", "propertyNames", "required", "dependencies",
    "dependentSchemas", "dependentRequired", "minProperties", "maxProperties",
    "items", "prefixItems", "additionalItems", "unevaluatedItems",
    "unevaluatedProperties", "contains", "minContains", "maxContains", "minItems",
    "maxItems", "uniqueItems", "allOf", "anyOf", "oneOf", "not", "if", "then",
    "else", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "divisibleBy", "minLength", "maxLength", "pattern", "format",
    "title", "description", "default", "examples", "extends", "disallow",
    "optional", "readOnly", "contentEncoding", "contentMediaType", "contentSchema",
    "_format", "_uniqueItems", "_id", "_$id", "self", "${x}",
)  # fmt: skip
_VALUES: tuple[UntypedJson, ...] = (
    None, True, False, 0, -1, 1.5, "", "#", "a", "object", "array", [], [[]], [{}],
    ["a", "a"], [1, "1"], {}, {"a": 1}, {"a": {}}, {"a": []}, {"a": ["b"]},
    {"type": "string"}, {"$ref": "#"}, [{"$ref": "#/properties/a"}],
)  # fmt: skip


def misplaced() -> Iterator[tuple[str, UntypedJson]]:
    """Yield every keyword with values of every kind, at the root and inside."""
    for word in _WORDS:
        for number, value in enumerate(_VALUES):
            yield f"{word}={number}", {word: value}
            yield (
                f"{word}={number}-inside",
                {
                    "type": "object",
                    "properties": {"a": {word: value}, "b": {"type": "null"}},
                },
            )


def _random_value(source: random.Random, levels: int) -> UntypedJson:
    if levels == 0 or source.random() < 0.3:
        return source.choice(_VALUES)
    if source.random() < 0.25:
        return [_random_value(source, levels - 1) for _ in range(source.randrange(3))]
    return {
        source.choice((*_WORDS, "a", "b")): _random_value(source, levels - 1)
        for _ in range(source.randrange(1, 5))
    }
