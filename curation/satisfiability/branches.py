"""The alternatives that a schema leaves, and which of them are one and the same."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from curation.satisfiability.schema_view import equality_key
from curation.schema.keywords import Shape

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from curation.core.json_types import Json
    from curation.satisfiability.schema_view import SchemaView
    from curation.satisfiability.state import Goal
    from curation.schema.locations import SchemaLocation

#: References followed for the form of one branch.
_MOST_HOPS = 20


class BranchAlternatives(NamedTuple):
    """The branches of a keyword: what its schema accepts meets one of them."""

    location: SchemaLocation
    keyword: str
    branches: list[Goal]


def branch_choices(
    location: SchemaLocation, view: SchemaView
) -> Iterator[BranchAlternatives]:
    """Yield the alternatives of one schema, those in `allOf` and `$ref` left out."""
    schema = location.schema
    for keyword in ("anyOf", "oneOf"):
        inner = schema.get(keyword)
        if isinstance(inner, list) and inner:
            locations = [
                view.child(location, keyword, str(index)) for index in range(len(inner))
            ]
            yield BranchAlternatives(
                location, keyword, [(branch,) for branch in locations]
            )
    if "if" in schema and "if" in view.effective:
        conditions = list(_conditions(location, view))
        if conditions:
            yield BranchAlternatives(location, "if", conditions)


def _conditions(location: SchemaLocation, view: SchemaView) -> Iterator[Goal]:
    """Yield `if` with `then`, and `else`; nothing where one is left open."""
    condition = view.child(location, "if")
    then: Goal = (view.child(location, "then"),) if "then" in location.schema else ()
    other: Goal = (view.child(location, "else"),) if "else" in location.schema else ()
    always: list[Goal]
    if view.accepts_all(condition):
        always = [then]
    elif condition.schema is False:
        always = [other]
    else:
        always = [(condition, *then), other] if then else []
    if all(always):
        yield from always


def exclusive_branches(choice: BranchAlternatives, view: SchemaView) -> list[Goal]:
    """Return the branches of a `oneOf` that can be the only one to hold.

    What accepts the same as another branch never is; beside a branch that accepts
    everything no other one is.
    """
    locations = [goal[0] for goal in choice.branches]
    shapes = [_shape(branch, view) for branch in locations]
    often = Counter(shapes)
    forms: list[Hashable] = [
        _form(location, view) if often[shape] > 1 else (None, index)
        for index, (location, shape) in enumerate(zip(locations, shapes, strict=True))
    ]
    count = Counter(forms)
    alone: list[Goal] = [
        (location,)
        for location, form in zip(locations, forms, strict=True)
        if count[form] == 1
    ]
    always = [goal for goal in alone if view.accepts_all(goal[0])]
    return always or alone


def _followed(location: SchemaLocation, view: SchemaView) -> SchemaLocation:
    """Return what a schema that is a reference only refers to."""
    for _ in range(_MOST_HOPS):
        schema = location.schema
        if not isinstance(schema, dict) or "$ref" not in schema:
            return location
        target = view.target(location)
        if view.keywords(schema) != {"$ref"} or target is None:
            return location
        location = target
    return location


def _shape(location: SchemaLocation, view: SchemaView) -> Hashable:
    """Return a key, quickly made, that is equal for branches that accept the same."""
    schema = _followed(location, view).schema
    if not isinstance(schema, dict):
        return frozenset() if schema is True else False
    return frozenset(view.keywords(schema))


def _form(location: SchemaLocation, view: SchemaView) -> Hashable:
    found = _followed(location, view)
    return view.base_in(found), equality_key(_plain(found.schema, view))


def _plain(schema: Json, view: SchemaView) -> Json:
    """Return a schema without the keywords that make no difference."""
    if not isinstance(schema, dict):
        return {} if schema is True else schema
    result: dict[str, Json] = {}
    for keyword in sorted(view.keywords(schema)):
        value, shape = schema[keyword], view.dialect.applicators.get(keyword)
        if isinstance(value, list) and shape in (Shape.SCHEMAS, Shape.EITHER):
            value = [_plain(branch, view) for branch in value]
        elif isinstance(value, dict) and shape in (Shape.SCHEMA, Shape.EITHER):
            value = _plain(value, view)
        elif isinstance(value, dict) and shape is not None:
            value = {name: _plain(member, view) for name, member in value.items()}
        elif keyword == "required" and isinstance(value, list):
            value = [*sorted(map(str, value))]
        result[keyword] = value
    return result
