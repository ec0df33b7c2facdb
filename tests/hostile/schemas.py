"""Schemas that were made to hurt: small texts with large or strange effects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import UntypedJson

DRAFT_04 = "http://json-schema.org/draft-04/schema#"
DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"


def _object(**properties: UntypedJson) -> UntypedJson:
    return {"type": "object", "properties": properties}


def _with(draft: str, **more: UntypedJson) -> UntypedJson:
    return {"$schema": draft, "type": "object", **more}


def _chain(keyword: str, levels: int, width: int) -> UntypedJson:
    """Return definitions of which each applies the next so many times."""
    definitions: UntypedJson = {
        f"d{level}": {keyword: [{"$ref": f"#/$defs/d{level + 1}"}] * width}
        for level in range(levels)
    }
    definitions[f"d{levels}"] = {"type": "string", "minLength": 3}
    return {
        "$schema": DRAFT_2020_12,
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/d0"}},
        "$defs": definitions,
    }


def _nested(keyword: str, levels: int) -> UntypedJson:
    schema: UntypedJson = {"type": "string"}
    for _ in range(levels):
        inner: UntypedJson = {"a": schema} if keyword == "properties" else schema
        schema = {keyword: [inner] if keyword.endswith("Of") else inner}
    return {"type": "object", "properties": {"a": schema}}


def _identified(host: str, levels: int) -> UntypedJson:
    schema: UntypedJson = {"type": "string"}
    for level in range(levels):
        schema = {
            "$id": f"http://{host}/{level}/",
            "properties": {"a": schema, "b": {"$ref": "#/properties/a"}},
        }
    return schema


def identifiers_inside_identifiers() -> UntypedJson:
    """Return a schema of 70 kB that takes jsonschema-rs half a minute to build."""
    inner = {host: _identified(host, 120) for host in "abcdefgh"}
    return {"$schema": DRAFT_07, "type": "object", "properties": inner}


_SCHEMA_URIS: tuple[UntypedJson, ...] = (
    7, None, True, [], {}, "", "#", " ", "\0", "http://", "http://[", "//", "urn:",
    "draft-07", "http://json-schema.org/draft-99/schema#",
    "http://json-schema.org/draft-07/schema#/definitions/a",
    "https://json-schema.org/draft-07/schema",
    "HTTP://JSON-SCHEMA.ORG/draft-07/schema#", "javascript:alert(1)",
    "https://example.com/" + "x" * 10_000,
)  # fmt: skip
#: F20: what `$schema` can be besides a draft's URI.
DIALECTS: Mapping[str, UntypedJson] = {
    f"schema-uri-{number}": {"$schema": uri, **_object(a={"type": "string"})}
    for number, uri in enumerate(_SCHEMA_URIS)
} | {
    "mixed-drafts": {
        "$schema": DRAFT_04,
        **_object(
            a={"$schema": DRAFT_07, "const": 1},
            b={"$schema": DRAFT_2020_12, "prefixItems": [{}]},
            c={"$schema": 5},
        ),
    }
}

#: F21, F22, F25: references and combinations without end.
CYCLES: Mapping[str, UntypedJson] = {
    "itself": {"$ref": "#"},
    "itself-below": {"type": "object", "allOf": [{"$ref": "#"}]},
    "two-that-chase": {
        "$ref": "#/definitions/a",
        "definitions": {
            "a": {"$ref": "#/definitions/b"},
            "b": {"$ref": "#/definitions/a"},
        },
    },
    "a-tree": {
        **_object(children={"type": "array", "items": {"$ref": "#"}}),
        "$schema": DRAFT_07,
    },
    "no-instance": {**_object(a={"$ref": "#"}), "required": ["a"], "$schema": DRAFT_07},
    "dynamic": {
        "$schema": DRAFT_2020_12,
        "$dynamicAnchor": "n",
        **_object(a={"$dynamicRef": "#n"}, b={"$dynamicRef": "#gone"}),
    },
    "recursive": {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$recursiveAnchor": True,
        **_object(a={"$recursiveRef": "#"}, b={"$recursiveRef": "#/x"}),
    },
    "long-chain": _chain("allOf", 2_000, 1),
    "billion-anyOf": _chain("anyOf", 60, 3),
    "billion-allOf": _chain("allOf", 60, 3),
    "billion-oneOf": _chain("oneOf", 60, 3),
    "wide-anyOf": _object(a={"anyOf": [{"const": n} for n in range(20_000)]}),
    **{
        f"deep-{keyword}": _nested(keyword, 80)
        for keyword in ("not", "anyOf", "properties", "items", "contains", "if")
    },
}

_REFS: tuple[UntypedJson, ...] = (
    "#/definitions/a%20b", "#/definitions/a b", "#/definitions/a~1b",
    "#/definitions/m~0n", "#/definitions/m~2n", "#/definitions/", "#/definitions/%",
    "#/definitions/%25", "#/definitions/%FF", "#/definitions/%zz",
    "#/definitions/0/anyOf/0", "#/definitions/0/anyOf/00", "#/definitions/0/anyOf/-1",
    "#/definitions/0/anyOf/-", "#/definitions/0/anyOf/99999999999999999999",
    "#/definitions/0/anyOf/\u0661", "#/properties/a", "#//", "##", "#gone", "", "\\",
    "\0", "http://[", "http://[::1", "http://a:b@c:d/", "\ufffe#\U0001f600", 5, None,
    [], {"$ref": "#"},
)  # fmt: skip
#: F24: pointers, anchors and identifiers that are wrong or only look so.
POINTERS: Mapping[str, UntypedJson] = {
    f"pointer-{number}": _with(
        DRAFT_07,
        properties={"a": {"$ref": ref}},
        definitions={
            "a b": {},
            "a/b": {},
            "m~n": {},
            "": {},
            "%": {},
            "0": {"anyOf": [{}, {}]},
        },
    )
    for number, ref in enumerate(_REFS)
} | {
    "identifiers": _with(
        DRAFT_07,
        **{"$id": "http://[", "properties": {"a": {"$id": 5}, "b": {"$id": "#"}}},
    ),
    "identifier-shadows": _with(
        DRAFT_07,
        **{
            "$id": "http://example.com/a",
            "definitions": {"x": {"$id": "http://example.com/a", "type": "string"}},
            "properties": {"a": {"$ref": "#/definitions/x"}},
        },
    ),
    "anchors": {
        "$schema": DRAFT_2020_12,
        **_object(a={"$ref": "#x"}, b={"$anchor": "x"}, c={"$anchor": "x"}),
    },
    "property-called-ref": _object(**{"$ref": {"type": "string"}, "$id": {}}),
    "siblings": _with(DRAFT_07, properties={"a": {"$ref": "#", "minimum": 3}}),
}

HOSTILE_NAMES = (
    "__proto__", "constructor", "__class__", "__init__", "", " ", "'", '"', "'''",
    '"""', "\\", "a\nb", "a\r\nb", "\0", "\x1b[2J\x1b]0;title\x07", "\u202egnp.exe",
    "\u2028", "\ufeff", "\U0001f600", "../../etc/passwd", "a/b~c~0~1", "{}",
    "{0.__class__}", "%s%n", "$(reboot)", "`reboot`", "'; import os; os._exit(9) #",
    '"); import os; os._exit(9) #', "</script><script>alert(1)</script>",
    "=cmd|' /C calc'!A0", "x" * 10_000,
)  # fmt: skip
#: F29: names of members that break out of careless code.
NAMES: Mapping[str, UntypedJson] = {
    f"name-{number}": {
        "$schema": DRAFT_07,
        "type": "object",
        "title": name,
        "description": name,
        "properties": {name: {"type": "string", "enum": [name], "default": name}},
        "required": [name],
        "dependencies": {name: [name]},
        "definitions": {name: {"const": {name: name}}},
        name + "-unknown": {name: name},
    }
    for number, name in enumerate(HOSTILE_NAMES)
}

