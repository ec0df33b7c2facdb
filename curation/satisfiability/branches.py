"""The alternatives that a schema leaves, and which of them are one and the same."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from curation.satisfiability.schema_view import key
from curation.schema.keywords import Shape

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from curation.core.json_types import UntypedJson
    from curation.satisfiability.schema_view import Ground, Node

#: References followed for the form of one branch.
_MOST_HOPS = 20
_Goal = tuple["Node", ...]


class Choice(NamedTuple):
    """One of these goals must be met by what the schema accepts."""

    node: Node
    word: str
    branches: list[_Goal]


def choices(node: Node, ground: Ground) -> Iterator[Choice]:
    """Yield the alternatives of one schema, those in `allOf` and `$ref` left out."""
    schema = node.schema
    for word in ("anyOf", "oneOf"):
        inner = schema.get(word)
        if isinstance(inner, list) and inner:
            each = range(len(inner))
            nodes = [ground.child(node, word, str(index)) for index in each]
            yield Choice(node, word, [(branch,) for branch in nodes])
    if "if" in schema and "if" in ground.effective:
        conditions = list(_conditions(node, ground))
        if conditions:
            yield Choice(node, "if", conditions)


def _conditions(node: Node, ground: Ground) -> Iterator[_Goal]:
    """Yield `if` with `then`, and `else`; nothing where one is left open."""
    condition = ground.child(node, "if")
    then: _Goal = (ground.child(node, "then"),) if "then" in node.schema else ()
    other: _Goal = (ground.child(node, "else"),) if "else" in node.schema else ()
    always: list[_Goal]
    if ground.accepts_all(condition):
        always = [then]
    elif condition.schema is False:
        always = [other]
    else:
        always = [(condition, *then), other] if then else []
    if all(always):
        yield from always


def lone(choice: Choice, ground: Ground) -> list[_Goal]:
    """Return the branches of a `oneOf` that can be the only one to hold.

    What accepts the same as another branch never is; beside a branch that accepts
    everything no other one is.
    """
    nodes = [goal[0] for goal in choice.branches]
    shapes = [_shape(each, ground) for each in nodes]
    often = Counter(shapes)
    forms: list[Hashable] = [
        _form(node, ground) if often[shape] > 1 else (None, index)
        for index, (node, shape) in enumerate(zip(nodes, shapes, strict=True))
    ]
    count = Counter(forms)
    alone: list[_Goal] = [
        (node,) for node, form in zip(nodes, forms, strict=True) if count[form] == 1
    ]
    always = [goal for goal in alone if ground.accepts_all(goal[0])]
    return always or alone


def _followed(node: Node, ground: Ground) -> Node:
    """Return what a schema that is a reference only refers to."""
    for _ in range(_MOST_HOPS):
        schema = node.schema
        if not isinstance(schema, dict) or "$ref" not in schema:
            return node
        target = ground.target(node)
        if ground.words(schema) != {"$ref"} or target is None:
            return node
        node = target
    return node


def _shape(node: Node, ground: Ground) -> Hashable:
    """Return what is equal for branches that accept the same, cheaply."""
    schema = _followed(node, ground).schema
    if not isinstance(schema, dict):
        return frozenset() if schema is True else False
    return frozenset(ground.words(schema))


def _form(node: Node, ground: Ground) -> Hashable:
    found = _followed(node, ground)
    return found.base, key(_plain(found.schema, ground))


def _plain(schema: UntypedJson, ground: Ground) -> UntypedJson:
    """Return a schema without the words that make no difference."""
    if not isinstance(schema, dict):
        return {} if schema is True else schema
    result: dict[str, UntypedJson] = {}
    for word in sorted(ground.words(schema)):
        value, shape = schema[word], ground.dialect.applicators.get(word)
        if isinstance(value, list) and shape in (Shape.SCHEMAS, Shape.EITHER):
            value = [_plain(each, ground) for each in value]
        elif isinstance(value, dict) and shape in (Shape.SCHEMA, Shape.EITHER):
            value = _plain(value, ground)
        elif isinstance(value, dict) and shape is not None:
            value = {name: _plain(each, ground) for name, each in value.items()}
        elif word == "required" and isinstance(value, list):
            value = sorted(map(str, value))
        result[word] = value
    return result
