"""The named rewrites in the order of trial: their triggers and claims.

A rewrite edits a marked schema (`curation.fit.shapes`) in 2020-12. Its name and its
sentence are those of the edit. What it claims to change of the values that are meant
holds wherever a schema is in a *monotone* position (`curation.fit.positions`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec.structs import replace

from curation.core.json_types import UntypedJson
from curation.fit import equal_edits as equal
from curation.fit import narrowing as narrow
from curation.fit import reshaping as shape
from curation.fit.edits import Claim, EditObject, Sites, at_sites


class Rewrite(msgspec.Struct, frozen=True, kw_only=True):
    """One named way to make a schema fit."""

    name: str
    #: What it does, in one sentence for people.
    sentence: str
    claim: Claim
    #: The checks whose findings ask for it.
    rules: frozenset[str]
    #: The keywords of those findings; all if there are none, or next to a reference.
    keywords: frozenset[str] = frozenset()
    apply: Callable[[UntypedJson, Sites], UntypedJson]
    #: Whether it gives answers another shape, which is right only where no other
    #: schema speaks of the same value.
    shapes: bool = False
    #: Whether it counts only where it is proven to change nothing.
    exact: bool = False
    #: Whether it may edit any location, and not only locations of findings.
    everywhere: bool = False

    def answers(self, rule: str, keyword: str) -> bool:
        """Return whether a finding asks for this rewrite."""
        any_keyword = not self.keywords or rule == "beside-reference"
        if rule == "other-keyword":
            # The canonical form has keywords of objects again, whatever asks for it.
            is_form = self.name == equal.normalised.__name__
            return not (is_form and keyword in _OF_OBJECTS) and self.answers(
                "keyword", keyword
            )
        return rule in self.rules and (any_keyword or keyword in self.keywords)


_OF_OBJECTS: Final = frozenset({"additionalProperties", "properties", "type"})
_EQUAL, _NARROWER, _WIDER = Claim.EQUAL, Claim.NARROWER, Claim.WIDER


def _whole(
    edit: Callable[[UntypedJson, Sites], UntypedJson],
    claim: Claim,
    rules: str,
    keywords: str = "",
    **flags: bool,
) -> Rewrite:
    """Return the rewrite of an edit of whole schemas."""
    return Rewrite(
        name=edit.__name__.replace("_", "-"),
        sentence=str(edit.__doc__).partition("\n")[0],
        claim=claim,
        apply=edit,
        rules=frozenset(rules.split()),
        keywords=frozenset(keywords.split()),
        **flags,
    )


def _each(
    edit: EditObject, claim: Claim, rules: str, keywords: str = "", **flags: bool
) -> Rewrite:
    """Return the rewrite of an edit of each schema object that a finding is about."""
    return _whole(at_sites(edit), claim, rules, keywords, **flags)


#: Keywords that change the meaning of others: without one, others may refuse more.
COUPLED: Final = frozenset(
    {
        *("properties", "patternProperties", "prefixItems", "items", "if", "contains"),
        *("minContains", "additionalItems", "type", "$ref", "$id", "$anchor"),
    }
)
#: Rewrites that count only where they are proven equal.
EXACT: Final = (
    _each(equal.one_of_as_any_of, _WIDER, "keyword", "oneOf", exact=True),
    _each(
        equal.implied_keyword_dropped,
        _WIDER,
        "keyword format beside-reference",
        exact=True,
    ),
)
#: The rewrite that the algebra makes (`curation.fit.rewriting`).
NORMALISED: Final = _whole(
    equal.normalised,
    _EQUAL,
    "keyword beside-reference nested-identifier remote-reference "
    "dangling-reference undeclared-property open-object",
    "allOf oneOf not if then else dependentRequired dependentSchemas dependencies "
    "unevaluatedProperties unevaluatedItems propertyNames $ref $id $anchor required "
    "$dynamicRef $dynamicAnchor $recursiveRef minProperties maxProperties description "
    "title properties type additionalProperties default definitions $defs",
)
#: Rewrites after which decoded answers are valid.
SAFE: Final = (
    _each(
        equal.idle_dropped,
        _EQUAL,
        "keyword optional-property open-object array-without-items tuple format "
        "pattern undeclared-property",
    ),
    _whole(equal.root_inlined, _EQUAL, "root-type root-keyword"),
    _each(equal.unknown_format_dropped, _EQUAL, "format"),
    _whole(
        equal.unnamed,
        _EQUAL,
        "keyword nested-identifier remote-reference",
        "$anchor $id",
        everywhere=True,
    ),
    _whole(equal.with_defs, _EQUAL, "beside-reference", "definitions", everywhere=True),
    _whole(equal.pointed, _EQUAL, "no-pointer", everywhere=True),
    _each(equal.const_as_enum, _EQUAL, "keyword untyped", "const type"),
    _each(equal.branch_by_type, _EQUAL, "type-list"),
    _each(equal.length_as_pattern, _EQUAL, "keyword", "minLength maxLength"),
    NORMALISED,
    _whole(equal.merged, _EQUAL, "keyword", "allOf"),
    _each(shape.distinct, _EQUAL, "keyword", "uniqueItems", shapes=True),
    _each(shape.shortened, _EQUAL, "keyword", "maxItems", shapes=True),
    _each(
        narrow.with_type,
        _NARROWER,
        "untyped open-object root-type array-without-items keyword",
        "type additionalProperties items patternProperties propertyNames",
    ),
    _each(
        shape.members,
        _NARROWER,
        "tuple array-without-items keyword",
        "prefixItems minItems items additionalItems",
        shapes=True,
    ),
    _each(
        shape.pairs,
        _NARROWER,
        "open-object keyword",
        "patternProperties propertyNames additionalProperties",
        shapes=True,
    ),
    _each(narrow.without_patterns, _NARROWER, "keyword", "patternProperties"),
    _each(narrow.closed, _NARROWER, "open-object undeclared-property"),
    _each(equal.with_members, _EQUAL, "array-without-items object-without-properties"),
    _whole(narrow.scalars, _NARROWER, "boolean-schema untyped"),
    _each(narrow.format_as_pattern, _NARROWER, "format"),
    _whole(
        narrow.cut_at_recursion, _NARROWER, "recursive-reference required-recursion"
    ),
    _whole(narrow.optional_dropped, _NARROWER, "optional-properties", everywhere=True),
    _whole(narrow.cut_at_depth, _NARROWER, "depth", everywhere=True),
    _whole(shape.nullable, _NARROWER, "optional-property", shapes=True),
    _each(narrow.emptied, _NARROWER, "open-object"),
    _whole(shape.wrapped, _EQUAL, "root-type root-keyword", shapes=True),
)
#: Rewrites after which answers have to be validated.
UNSAFE: Final = (
    replace(EXACT[0], exact=False),
    _each(
        shape.dropped,
        _WIDER,
        "keyword root-keyword format pattern enum-type beside-reference "
        "tuple boolean-schema",
    ),
)