#: F18 once more: sizes and numbers at which naive code is quadratic or fails.
SIZES: Mapping[str, UntypedJson] = {
    "enum-of-objects": _object(a={"enum": [{"n": n} for n in range(20_000)]}),
    "enum-of-texts": _object(a={"enum": [str(n) for n in range(50_000)]}),
    "required": {**_object(a={}), "required": [str(n) for n in range(20_000)]},
    "properties": _object(**{f"p{n}": {"type": "string"} for n in range(10_000)}),
    "definitions": {
        "$schema": DRAFT_07,
        "type": "object",
        "properties": {f"p{n}": {"$ref": f"#/definitions/d{n}"} for n in range(5_000)},
        "definitions": {
            f"d{n}": {"allOf": [{"$ref": f"#/definitions/d{n + 1}"}]}
            for n in range(5_000)
        }
        | {"d5000": {"type": "null"}},
    },
    "draft-03": {
        "$schema": "http://json-schema.org/draft-03/schema#",
        **_object(
            **{f"p{n}": {"type": "string", "required": True} for n in range(10_000)}
        ),
    },
    "library": {"definitions": {f"d{n}": {"type": "null"} for n in range(5_000)}},
    "numbers": _object(
        a={"multipleOf": 5e-324, "maximum": 10**4000, "minimum": -(10**4000)},
        b={"minLength": 10**30, "maxLength": 1.7e308, "maxItems": 2**64},
        c={"enum": [10**300, -(10**300), 1e300, 0.1, 0]},
        d={"multipleOf": 0},
        e={"maxLength": -1, "minItems": 1.5},
    ),
    "numbers-that-are-legal": _object(
        a={"type": "integer", "maximum": 10**4000, "minimum": -(10**4000)},
        b={"type": "number", "multipleOf": 5e-324, "maximum": 1.7e308},
        c={"enum": [10**300, 1e300, 2**64, 0.1]},
    ),
    "long-text": {**_object(a={"type": "string"}), "description": "x" * 2_000_000},
}

