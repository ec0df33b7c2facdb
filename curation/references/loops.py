"""Reference loops, and references that jsonschema resolves otherwise.

To judge an instance by `{"$ref": "#"}` never ends (`endless`); recursion is fine where
an applicator moves on into the instance (`is_recursive`).

jsonschema joins a relative identifier of the root to itself: anchors and references by
URI are looked up its way (`disputed`), and must lead to the same place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from referencing import Registry, Specification
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from curation.json.pointer import Tokens, at
from curation.references.schema import ResolvedReference, schema_of
from curation.schema.dialects import ANY_DIALECT, Dialect
from curation.schema.keywords import CONTAINERS, IN_PLACE
from curation.schema.subschemas import children

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.references.closure import Closure


def endless(closure: Closure) -> Tokens | None:
    """Return a schema of the record whose evaluation never ends, or None.

    The closure must be one of a record that stands alone. Loops that nothing
    reaches from the root are not counted.
    """
    targets: dict[Tokens, list[Tokens]] = {}
    values: dict[Tokens, Json] = {(): closure.record.value}
    for reached in closure.own_schemas():
        for resolved in reached.references:
            reference, location = resolved.reference, resolved.location
            bearers = closure.record.bearers(
                reference.keyword, reference.value, location
            )
            for target in (location, *bearers):
                targets.setdefault(reference.tokens, []).append(target.tokens)
                values[target.tokens] = target.schema
    graph = _Graph(targets, values, closure.record.dialect)
    starts = list(values)
    if _on_cycle(starts, graph.next) is None:
        return None
    reachable = graph.reached()
    return _on_cycle([tokens for tokens in starts if tokens in reachable], graph.next)


class _Graph:
    def __init__(
        self,
        targets: dict[Tokens, list[Tokens]],
        values: dict[Tokens, Json],
        dialect: Dialect,
    ) -> None:
        self._targets = targets
        self._values = values
        self._dialect = dialect

    def reached(self) -> set[Tokens]:
        """Return the schemas that some instance is judged by."""
        visited: set[Tokens] = set()
        waiting: list[Tokens] = [()]
        while waiting:
            tokens = waiting.pop()
            if tokens not in visited:
                visited.add(tokens)
                waiting.extend(self.next(tokens, applied=True))
        return visited

    def next(self, tokens: Tokens, *, applied: bool = False) -> Iterator[Tokens]:
        """Yield the schemas that judge the same instance next.

        With `applied`, also those that judge a part of it.
        """
        schema = self._values[tokens]
        if not isinstance(schema, dict):
            return
        yield from self._targets.get(tokens, ())
        if self._dialect.ref_hides_siblings and "$ref" in schema:
            return
        for path, child in children(schema, self._dialect):
            if path[0] in ("then", "else") and "if" not in schema:
                continue
            if path[0] in IN_PLACE or (applied and path[0] not in CONTAINERS):
                self._values[tokens + path] = child
                yield tokens + path


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
    for reference in document.scanned.references:
        if isinstance(reference.value, str):
            target = document.lookup(reference.value, reference.base)
            if target is not None:
                yield reference.tokens, target.tokens


def _own_uri(schema: Json) -> str:
    """Return the URI by which a schema names itself in draft-04, without fragment."""
    uri = schema.get("id") if isinstance(schema, dict) and "$id" not in schema else None
    return uri.partition("#")[0] if isinstance(uri, str) else ""


def disputed(closure: Closure) -> Tokens | None:
    """Return a schema of the record whose reference jsonschema resolves otherwise."""
    in_doubt = [
        resolved
        for resolved in closure.own_schemas()[0].references
        if resolved.reference.base != closure.record.base or not _is_plain(resolved)
    ]
    if not in_doubt:
        return None
    specification: Specification[Json] = specification_with(closure.record.dialect.uri)
    root = specification.create_resource(closure.record.value)
    uri = root.id() or ""
    # Crawled once: a registry that is not looks for anchors anew at every lookup.
    start = Registry().with_resource(uri, root).crawl().resolver(uri)
    starts = frozenset(closure.record.scanned.inner_resources)
    for resolved in in_doubt:
        resolver = start
        for resource in _resources_around(resolved.reference.tokens, starts, closure):
            resolver = resolver.in_subresource(specification.create_resource(resource))
        try:
            contents = resolver.lookup(resolved.reference.text).contents
        except (Unresolvable, AttributeError, TypeError, ValueError):
            return resolved.reference.tokens
        is_static = resolved.reference.keyword == "$ref"
        if is_static and contents is not resolved.location.schema:
            return resolved.reference.tokens
    return None


def _is_plain(resolved: ResolvedReference) -> bool:
    value = resolved.reference.text
    return value == "#" or value.startswith("#/")


def _resources_around(
    tokens: Tokens, starts: AbstractSet[Tokens], closure: Closure
) -> list[Json]:
    """Return the schemas that start a resource between the root and a subschema.

    The others leave the base as it is.
    """
    return [
        at(closure.record.value, tokens[:length])
        for length in range(1, len(tokens) + 1)
        if tokens[:length] in starts
    ]
