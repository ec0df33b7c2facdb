"""Schemas that take part in a record, those validation enters, the types they accept.

A reference may lead into a member that no draft knows (`#/types/name`); a value
there is then a schema like any other, though no walk of the subschemas meets it.

To judge an instance by `{"$ref": "#"}` never ends (`endless`); recursion is fine where
an applicator moves on into the instance (`is_recursive`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from curation.core.json_types import Json
from curation.json.pointer import Tokens
from curation.json.values import remembered
from curation.references.schema import Schema, descend, references_in, to_schema
from curation.schema.dialects import ANY_DIALECT, Dialect
from curation.schema.keywords import (
    CONTAINERS,
    IN_PLACE,
    TYPE_OF_KEYWORD,
    KeywordKind,
    names_of_kind,
)
from curation.schema.subschemas import SchemaLocation, below, children
from curation.validation.metaschemas import is_valid


@remembered
def taking_part(schema: Json, dialect: Dialect) -> Sequence[SchemaLocation]:
    """Return every schema that is an object, each once.

    References that lead nowhere are passed over.
    """
    document = to_schema(schema, dialect)
    locations = [
        subschema for subschema in document.walk if isinstance(subschema.schema, dict)
    ]
    if not any_leaves_the_subschemas(schema, dialect):
        return locations
    by_path = {location.tokens: location for location in locations}
    references = [*document.references]
    for reference in references:
        target = document.lookup(reference.text, reference.base)
        if (
            target is not None
            and not target.is_subschema
            and target.tokens not in by_path
            and isinstance(target.schema, dict)
            and is_valid(target.schema, dialect)
        ):
            inside = below(target, dialect)
            for location in inside:
                if isinstance(location.schema, dict):
                    by_path.setdefault(location.tokens, location)
            references += references_in(inside, dialect)
    return list(by_path.values())


@remembered
def any_leaves_the_subschemas(schema: Json, dialect: Dialect) -> bool:
    """Return, quickly, whether a reference may lead outside the subschemas."""
    return any(
        leaves_the_subschemas(reference.value, dialect)
        for reference in to_schema(schema, dialect).references
    )


def leaves_the_subschemas(reference: Json, dialect: Dialect) -> bool:
    """Return whether a pointer is deeper than one member of one applicator."""
    if not isinstance(reference, str):
        return False
    pointer = reference.partition("#")[2]
    if not pointer.startswith("/"):
        return False
    container, _, remainder = pointer[1:].partition("/")
    return container not in dialect.applicators or "/" in remainder


def applied(document: Schema) -> dict[Tokens, SchemaLocation]:
    """Return the schemas that validation may enter, by location.

    A member of `definitions` is entered only through a reference, and nothing next to a
    `$ref` that hides it. Dangling references are skipped.
    """
    entered: dict[Tokens, SchemaLocation] = {}
    waiting = [document.root]
    while waiting:
        location = waiting.pop()
        if location.tokens not in entered:
            entered[location.tokens] = location
            waiting += (target for _, target in directly_applied(location, document))
    return entered


def referred(
    schema: Mapping[str, Json], base: str, document: Schema
) -> Iterator[SchemaLocation]:
    """Yield where the references of one schema may lead, under the base inside it."""
    for keyword in document.dialect.reference_keywords:
        text = schema.get(keyword)
        target = document.lookup(text, base) if isinstance(text, str) else None
        if target is not None:
            yield target
            yield from document.bearers(keyword, text, target)


def directly_applied(
    location: SchemaLocation, document: Schema
) -> Iterator[tuple[str, SchemaLocation]]:
    """Yield the schemas that one schema applies itself, by reference or inside it.

    Each comes with the keyword that holds it; a reference has the empty name.
    """
    dialect, keywords = document.dialect, location.keywords
    inside = document.inside(location)
    for target in referred(keywords, inside, document):
        yield "", target
    if dialect.ref_hides_siblings and "$ref" in keywords:
        return
    base = inside if location.is_subschema else location.base
    for tokens, schema in children(location.schema, dialect):
        if tokens[0] not in CONTAINERS:
            inner = location.tokens + tokens
            yield (
                tokens[0],
                SchemaLocation(
                    inner, schema, base, location.document, location.is_subschema
                ),
            )


def endless(document: Schema) -> Tokens | None:
    """Return a schema whose evaluation never ends, or None.

    The references of the document must all lead into itself. Loops that nothing
    reaches from the root are not counted.
    """
    locations: dict[Tokens, SchemaLocation] = {(): document.root}
    schemas = taking_part(document.value, document.dialect)
    for reference in references_in(schemas, document.dialect):
        target = document.lookup(reference.text, reference.base)
        bearers = document.bearers(reference.keyword, reference.value, target)
        for location in (target, *bearers):
            if location is not None:
                locations.setdefault(location.tokens, location)
    starts = list(locations)

    def following(tokens: Tokens, *, inside: bool = False) -> Iterator[Tokens]:
        """Yield schemas that judge the same instance next, or a part of it too."""
        location = locations[tokens]
        idle = () if "if" in location.keywords else ("then", "else")
        for keyword, inner in directly_applied(location, document):
            if keyword not in idle and (inside or not keyword or keyword in IN_PLACE):
                locations[inner.tokens] = inner
                yield inner.tokens

    if _on_cycle(starts, following) is None:
        return None
    reached: set[Tokens] = set()
    waiting: list[Tokens] = [()]
    while waiting:
        tokens = waiting.pop()
        if tokens not in reached:
            reached.add(tokens)
            waiting += following(tokens, inside=True)
    return _on_cycle([tokens for tokens in starts if tokens in reached], following)


def _on_cycle(
    starts: Iterable[Tokens], follow: Callable[[Tokens], Iterator[Tokens]]
) -> Tokens | None:
    """Return a schema on a circle, or None if each way from these starts ends."""
    done: set[Tokens] = set()
    for start in starts:
        if start in done:
            continue
        path: dict[Tokens, None] = {start: None}
        stack = [follow(start)]
        while stack:
            following = next(stack[-1], None)
            if following is None:
                stack.pop()
                done.add(path.popitem()[0])
            elif following in path:
                return following
            elif following not in done:
                path[following] = None
                stack.append(follow(following))
    return None


def is_recursive(schema: Json, dialect: Dialect) -> bool:
    """Return whether a local reference leads, by way of others, back above itself.

    References to other documents are not followed.
    """
    uri = ""
    if dialect is ANY_DIALECT and isinstance(schema, dict) and "$id" not in schema:
        # The URI by which a schema of draft-04 names itself.
        named = schema.get("id")
        uri = named.partition("#")[0] if isinstance(named, str) else ""
    document = to_schema(schema, dialect, uri)
    resolved = [
        (reference.tokens, target.tokens)
        for reference in document.references
        if isinstance(reference.value, str)
        and (target := document.lookup(reference.value, reference.base))
    ]
    follows: dict[Tokens, set[Tokens]] = {target: set() for _, target in resolved}
    for tokens, end in resolved:
        for length in range(len(tokens) + 1):
            if tokens[:length] in follows:
                follows[tokens[:length]].add(end)
    return _on_cycle(follows, lambda target: iter(follows[target])) is not None


#: The types of JSON values; integers are numbers.
ALL_TYPES = frozenset({"array", "boolean", "null", "number", "object", "string"})
_NONE = frozenset[str]()
#: Keywords that refuse nothing by themselves; `if` looks at its branches.
_PASSIVE = names_of_kind(
    KeywordKind.IDENTIFIER, KeywordKind.ANCHOR, KeywordKind.DEFINITIONS
) | {"then", "else", "$ref"}


#: Base and reference to the types that the target accepts; none while that is open.
_Known = dict[tuple[str, str], frozenset[str]]


def accepted_types(document: Schema) -> frozenset[str]:
    """Return the types of which a schema surely accepts every value.

    References are followed inside the document alone.

    Raises:
        RecursionError: schemas nest too deeply.

    Example:
        >>> schema = {"anyOf": [{"required": ["a"]}, {"minLength": 1}]}
        >>> accepted_types(Schema(schema, DRAFT_07)) == ALL_TYPES
        True
    """
    return _accepted(document.root, document, {})


def _accepted(
    location: SchemaLocation, document: Schema, memo: _Known
) -> frozenset[str]:
    schema: Json = location.schema
    if not isinstance(schema, dict):
        return ALL_TYPES if schema is True else _NONE
    accepted = ALL_TYPES
    if "$ref" in schema:
        reference: Json = schema["$ref"]
        key = document.inside(location), str(reference)
        if key not in memo:
            memo[key] = _NONE
            is_text = isinstance(reference, str)
            target = document.lookup(key[1], key[0]) if is_text else None
            if target is not None:
                memo[key] = _accepted(target, document, memo)
        accepted = memo[key]
        if document.dialect.ref_hides_siblings:
            return accepted
    for keyword in (schema.keys() & document.dialect.effective) - _PASSIVE:
        if not accepted:
            break
        accepted &= _accepted_by_keyword(keyword, location, document, memo)
    return accepted


def _accepted_by_keyword(
    keyword: str, location: SchemaLocation, document: Schema, memo: _Known
) -> frozenset[str]:
    schema = location.keywords
    value = schema[keyword]
    if keyword in TYPE_OF_KEYWORD:
        return ALL_TYPES - {TYPE_OF_KEYWORD[keyword]}
    if keyword == "type" and isinstance(value, str | list):
        names = [value] if isinstance(value, str) else value
        return ALL_TYPES.intersection(name for name in names if isinstance(name, str))
    branches: list[Tokens] = []
    if keyword == "if":
        branches = [(name,) for name in ("then", "else") if name in schema]
    elif isinstance(value, list) and (
        keyword in ("allOf", "anyOf") or (keyword == "oneOf" and len(value) == 1)
    ):
        branches = [(keyword, str(index)) for index in range(len(value))]
    else:
        # A `type` that is not a name asserts nothing known.
        return ALL_TYPES if keyword == "type" else _NONE
    parts = [
        _accepted(descend(location, tokens, document.dialect), document, memo)
        for tokens in branches
    ]
    if keyword in ("if", "allOf"):
        return ALL_TYPES.intersection(*parts)
    return _NONE.union(*parts)
