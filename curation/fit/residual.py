"""The constraints of a schema that a target will not hold, as a schema and in words.

The rest is what decoded answers are validated with afterwards: a value that the sent
schema and the rest accept is valid by the meaning. It holds the keywords that were
dropped or are ignored, in their position, and nothing else; for a schema of which it
cannot be expressed alone (in branches of `anyOf` and the like) it has the whole branch,
and if there are references the whole schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final, TypeAlias

from curation.fit.shapes import SHAPE, derive_shape
from curation.json.pointer import Tokens, pointer
from curation.references.schema import Schema
from curation.schema.keywords import CONTAINERS
from curation.schema.subschemas import children, edited, walk, without
from curation.system.words import shortened

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.fit.rewriting import Fit

_Object: TypeAlias = "dict[str, UntypedJson]"
#: Applicators through which a keyword can be expressed by itself.
_THROUGH: Final = frozenset({"properties", "items", "allOf", "$ref", *CONTAINERS})
_CONTAINS: Final = ("contains", "minContains", "maxContains")
#: Without these, the meaning of others would change.
_TOGETHER: Final = (
    frozenset({"items", "prefixItems", "additionalItems", *_CONTAINS}),
    frozenset({"properties", "patternProperties", "additionalProperties"}),
    frozenset({"if", "then", "else"}),
)
_SHOWN: Final = 200


def lost_keywords(fit: Fit) -> dict[Tokens, frozenset[str]]:
    """Return the keywords that the target does not hold, by the schema object."""
    lost: dict[Tokens, set[str]] = {}
    for finding in fit.ignored:
        site = fit.shaped.source(finding.site)
        lost.setdefault(site, set()).add(finding.keyword)
    for location in walk(fit.shaped.marked, fit.shaped.dialect):
        dropped = derive_shape(location.schema).dropped
        if dropped:
            lost.setdefault(location.tokens, set()).update(dropped)
    return {tokens: frozenset(names) - {""} for tokens, names in lost.items()}


def whole(fit: Fit) -> UntypedJson:
    """Return the meaning, with the dropped keywords back in their place."""

    def restored(_tokens: Tokens, schema: UntypedJson) -> UntypedJson:
        if not isinstance(schema, dict) or SHAPE not in schema:
            return schema
        return {**without(schema, SHAPE), **derive_shape(schema).dropped}

    return edited(fit.shaped.marked, fit.shaped.dialect, restored)


def residual_schema(fit: Fit) -> UntypedJson:
    """Return the schema with which decoded answers are validated; true for nothing."""
    lost = lost_keywords(fit)
    if not lost:
        return True
    schema, dialect = whole(fit), fit.shaped.dialect
    document = Schema(schema, dialect)
    references = document.references
    # What is kept whole may refer to anything; where others than `$ref` lead depends on
    # the way to them.
    branching = dialect.applicators.keys() - _THROUGH
    branched = any(branching & {*tokens, *names} for tokens, names in lost.items())
    if references and (
        branched or any(reference.keyword != "$ref" for reference in references)
    ):
        return schema
    leading: dict[Tokens, list[Tokens]] = {}
    for reference in references:
        if (target := document.lookup(reference.text, reference.base)) is not None:
            leading.setdefault(target.tokens, []).append(reference.tokens)
    #: The schemas in which something is lost, and those that lead to them.
    above: set[Tokens] = set()
    pending = [*lost]
    while pending:
        tokens = pending.pop()
        places = {tokens[:length] for length in range(len(tokens) + 1)} - above
        above |= places
        pending += [reference for path in places for reference in leading.get(path, ())]
    return _part(schema, (), lost, above, document) or True


def _part(
    schema: UntypedJson,
    tokens: Tokens,
    lost: Mapping[Tokens, frozenset[str]],
    above: AbstractSet[Tokens],
    document: Schema,
) -> UntypedJson:
    """Return what of a schema is lost, or None if nothing is."""
    if not isinstance(schema, dict):
        return None
    names = set(lost.get(tokens, ()))
    residual: _Object = {name: schema[name] for name in schema if name == "$schema"}
    for path, child in children(schema, document.dialect):
        below = (*tokens, *path)
        # The schemas of a tuple are counted: none of them may be left out.
        is_tuple = path[0] == "items" and (len(path) > 1 or "prefixItems" in schema)
        if below in above and (path[0] not in _THROUGH or is_tuple):
            names.add(path[0])
        elif below in above or (path[0] in CONTAINERS and document.references):
            _put(residual, path, _part(child, below, lost, above, document) or {})
    for group in _TOGETHER:
        if names & group:
            names |= group
    if "$ref" in schema:
        names.add("$ref")
    residual.update({name: schema[name] for name in schema if name in names})
    return residual or None


def _put(residual: _Object, path: Tokens, part: UntypedJson) -> None:
    """Set the remainder of a part of a schema, below its keyword."""
    keyword, *inner = path
    if not inner:
        residual[keyword] = part
    elif keyword == "allOf":
        residual.setdefault(keyword, []).append(part)
    elif isinstance(residual.setdefault(keyword, {}), dict):
        residual[keyword][inner[0]] = part


def sentences(fit: Fit) -> Iterator[str]:
    """Yield the lost constraints in words, for a prompt.

    Example:
        >>> list(sentences(fit))
        ['/properties/tags: `uniqueItems` must be true']
    """
    lost = lost_keywords(fit)
    for location in walk(whole(fit), fit.shaped.dialect):
        for name in sorted(lost.get(location.tokens, ())):
            if name in location.keywords:
                text = shortened(json.dumps(location.keywords[name]), _SHOWN)
                where = pointer(location.tokens) or "the root"
                yield f"{where}: `{name}` must be {text}"
