"""Exclusive bounds: a boolean beside a bound until draft-04, a number since."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curation.core.json_types import Json

#: Each exclusive bound with the one that its boolean makes strict.
BOUNDS = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


def with_numeric_bounds(schema: dict[str, Json]) -> dict[str, Json]:
    """Return a schema with its boolean exclusive bounds as draft-06 writes them.

    The number takes the place of the bound that is made strict. A boolean without a
    bound says nothing and goes. The same object is returned where there is none.

    Example:
        >>> with_numeric_bounds({"minimum": 1, "exclusiveMinimum": True})
        {'exclusiveMinimum': 1}
    """
    for exclusive, bound in BOUNDS:
        said = schema.get(exclusive)
        if not isinstance(said, bool):
            continue
        strict = bound if said else None
        schema = {
            exclusive if name == strict else name: value
            for name, value in schema.items()
            if name != exclusive
        }
    return schema
