"""Which paths does a schema require, and how many of them has an answer?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.sob.metrics.leaves import ANY_INDEX

if TYPE_CHECKING:
    from curation.core.json_types import Json


def required_paths(schema: Json) -> frozenset[tuple[str, ...]]:
    """Return the paths of all required members, `*` in the place of an index.

    Members of members and of items are followed; references and unions are not, as in
    the published code.
    """
    found: set[tuple[str, ...]] = set()
    stack: list[tuple[tuple[str, ...], Json]] = [((), schema)]
    while stack:
        place, inner = stack.pop()
        if not isinstance(inner, dict):
            continue
        required = inner.get("required")
        if isinstance(required, list):
            found.update((*place, name) for name in required if isinstance(name, str))
        properties = inner.get("properties")
        if isinstance(properties, dict):
            stack += [((*place, name), child) for name, child in properties.items()]
        items = inner.get("items")
        if isinstance(items, dict):
            stack.append(((*place, ANY_INDEX), items))
    return frozenset(found)


def required_recall(required: frozenset[tuple[str, ...]], answer: Json) -> float:
    """Return the share of required paths that stand in an answer; 1 of none."""
    if not required:
        return 1.0
    there: set[tuple[str, ...]] = set()
    stack: list[tuple[tuple[str, ...], Json]] = [((), answer)]
    while stack:
        place, inner = stack.pop()
        if isinstance(inner, dict):
            for name, member in inner.items():
                there.add((*place, name))
                if isinstance(member, dict | list):
                    stack.append(((*place, name), member))
        elif isinstance(inner, list):
            stack += [
                ((*place, ANY_INDEX), item)
                for item in inner
                if isinstance(item, dict | list)
            ]
    return len(required & there) / len(required)