_PATTERNS: tuple[str, ...] = (
    "^(a+)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y",
    "((((a{0,1000}){0,1000}){0,1000}){0,1000}){0,1000}", "a{4294967296}",
    "a{99999999999999999999}", "a{3,1}", "(" * 250 + "a" + ")" * 250,
    "(" * 50_000 + "a" + ")" * 50_000, "(?=" * 5_000 + ")" * 5_000, "[" * 10_000,
    "|" * 100_000, "a?" * 5_000 + "a" * 5_000, "[\\u0000-\\u{10FFFF}]{1000}" * 10,
    "(?<a>x)\\k<a>", "(?<a>x)(?<a>y)", "(?P<a>x)", "(?<=a)b(?<!c)d", "x\\Z", "\\Ax\\z",
    "(?i)x", "[[:alpha:]]+", "\\p{L}\\P{Script=Greek}", "\\p{Nothing}", "\\p{^L}",
    "\\h\\_\\-\\@", "[a-\\d]", "[z-a]", "{", "}", "]", "a{,3}", "a**", "*", "+", "(",
    ")", "[", "\\", "\\u{110000}", "\\ud800", "\\c", "\\x1", "\\1\\2\\99", "\0", "\n",
    "\u2028", "", "$^", "/^a$/i",
)  # fmt: skip
#: F26, F27: regular expressions that backtrack, explode or are none.
PATTERNS: Mapping[str, UntypedJson] = {
    f"pattern-{number}": {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": pattern}},
        "patternProperties": {pattern: {"type": "string"}},
    }
    for number, pattern in enumerate(_PATTERNS)
} | {
    "pattern-not-text": {
        "type": "object",
        "properties": {"a": {"pattern": 5}, "b": {"pattern": ["a"]}},
    }
}

#: Every hostile schema that is small.
NAMED: Mapping[str, UntypedJson] = {
    **DIALECTS, **CYCLES, **POINTERS, **PATTERNS, **NAMES
}  # fmt: skip


def text(schema: UntypedJson) -> bytes:
    """Return a schema's JSON text."""
    return json.dumps(schema).encode()


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
