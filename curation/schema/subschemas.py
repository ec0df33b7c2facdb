"""The one traversal: where the subschemas of a schema are, and their pointers.

A *subschema* is a value that its dialect reads as a schema. What stands under
`enum`, `const`, `default`, `examples` or an unknown member is data, not a schema,
and is never visited.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from curation.schema.keywords import Shape
from curation.schema.locations import SchemaLocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect

#: The JSON types of a schema; a boolean only where the dialect allows one.
_SCHEMA = (dict, bool)


def children(  # noqa: C901 - one flat loop: the hot path of every rule
    schema: UntypedJson, dialect: Dialect
) -> Iterator[tuple[Tokens, UntypedJson]]:
    """Yield the schemas directly inside a schema, in the order they stand."""
    if not isinstance(schema, dict):
        return
    shapes = dialect.applicators
    for word in schema:
        shape = shapes.get(word)
        if shape is None:
            continue
        value = schema[word]
        if isinstance(value, list):
            if shape is Shape.SCHEMAS or shape is Shape.EITHER:
                for index, each in enumerate(value):
                    if isinstance(each, _SCHEMA):
                        yield (word, str(index)), each
        elif shape is Shape.SCHEMA or shape is Shape.EITHER:
            if isinstance(value, _SCHEMA):
                yield (word,), value
        elif isinstance(value, dict) and shape is not Shape.SCHEMAS:
            for name, each in value.items():
                if isinstance(each, _SCHEMA):
                    yield (word, name), each


def subschema_locations(
    schema: UntypedJson, dialect: Dialect
) -> Iterator[SchemaLocation]:
    """Yield a schema and its subschemas, outermost first, in the order they stand.

    A reference is not followed: each schema is met once, where it is written. Base
    URIs are not worked out.
    """
    stack = [SchemaLocation((), schema)]
    while stack:
        location = stack.pop()
        yield location
        inner = [
            SchemaLocation(location.tokens + tokens, subschema)
            for tokens, subschema in children(location.schema, dialect)
        ]
        stack.extend(reversed(inner))


#: Dialect name to the last schema walked under it, and its subschemas. Several
#: rules walk one schema in turn; JSON values never change, so what was found
#: holds as long as it is the same object.
_LAST: dict[str, tuple[UntypedJson, tuple[dict[str, UntypedJson], ...]]] = {}


def subschemas(
    schema: UntypedJson, dialect: Dialect
) -> tuple[dict[str, UntypedJson], ...]:
    """Return every place that is an object, in no promised order.

    The quick walk, for rules that ask first whether they concern a schema at all.
    """
    last = _LAST.get(dialect.name)
    if last is not None and last[0] is schema:
        return last[1]
    found = tuple(_subschemas(schema, dialect))
    _LAST[dialect.name] = (schema, found)
    return found


def _subschemas(
    schema: UntypedJson, dialect: Dialect
) -> Iterator[dict[str, UntypedJson]]:
    applicators = dialect.applicators
    stack: list[UntypedJson] = [schema]
    while stack:
        each = stack.pop()
        if not isinstance(each, dict):
            continue
        yield each
        for word in applicators.keys() & each.keys():
            value, shape = each[word], applicators[word]
            if shape in (Shape.SCHEMA, Shape.EITHER) and isinstance(value, dict):
                stack.append(value)
            elif isinstance(value, list):
                if shape in (Shape.SCHEMAS, Shape.EITHER):
                    stack.extend(value)
            elif isinstance(value, dict) and shape is not Shape.SCHEMAS:
                stack.extend(value.values())


def edited(
    schema: UntypedJson,
    dialect: Dialect,
    edit: Callable[[Tokens, UntypedJson], UntypedJson],
) -> UntypedJson:
    """Return the schema with every place replaced by what `edit` makes of it.

    Inner places first; `edit` returns its argument itself where nothing changes,
    and then nothing is copied.
    """
    return _edited(schema, (), dialect, edit)


def _edited(
    schema: UntypedJson,
    at_tokens: Tokens,
    dialect: Dialect,
    edit: Callable[[Tokens, UntypedJson], UntypedJson],
) -> UntypedJson:
    result = schema
    if isinstance(schema, dict):
        for word, value in schema.items():
            shape = dialect.applicators.get(word)
            if shape is None:
                continue
            new = _edited_value(value, (*at_tokens, word), shape, dialect, edit)
            if new is not value:
                result = {**result, word: new}
    return edit(at_tokens, result)


def _edited_value(
    value: UntypedJson,
    at_tokens: Tokens,
    shape: Shape,
    dialect: Dialect,
    edit: Callable[[Tokens, UntypedJson], UntypedJson],
) -> UntypedJson:
    """Return an applicator's value with the schemas in it edited."""

    def inner(name: str, each: UntypedJson) -> UntypedJson:
        if isinstance(each, dict | bool):
            return _edited(each, (*at_tokens, name), dialect, edit)
        return each

    single = shape in (Shape.SCHEMA, Shape.EITHER)
    if isinstance(value, list) and shape in (Shape.SCHEMAS, Shape.EITHER):
        items = [inner(str(index), each) for index, each in enumerate(value)]
        same = all(map(operator.is_, items, value))
        return value if same else items
    if isinstance(value, dict | bool) and single:
        return _edited(value, at_tokens, dialect, edit)
    if isinstance(value, dict) and shape in (Shape.MAP, Shape.DEPENDENCIES):
        members = {name: inner(name, each) for name, each in value.items()}
        same = all(map(operator.is_, members.values(), value.values()))
        return value if same else members
    return value
