"""Does jsonschema find the target of a reference where we do?

Plain pointers from the root leave no room for doubt. Anchors and references by
URI do: jsonschema, for one, joins a relative identifier of the root to itself. Such
references are looked up the way it looks them up, and must lead to the same place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from curation.json.pointer import at

if TYPE_CHECKING:
    from referencing import Specification

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.references.closure import Closure
    from curation.references.resolution import ResolvedReference


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
    root = specification.create_resource(closure.record.schema)
    uri = root.id() or ""
    # Crawled once: a registry that is not looks for anchors anew at every lookup.
    start = Registry().with_resource(uri, root).crawl().resolver(uri)
    for resolved in in_doubt:
        resolver = start
        for resource in _resources_around(resolved.reference.tokens, closure):
            resolver = resolver.in_subresource(specification.create_resource(resource))
        try:
            found = resolver.lookup(resolved.reference.text).contents
        except (Unresolvable, AttributeError, TypeError, ValueError):
            return resolved.reference.tokens
        if found is not resolved.location.schema:
            return resolved.reference.tokens
    return None


def _is_plain(resolved: ResolvedReference) -> bool:
    value = resolved.reference.text
    return value == "#" or value.startswith("#/")


def _resources_around(tokens: Tokens, closure: Closure) -> list[Json]:
    """Return the schemas that start a resource between the root and a subschema.

    The others leave the base as it is.
    """
    starts = closure.record.scanned.inner_resources
    return [
        at(closure.record.schema, start)
        for start in sorted(starts, key=len)
        if tokens[: len(start)] == start
    ]
