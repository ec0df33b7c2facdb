"""The table of keywords: kind, drafts, type of the values that each is about.

Sources: the core and validation specifications of each draft at
json-schema.org/specification. `curation.schema.dialects` reads it draft by draft.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal, NamedTuple

#: Names of the drafts, oldest first.
DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07", "2019-09", "2020-12")
#: The JSON types of values that a keyword can be about; integers are numbers.
ValueType = Literal["array", "number", "object", "string"]


class Shape(Enum):
    """What an applicator's value holds."""

    SCHEMA = "one schema"
    SCHEMAS = "an array of schemas"
    MAP = "an object whose values are schemas"
    EITHER = "one schema or an array of schemas"
    DEPENDENCIES = "an object whose values are schemas or arrays of names"


class KeywordKind(Enum):
    """What a keyword does (JSON Schema core, section 7)."""

    #: Names the schema, or controls its reading: `$id`, `$vocabulary`.
    IDENTIFIER = "identifier"
    #: Gives the schema a plain name within its resource.
    ANCHOR = "anchor"
    #: Leads to another schema.
    REFERENCE = "reference"
    #: Holds schemas and applies none of them.
    DEFINITIONS = "definitions"
    #: Applies the schemas that it holds.
    APPLICATOR = "applicator"
    #: Can refuse an instance by itself.
    ASSERTION = "assertion"
    #: Refuses nothing; `format` does so only by choice of the validator.
    ANNOTATION = "annotation"


class Keyword(NamedTuple):
    """One keyword, with the drafts that give it one meaning.

    A keyword whose meaning changed has a row for each.
    """

    name: str
    kind: KeywordKind
    #: Values of every other type pass; None: it is about values of any type.
    value_type: ValueType | None = None
    #: What its value holds if it holds schemas.
    shape: Shape | None = None
    first: str = "draft-03"
    last: str = "2020-12"

    def is_known_in(self, draft: str) -> bool:
        """Return whether a draft gives the keyword this meaning."""
        position = DRAFTS.index(draft)
        return DRAFTS.index(self.first) <= position <= DRAFTS.index(self.last)


