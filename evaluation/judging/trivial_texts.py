"""Which texts say next to nothing, though their schema accepts them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json


def is_trivial(value: Json, schema: str) -> bool:
    """Return whether a value says next to nothing of what its schema could ask for.

    That is `null`, `true`, `false`, `[]`, `{}`, a bare string that the schema itself
    spells out in an `enum` or a `const`, and an object of nothing but members that are
    required at the root, where the schema knows others.

    Args:
        value: What a model wrote.
        schema: The schema's text.
    """
    if value is None or isinstance(value, bool) or value in ([], {}):
        return True
    root: Json = json.loads(schema)
    if isinstance(value, str):
        return value in _spelt_out(root)
    if not isinstance(value, dict) or not isinstance(root, dict):
        return False
    required, known = root.get("required"), root.get("properties")
    if not isinstance(required, list) or not isinstance(known, dict):
        return False
    names = {name for name in required if isinstance(name, str)}
    return set(value) <= names < set(known)


def _spelt_out(schema: Json) -> Iterator[str]:
    """Yield the strings of every `enum` and `const`, wherever these stand."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            listed = part.get("enum")
            found = listed if isinstance(listed, list) else []
            yield from (
                one for one in [*found, part.get("const")] if isinstance(one, str)
            )
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
