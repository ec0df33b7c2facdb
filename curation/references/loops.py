"""References that lead back to themselves without ever entering the instance.

To judge an instance by `{"$ref": "#"}` never ends: a validator recurses until it
gives up. Recursion is fine where an applicator moves on into the instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.schema.keywords import CONTAINERS
from curation.schema.subschemas import children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.references.closure import Closure
    from curation.schema.dialects import Dialect

#: Applicators that judge the very instance that their schema judges.
IN_PLACE = frozenset(
    {
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "dependencies",
        "dependentSchemas",
    }
)


def endless(closure: Closure) -> Tokens | None:
    """Return a schema of the record whose evaluation never ends, or None.

    The closure must be one of a record that stands alone. Loops that nothing
    reaches from the root are not counted.
    """
    targets: dict[Tokens, list[Tokens]] = {}
    values: dict[Tokens, Json] = {(): closure.record.schema}
    for reached in closure.own_schemas():
        for resolved in reached.references:
            location = resolved.location
            targets.setdefault(resolved.reference.tokens, []).append(location.tokens)
            values[location.tokens] = location.schema
    graph = _Graph(targets, values, closure.record.dialect)
    starts = list(values)
    if graph.cycle(starts) is None:
        return None
    reachable = graph.reached()
    return graph.cycle([tokens for tokens in starts if tokens in reachable])


class _Graph:
    """The schemas of a record, and which of them judges next."""

    def __init__(
        self,
        targets: dict[Tokens, list[Tokens]],
        values: dict[Tokens, Json],
        dialect: Dialect,
    ) -> None:
        self._targets = targets
        self._values = values
        self._dialect = dialect

    def cycle(self, starts: list[Tokens]) -> Tokens | None:
        """Return a schema on a circle of schemas that judge the same instance."""
        done: set[Tokens] = set()
        for start in starts:
            if start in done:
                continue
            path: dict[Tokens, None] = {start: None}
            stack = [self._next(start)]
            while stack:
                following = next(stack[-1], None)
                if following is None:
                    stack.pop()
                    done.add(path.popitem()[0])
                elif following in path:
                    return following
                elif following not in done:
                    path[following] = None
                    stack.append(self._next(following))
        return None

    def reached(self) -> set[Tokens]:
        """Return the schemas that some instance is judged by."""
        found: set[Tokens] = set()
        waiting: list[Tokens] = [()]
        while waiting:
            tokens = waiting.pop()
            if tokens not in found:
                found.add(tokens)
                waiting.extend(self._next(tokens, applied=True))
        return found

    def _next(self, tokens: Tokens, *, applied: bool = False) -> Iterator[Tokens]:
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
            if path[0] in IN_PLACE or (applied and path[0] not in CONTAINERS):
                self._values[tokens + path] = child
                yield tokens + path
