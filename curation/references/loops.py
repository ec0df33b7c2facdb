"""Reference loops.

To judge an instance by `{"$ref": "#"}` never ends (`endless`); recursion is fine where
an applicator moves on into the instance (`is_recursive`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from curation.references.reachable import directly_applied, taking_part
from curation.references.schema import Schema, references_in, schema_of
from curation.schema.dialects import ANY_DIALECT, Dialect
from curation.schema.keywords import IN_PLACE

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.schema.subschemas import SchemaLocation


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
    resolved = list(_resolved(schema, dialect))
    targets = {target for _, target in resolved}
    follows: dict[Tokens, set[Tokens]] = {target: set() for target in targets}
    for tokens, target in resolved:
        for length in range(len(tokens) + 1):
            if tokens[:length] in targets:
                follows[tokens[:length]].add(target)
    return _on_cycle(follows, lambda target: iter(follows[target])) is not None


def _resolved(schema: Json, dialect: Dialect) -> Iterator[tuple[Tokens, Tokens]]:
    uri = _own_uri(schema) if dialect is ANY_DIALECT else ""
    document = schema_of(schema, dialect, uri)
    for reference in document.references:
        if isinstance(reference.value, str):
            target = document.lookup(reference.value, reference.base)
            if target is not None:
                yield reference.tokens, target.tokens


def _own_uri(schema: Json) -> str:
    """Return the URI by which a schema names itself in draft-04, without fragment."""
    uri = schema.get("id") if isinstance(schema, dict) and "$id" not in schema else None
    return uri.partition("#")[0] if isinstance(uri, str) else ""
