"""Every object of a JSON value, schema or not, and where it stands.

For rules that go by text alone. `curation.schema.subschemas` knows what is a schema.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import orjson

from curation.json.document_text import compact_of_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens

#: The last step and the trail before it; None at the root. Tuples of whole paths
#: would make deep documents quadratic.
Trail = tuple["Trail", str | int] | None


def searchable(value: Json) -> bytes:
    """Return JSON text without whitespace, to see quickly whether a walk is needed.

    Strings stand in it as JSON escapes them; numbers may be spelled anew. It may be
    kept from one call to the next: no one changes the value.
    """
    compact = compact_of_document(value)
    if compact is not None:
        return compact
    try:
        return orjson.dumps(value, default=float)
    except orjson.JSONEncodeError:
        # An integer past 64 bits, or nested deeper than orjson goes.
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.encode()


def objects(value: Json) -> Iterator[tuple[Trail, dict[str, Json]]]:
    """Yield every object at any depth, outermost first, in the order they stand."""
    stack: list[tuple[Trail, Json]] = [(None, value)]
    while stack:
        trail, nested = stack.pop()
        if isinstance(nested, dict):
            yield trail, nested
            inner: list[tuple[Trail, Json]] = [
                ((trail, name), member)
                for name, member in nested.items()
                if isinstance(member, dict | list)
            ]
        else:
            inner = [
                ((trail, index), item)
                for index, item in enumerate(nested if isinstance(nested, list) else ())
                if isinstance(item, dict | list)
            ]
        stack.extend(reversed(inner))


def tokens(trail: Trail) -> Tokens:
    """Return the reference tokens (RFC 6901) of a trail."""
    steps: list[str] = []
    while trail is not None:
        trail, step = trail
        steps.append(str(step))
    return tuple(reversed(steps))
