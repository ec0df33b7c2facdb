"""Ways to fail a schema, each as goals for the search."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from typing import TYPE_CHECKING

from curation.core.json_types import Json
from curation.instances.constraints.compiled_schema import CompiledSchema, memo
from curation.instances.constraints.conjunction import (
    ALL_TYPES,
    ExtraConstraint,
    Goals,
    Negation,
    with_member,
)
from curation.instances.constraints.keyword_values import (
    accepts_everything,
    item_keywords,
    names_of,
)
from curation.json.values import is_number

if TYPE_CHECKING:
    from curation.schema.subschemas import SchemaLocation

_NUMBERS = ("integer", "number")
#: A bound, the bound that contradicts it, the step between, and the types.
_OPPOSITES = {
    "minimum": ("exclusiveMaximum", 0, _NUMBERS),
    "maximum": ("exclusiveMinimum", 0, _NUMBERS),
    "minLength": ("maxLength", -1, ("string",)),
    "maxLength": ("minLength", 1, ("string",)),
    "minItems": ("maxItems", -1, ("array",)),
    "maxItems": ("minItems", 1, ("array",)),
    "minProperties": ("maxProperties", -1, ("object",)),
    "maxProperties": ("minProperties", 1, ("object",)),
}
#: Pairs of branches of a oneOf that are tried together.
_MOST_PAIRS = 6
#: Names for one more property; the second is short, where names must be.
_EXTRA_NAMES = ("extra", "x")


@memo
def ways_to_fail(compiled: CompiledSchema, location: SchemaLocation) -> list[Goals]:
    """Return the ways to fail the schema of a location, the most natural first."""
    return list(_ways(compiled, location))


def _ways(compiled: CompiledSchema, location: SchemaLocation) -> Iterator[Goals]:
    schema = location.schema
    if not isinstance(schema, dict):
        return
    for target in compiled.targets(location):
        yield (Negation(target),)
    if "$ref" in schema and compiled.dialect.ref_hides_siblings:
        return
    for constraint in _ways_of_objects(compiled, location, schema):
        yield (constraint,)
    yield from _ways_of_dependencies(compiled, location, schema)
    for constraint in _ways_of_scalars(schema):
        yield (constraint,)
    for constraint in _ways_of_arrays(compiled, location, schema):
        yield (constraint,)
    yield from _ways_of_choices(compiled, location, schema)
    if "type" in schema:
        yield (ExtraConstraint(types=_other_types(schema["type"])),)


def _other_types(types: Json) -> tuple[str, ...]:
    allowed = types if isinstance(types, list) else [types]
    if "number" in allowed:
        allowed = [*allowed, "integer"]
    return tuple(name for name in ALL_TYPES if name not in allowed)


def _ways_of_objects(
    compiled: CompiledSchema, location: SchemaLocation, schema: dict[str, Json]
) -> Iterator[ExtraConstraint]:
    for name in names_of(schema.get("required")):
        yield ExtraConstraint(types=("object",), forbidden=(name,))
    properties = schema.get("properties")
    members = properties if isinstance(properties, dict) else {}
    for name, member in members.items():
        if not accepts_everything(member):
            yield with_member(
                name, (Negation(compiled.child(location, ("properties", name))),)
            )
    if not accepts_everything(schema.get("additionalProperties", True)):
        additional = Negation(compiled.child(location, ("additionalProperties",)))
        for name in _EXTRA_NAMES:
            if name not in members:
                yield with_member(name, (additional,))
    if "unevaluatedProperties" in schema:
        unevaluated = Negation(compiled.child(location, ("unevaluatedProperties",)))
        yield with_member("unevaluated", (unevaluated,))
    if "propertyNames" in schema:
        names = compiled.child(location, ("propertyNames",))
        yield ExtraConstraint(types=("object",), extra_name=(Negation(names),))


def _ways_of_dependencies(
    compiled: CompiledSchema, location: SchemaLocation, schema: dict[str, Json]
) -> Iterator[Goals]:
    for keyword in ("dependencies", "dependentRequired", "dependentSchemas"):
        entries = schema.get(keyword)
        for name, needs in entries.items() if isinstance(entries, dict) else ():
            presence = ExtraConstraint(types=("object",), schema={"required": [name]})
            if isinstance(needs, list):
                for needed in names_of(needs):
                    yield presence, ExtraConstraint(forbidden=(needed,))
            else:
                yield presence, Negation(compiled.child(location, (keyword, name)))


def _ways_of_scalars(schema: dict[str, Json]) -> Iterator[ExtraConstraint]:
    enumerated = schema.get("enum")
    values = list(enumerated) if isinstance(enumerated, list) else []
    if "const" in schema:
        values.append(schema["const"])
    if {} in values or [] in values:
        least = {"minProperties": 1, "minItems": 1}
        yield ExtraConstraint(excluded=tuple(values), schema=least)
    if values:
        yield ExtraConstraint(excluded=tuple(values))
    for keyword, (opposite, step, types) in _OPPOSITES.items():
        bound = schema.get(keyword)
        if is_number(bound) and (step == 0 or bound + step >= 0):
            yield ExtraConstraint(types=types, schema={opposite: bound + step})
    for keyword, opposite in (
        ("exclusiveMinimum", "maximum"),
        ("exclusiveMaximum", "minimum"),
    ):
        bound = schema.get(keyword)
        if is_number(bound):
            yield ExtraConstraint(types=_NUMBERS, schema={opposite: bound})
    factor = schema.get("multipleOf")
    if is_number(factor):
        yield ExtraConstraint(types=_NUMBERS, not_multiples=(factor,))
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        yield ExtraConstraint(types=("string",), not_patterns=(pattern,))


def _ways_of_arrays(
    compiled: CompiledSchema, location: SchemaLocation, schema: dict[str, Json]
) -> Iterator[ExtraConstraint]:
    prefix, remaining = item_keywords(schema, compiled.dialect)
    elements: list[tuple[int, tuple[str, ...]]] = []
    prefixed = schema.get(prefix)
    if isinstance(prefixed, list):
        elements += [(index, (prefix, str(index))) for index in range(len(prefixed))]
    if remaining:
        elements.append((len(elements), (remaining,)))
    for index, tokens in elements:
        element = compiled.child(location, tokens)
        if not accepts_everything(element.schema):
            yield with_member(index, (Negation(element),))
    if schema.get("uniqueItems") is True:
        yield ExtraConstraint(types=("array",), duplicate=True)
    if "contains" in schema:
        contained = compiled.child(location, ("contains",))
        yield ExtraConstraint(types=("array",), every=(Negation(contained),))
        most = schema.get("maxContains")
        if is_number(most):
            yield ExtraConstraint(
                types=("array",), schema={"minItems": most + 1}, every=(contained,)
            )


def _ways_of_choices(
    compiled: CompiledSchema, location: SchemaLocation, schema: dict[str, Json]
) -> Iterator[Goals]:
    child = compiled.child
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list):
            yield tuple(map(Negation, compiled.branches(location, keyword)))
    one_of = compiled.branches(location, "oneOf")
    yield from islice(combinations(one_of, 2), _MOST_PAIRS)
    for branch in compiled.branches(location, "allOf"):
        yield (Negation(branch),)
    if "not" in schema:
        yield (child(location, ("not",)),)
    if "if" in schema and "then" in schema:
        yield child(location, ("if",)), Negation(child(location, ("then",)))
    if "if" in schema and "else" in schema:
        yield Negation(child(location, ("if",))), Negation(child(location, ("else",)))
