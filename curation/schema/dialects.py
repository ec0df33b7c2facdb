"""Which draft is this? The dialects, as data, and what each keyword is in them.

Five dialects are in the benchmark, draft-04 to 2020-12; draft-03 is known only
so that it can be upgraded. Sources: the core and validation specifications of
each draft at json-schema.org/specification.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Shape(Enum):
    """What an applicator's value holds."""

    SCHEMA = "one schema"
    SCHEMAS = "an array of schemas"
    MAP = "an object whose values are schemas"
    EITHER = "one schema or an array of schemas"
    DEPENDENCIES = "an object whose values are schemas or arrays of names"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One draft of JSON Schema, as data."""

    name: str
    #: The value of `$schema` that declares it.
    uri: str
    #: Position in time: a larger number is a newer draft.
    order: int
    #: Keyword to the shape of what it applies.
    applicators: Mapping[str, Shape]
    #: Keywords that assert something of the instance, applicators aside.
    assertions: frozenset[str]
    #: Identifiers and references.
    core: frozenset[str]
    #: Those of `core` that give a schema a plain name; up to draft-07 an identifier
    #: that is a mere fragment does.
    anchor_keywords: tuple[str, ...]
    #: Those of `core` that refer to another schema.
    reference_keywords: tuple[str, ...]
    #: `id` in draft-04, `$id` later.
    id_keyword: str
    #: Where bundled definitions belong.
    definitions_keyword: str
    #: Up to draft-07 a `$ref` hides its siblings (draft-07 core, section 8.3).
    ref_hides_siblings: bool

    @property
    def effective(self) -> frozenset[str]:
        """Keywords that do something here, annotations and `format` aside."""
        return frozenset(self.applicators) | self.assertions | self.core


#: Keywords that only annotate, in whichever draft knows them; `format` asserts
#: only by choice and is left to the validator.
ANNOTATIONS = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "$comment",
        "deprecated",
        "readOnly",
        "writeOnly",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "format",
        "$schema",
    }
)
#: Containers of definitions: they apply nothing by themselves.
CONTAINERS = frozenset({"definitions", "$defs"})

_S = Shape
_COMMON = {
    "properties": _S.MAP,
    "patternProperties": _S.MAP,
    "additionalProperties": _S.SCHEMA,
    "allOf": _S.SCHEMAS,
    "anyOf": _S.SCHEMAS,
    "oneOf": _S.SCHEMAS,
    "not": _S.SCHEMA,
    "definitions": _S.MAP,
}
_OLD_ARRAYS = {"items": _S.EITHER, "additionalItems": _S.SCHEMA}
_DRAFT_06 = {"contains": _S.SCHEMA, "propertyNames": _S.SCHEMA}
_DRAFT_07 = {"if": _S.SCHEMA, "then": _S.SCHEMA, "else": _S.SCHEMA}
_DRAFT_2019 = {
    "$defs": _S.MAP,
    "dependentSchemas": _S.MAP,
    "unevaluatedItems": _S.SCHEMA,
    "unevaluatedProperties": _S.SCHEMA,
    "contentSchema": _S.SCHEMA,
}
_DEPENDENCIES = {"dependencies": _S.DEPENDENCIES}
_ASSERTIONS = frozenset(
    {
        "type",
        "enum",
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "maxProperties",
        "minProperties",
        "required",
    }
)
_ASSERTIONS_2019 = _ASSERTIONS | {
    "const",
    "dependentRequired",
    "minContains",
    "maxContains",
}

DRAFT_03 = Dialect(
    name="draft-03",
    uri="http://json-schema.org/draft-03/schema#",
    order=3,
    applicators={
        "properties": _S.MAP,
        "patternProperties": _S.MAP,
        "additionalProperties": _S.SCHEMA,
        **_OLD_ARRAYS,
        **_DEPENDENCIES,
        "extends": _S.EITHER,
        "type": _S.EITHER,
        "disallow": _S.EITHER,
        "definitions": _S.MAP,
    },
    assertions=(_ASSERTIONS - {"multipleOf", "maxProperties", "minProperties"})
    | {"divisibleBy", "disallow"},
    core=frozenset({"id", "$ref"}),
    anchor_keywords=(),
    reference_keywords=("$ref",),
    id_keyword="id",
    definitions_keyword="definitions",
    ref_hides_siblings=True,
)
DRAFT_04 = Dialect(
    name="draft-04",
    uri="http://json-schema.org/draft-04/schema#",
    order=4,
    applicators={**_COMMON, **_OLD_ARRAYS, **_DEPENDENCIES},
    assertions=_ASSERTIONS,
    core=frozenset({"id", "$ref"}),
    anchor_keywords=(),
    reference_keywords=("$ref",),
    id_keyword="id",
    definitions_keyword="definitions",
    ref_hides_siblings=True,
)
DRAFT_06 = Dialect(
    name="draft-06",
    uri="http://json-schema.org/draft-06/schema#",
    order=6,
    applicators={**_COMMON, **_OLD_ARRAYS, **_DEPENDENCIES, **_DRAFT_06},
    assertions=_ASSERTIONS | {"const"},
    core=frozenset({"$id", "$ref"}),
    anchor_keywords=(),
    reference_keywords=("$ref",),
    id_keyword="$id",
    definitions_keyword="definitions",
    ref_hides_siblings=True,
)
DRAFT_07 = Dialect(
    name="draft-07",
    uri="http://json-schema.org/draft-07/schema#",
    order=7,
    applicators={**DRAFT_06.applicators, **_DRAFT_07},
    assertions=_ASSERTIONS | {"const"},
    core=frozenset({"$id", "$ref"}),
    anchor_keywords=(),
    reference_keywords=("$ref",),
    id_keyword="$id",
    definitions_keyword="definitions",
    ref_hides_siblings=True,
)
DRAFT_2019_09 = Dialect(
    name="2019-09",
    uri="https://json-schema.org/draft/2019-09/schema",
    order=19,
    applicators={**_COMMON, **_OLD_ARRAYS, **_DRAFT_06, **_DRAFT_07, **_DRAFT_2019},
    assertions=_ASSERTIONS_2019,
    core=frozenset(
        {"$id", "$ref", "$anchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary"}
    ),
    anchor_keywords=("$anchor",),
    reference_keywords=("$ref", "$recursiveRef"),
    id_keyword="$id",
    definitions_keyword="$defs",
    ref_hides_siblings=False,
)
DRAFT_2020_12 = Dialect(
    name="2020-12",
    uri="https://json-schema.org/draft/2020-12/schema",
    order=20,
    applicators={
        **_COMMON,
        "items": _S.SCHEMA,
        "prefixItems": _S.SCHEMAS,
        **_DRAFT_06,
        **_DRAFT_07,
        **_DRAFT_2019,
    },
    assertions=_ASSERTIONS_2019,
    core=frozenset(
        {"$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary"}
    ),
    anchor_keywords=("$anchor", "$dynamicAnchor"),
    reference_keywords=("$ref", "$dynamicRef"),
    id_keyword="$id",
    definitions_keyword="$defs",
    ref_hides_siblings=False,
)

#: Oldest first. The dialects that a record of the benchmark can have.
DIALECTS = (DRAFT_04, DRAFT_06, DRAFT_07, DRAFT_2019_09, DRAFT_2020_12)
BY_NAME = {each.name: each for each in (DRAFT_03, *DIALECTS)}
#: Every draft at once, for what must look at a schema before its dialect is known.
#: Where the drafts differ in a keyword's shape, the wider one stands here.
ANY_DIALECT = Dialect(
    name="any",
    uri="",
    order=0,
    applicators={
        **DRAFT_2020_12.applicators,
        **DRAFT_07.applicators,
        **DRAFT_03.applicators,
    },
    assertions=frozenset[str]().union(*(each.assertions for each in BY_NAME.values())),
    core=frozenset[str]().union(*(each.core for each in BY_NAME.values())),
    anchor_keywords=("$anchor", "$dynamicAnchor"),
    reference_keywords=("$ref", "$dynamicRef", "$recursiveRef"),
    id_keyword="$id",
    definitions_keyword="definitions",
    ref_hides_siblings=True,
)
#: The keywords that refer to another schema, in whichever draft.
REFERENCE_KEYWORDS = ANY_DIALECT.reference_keywords
#: Every word that is a keyword in some draft, annotations included.
KNOWN_WORDS = (
    frozenset[str]().union(*(each.effective for each in BY_NAME.values()))
    | ANNOTATIONS
    | CONTAINERS
)

_URI = re.compile(
    r"https?://(?:www\.)?json-schema\.org/draft[-/]0*(?P<draft>[\w-]+?)/schema/?#?"
)


def declared(uri: object) -> Dialect | None:
    """Return the dialect that a `$schema` value names exactly, draft-03 included.

    http and https, and a trailing empty fragment, make no difference here;
    everything else is for the rules to repair.
    """
    if not isinstance(uri, str):
        return None
    found = _URI.fullmatch(uri)
    if not found:
        return None
    draft = found["draft"]
    name = draft if "-" in draft else f"draft-0{draft}"
    dialect = BY_NAME.get(name)
    separator = (
        "/draft/" if dialect and dialect.order >= DRAFT_2019_09.order else "/draft-"
    )
    return dialect if separator in uri else None
