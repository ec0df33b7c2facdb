"""References that lead back to themselves without ever entering the instance.

To judge an instance by `{"$ref": "#"}` never ends: a validator recurses until it
gives up. Recursion is fine where an applicator moves on into the instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.schema_walk import children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.dialects import Dialect
    from curation.documents import Json
    from curation.reference_closure import Closure
    from curation.schema_walk import Tokens

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
    values: dict[Tokens, Json] = {}
    for region in closure.own_regions():
        for lead in region.leads:
            spot = lead.target.spot
            targets.setdefault(lead.reference.tokens, []).append(spot.tokens)
            values[spot.tokens] = spot.value
    return _cycle(targets, values, closure.record.dialect)


def _cycle(
    targets: dict[Tokens, list[Tokens]], values: dict[Tokens, Json], dialect: Dialect
) -> Tokens | None:
    done: set[Tokens] = set()
    for start in list(values):
        if start in done:
            continue
        open_: dict[Tokens, None] = {start: None}
        stack = [_steps(start, values, targets, dialect)]
        while stack:
            following = next(stack[-1], None)
            if following is None:
                stack.pop()
                done.add(open_.popitem()[0])
            elif following in open_:
                return following
            elif following not in done:
                open_[following] = None
                stack.append(_steps(following, values, targets, dialect))
    return None


def _steps(
    tokens: Tokens,
    values: dict[Tokens, Json],
    targets: dict[Tokens, list[Tokens]],
    dialect: Dialect,
) -> Iterator[Tokens]:
    """Yield the schemas that judge the same instance next."""
    schema = values[tokens]
    if not isinstance(schema, dict):
        return
    yield from targets.get(tokens, ())
    if dialect.ref_hides_siblings and "$ref" in schema:
        return
    for path, child in children(schema, dialect):
        if path[0] in IN_PLACE:
            values[tokens + path] = child
            yield tokens + path