#: Keywords that bound a number, or how much a string, an array or an object holds.
BOUNDS = frozenset(
    {
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength"),
        *("maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    }
)
#: Keywords whose value is a number.
NUMBERS = BOUNDS | {"multipleOf", "divisibleBy", "minContains", "maxContains"}
_K = KeywordKind
_S = Shape
KEYWORDS = (
    Keyword("id", _K.IDENTIFIER, last="draft-04"),
    Keyword("$id", _K.IDENTIFIER, first="draft-06"),
    Keyword("$vocabulary", _K.IDENTIFIER, first="2019-09"),
    Keyword("$recursiveAnchor", _K.IDENTIFIER, first="2019-09", last="2019-09"),
    Keyword("$anchor", _K.ANCHOR, first="2019-09"),
    Keyword("$dynamicAnchor", _K.ANCHOR, first="2020-12"),
    Keyword("$ref", _K.REFERENCE),
    Keyword("$dynamicRef", _K.REFERENCE, first="2020-12"),
    Keyword("$recursiveRef", _K.REFERENCE, first="2019-09", last="2019-09"),
    Keyword("definitions", _K.DEFINITIONS, None, _S.MAP),
    Keyword("$defs", _K.DEFINITIONS, None, _S.MAP, first="2019-09"),
    # any value
    Keyword("allOf", _K.APPLICATOR, None, _S.SCHEMAS, first="draft-04"),
    Keyword("anyOf", _K.APPLICATOR, None, _S.SCHEMAS, first="draft-04"),
    Keyword("oneOf", _K.APPLICATOR, None, _S.SCHEMAS, first="draft-04"),
    Keyword("not", _K.APPLICATOR, None, _S.SCHEMA, first="draft-04"),
    Keyword("if", _K.APPLICATOR, None, _S.SCHEMA, first="draft-07"),
    Keyword("then", _K.APPLICATOR, None, _S.SCHEMA, first="draft-07"),
    Keyword("else", _K.APPLICATOR, None, _S.SCHEMA, first="draft-07"),
    Keyword("extends", _K.APPLICATOR, None, _S.EITHER, last="draft-03"),
    Keyword("disallow", _K.ASSERTION, None, _S.EITHER, last="draft-03"),
    Keyword("type", _K.ASSERTION, None, _S.EITHER, last="draft-03"),
    Keyword("type", _K.ASSERTION, first="draft-04"),
    Keyword("enum", _K.ASSERTION),
    Keyword("const", _K.ASSERTION, first="draft-06"),
    # numbers
    Keyword("minimum", _K.ASSERTION, "number"),
    Keyword("maximum", _K.ASSERTION, "number"),
    Keyword("exclusiveMinimum", _K.ASSERTION, "number"),
    Keyword("exclusiveMaximum", _K.ASSERTION, "number"),
    Keyword("divisibleBy", _K.ASSERTION, "number", last="draft-03"),
    Keyword("multipleOf", _K.ASSERTION, "number", first="draft-04"),
    # strings
    Keyword("minLength", _K.ASSERTION, "string"),
    Keyword("maxLength", _K.ASSERTION, "string"),
    Keyword("pattern", _K.ASSERTION, "string"),
    Keyword("format", _K.ANNOTATION, "string"),
    Keyword("contentEncoding", _K.ANNOTATION, "string", first="draft-07"),
    Keyword("contentMediaType", _K.ANNOTATION, "string", first="draft-07"),
    Keyword("contentSchema", _K.ANNOTATION, "string", _S.SCHEMA, first="2019-09"),
    # arrays
    Keyword("items", _K.APPLICATOR, "array", _S.EITHER, last="2019-09"),
    Keyword("items", _K.APPLICATOR, "array", _S.SCHEMA, first="2020-12"),
    Keyword("prefixItems", _K.APPLICATOR, "array", _S.SCHEMAS, first="2020-12"),
    Keyword("additionalItems", _K.APPLICATOR, "array", _S.SCHEMA, last="2019-09"),
    Keyword("unevaluatedItems", _K.APPLICATOR, "array", _S.SCHEMA, first="2019-09"),
    Keyword("contains", _K.APPLICATOR, "array", _S.SCHEMA, first="draft-06"),
    Keyword("minContains", _K.ASSERTION, "array", first="2019-09"),
    Keyword("maxContains", _K.ASSERTION, "array", first="2019-09"),
    Keyword("minItems", _K.ASSERTION, "array"),
    Keyword("maxItems", _K.ASSERTION, "array"),
    Keyword("uniqueItems", _K.ASSERTION, "array"),
    # objects
    Keyword("properties", _K.APPLICATOR, "object", _S.MAP),
    Keyword("patternProperties", _K.APPLICATOR, "object", _S.MAP),
    Keyword("additionalProperties", _K.APPLICATOR, "object", _S.SCHEMA),
    Keyword(
        "unevaluatedProperties", _K.APPLICATOR, "object", _S.SCHEMA, first="2019-09"
    ),
    Keyword("propertyNames", _K.APPLICATOR, "object", _S.SCHEMA, first="draft-06"),
    Keyword("dependencies", _K.APPLICATOR, "object", _S.DEPENDENCIES, last="draft-07"),
    Keyword("dependentSchemas", _K.APPLICATOR, "object", _S.MAP, first="2019-09"),
    Keyword("dependentRequired", _K.ASSERTION, "object", first="2019-09"),
    Keyword("required", _K.ASSERTION, "object"),
    Keyword("minProperties", _K.ASSERTION, "object", first="draft-04"),
    Keyword("maxProperties", _K.ASSERTION, "object", first="draft-04"),
    # for people and tools
    Keyword("$schema", _K.ANNOTATION),
    Keyword("title", _K.ANNOTATION),
    Keyword("description", _K.ANNOTATION),
    Keyword("default", _K.ANNOTATION),
    Keyword("examples", _K.ANNOTATION, first="draft-06"),
    Keyword("$comment", _K.ANNOTATION, first="draft-07"),
    Keyword("readOnly", _K.ANNOTATION, first="draft-07"),
    Keyword("writeOnly", _K.ANNOTATION, first="draft-07"),
    Keyword("deprecated", _K.ANNOTATION, first="2019-09"),
)
#: Every name that is a keyword in some draft, annotations included.
KNOWN_KEYWORDS = frozenset(keyword.name for keyword in KEYWORDS)
#: Each keyword about a single type, with that type.
TYPE_OF_KEYWORD: dict[str, ValueType] = {
    keyword.name: keyword.value_type
    for keyword in KEYWORDS
    if keyword.value_type is not None
}


def names_of_kind(*kinds: KeywordKind) -> frozenset[str]:
    """Return the keywords that are of one of these kinds in some draft."""
    return frozenset(keyword.name for keyword in KEYWORDS if keyword.kind in kinds)


#: Keywords that only annotate, in whichever draft knows them; `format` asserts
#: only by choice and is left to the validator.
ANNOTATIONS = names_of_kind(KeywordKind.ANNOTATION)
#: Containers of definitions: they apply nothing by themselves.
CONTAINERS = names_of_kind(KeywordKind.DEFINITIONS)
#: Applicators that judge the very instance that their schema judges.
IN_PLACE = frozenset(
    {
        *("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependencies"),
        "dependentSchemas",
    }
)
#: The keywords that refer to another schema, in whichever draft.
REFERENCE_KEYWORDS = tuple(
    keyword.name for keyword in KEYWORDS if keyword.kind is KeywordKind.REFERENCE
)
