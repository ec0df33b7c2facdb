"""Does jsonschema find a reference's target where we do?

Plain pointers from the root leave no room for doubt. Anchors and references by
URI do: jsonschema, for one, joins a relative identifier of the root to itself. Such
references are looked up the way it looks them up, and must lead to the same place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from curation.json.pointer import at

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens
    from curation.references.closure import Closure, Lead


def disputed(closure: Closure) -> Tokens | None:
    """Return a schema of the record whose reference jsonschema resolves otherwise."""
    doubtful = [
        lead
        for lead in closure.own_regions()[0].leads
        if lead.reference.base != closure.record.base or not _is_plain(lead)
    ]
    if not doubtful:
        return None
    specification: Any = specification_with(closure.record.dialect.uri)
    root = specification.create_resource(closure.record.schema)
    uri = root.id() or ""
    # Crawled once: a registry that is not looks for anchors anew at every lookup.
    start = Registry().with_resource(uri, root).crawl().resolver(uri)
    for lead in doubtful:
        resolver = start
        for place in _places_on_the_way(lead.reference.tokens, closure):
            resolver = resolver.in_subresource(specification.create_resource(place))
        try:
            found = resolver.lookup(lead.reference.value).contents
        except (Unresolvable, AttributeError, TypeError, ValueError):
            return lead.reference.tokens
        if found is not lead.target.spot.value:
            return lead.reference.tokens
    return None


def _is_plain(lead: Lead) -> bool:
    value = str(lead.reference.value)
    return value == "#" or value.startswith("#/")


def _places_on_the_way(tokens: Tokens, closure: Closure) -> list[UntypedJson]:
    """Return the schemas that start a resource between the root and a place.

    The others leave the base as it is.
    """
    starts = closure.record.scanned.inner_resources
    return [
        at(closure.record.schema, each)
        for each in sorted(starts, key=len)
        if tokens[: len(each)] == each
    ]
