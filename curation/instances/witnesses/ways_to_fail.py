"""Ways to fail a schema: goals, each of which makes a value that it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

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
    read_array,
    read_names,
    read_object,
)
from curation.json.values import is_number

if TYPE_CHECKING:
    from curation.schema.subschemas import SchemaLocation

_NUMBERS: Final = ("integer", "number")
#: A bound, the bound that contradicts it, the step between, and the types.
_OPPOSITES: Final = {
    "minimum": ("exclusiveMaximum", 0, _NUMBERS),
    "maximum": ("exclusiveMinimum", 0, _NUMBERS),
    "minLength": ("maxLength", -1, ("string",)),
    "maxLength": ("minLength", 1, ("string",)),
    "minItems": ("maxItems", -1, ("array",)),
    "maxItems": ("minItems", 1, ("array",)),
    "minProperties": ("maxProperties", -1, ("object",)),
    "maxProperties": ("minProperties", 1, ("object",)),
    "exclusiveMinimum": ("maximum", 0, _NUMBERS),
    "exclusiveMaximum": ("minimum", 0, _NUMBERS),
}
#: Pairs of branches of a oneOf tried together.
_MAX_PAIRS: Final = 6
#: Names for one more property; the second is short, where names must be.
_EXTRA_NAMES: Final = ("extra", "x")


@memo
def ways_to_fail(compiled: CompiledSchema, location: SchemaLocation) -> list[Goals]:
    """Return the ways to fail the schema of a location, the most natural first."""
    schema = location.schema
    if not isinstance(schema, dict):
        return []
    ways: list[Goals] = [(Negation(target),) for target in compiled.targets(location)]
    if "$ref" in schema and compiled.dialect.ref_hides_siblings:
        return ways
    ways += _of_objects(compiled, location)
    ways += _of_dependencies(compiled, location)
    ways += ((constraint,) for constraint in _of_scalars(schema))
    ways += ((constraint,) for constraint in _of_arrays(compiled, location))
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list):
            ways.append(tuple(map(Negation, compiled.branches(location, keyword))))
    ways += islice(combinations(compiled.branches(location, "oneOf"), 2), _MAX_PAIRS)
    ways += ((Negation(branch),) for branch in compiled.branches(location, "allOf"))
    if "not" in schema:
        ways.append((compiled.child(location, ("not",)),))
    for keyword in ("then", "else"):
        if "if" in schema and keyword in schema:
            test = compiled.child(location, ("if",))
            consequence = Negation(compiled.child(location, (keyword,)))
            ways.append((test if keyword == "then" else Negation(test), consequence))
    if "type" in schema:
        allowed = read_names(schema["type"])
        numbers = _NUMBERS if "number" in allowed else ()
        refused = (kind for kind in ALL_TYPES if kind not in (*allowed, *numbers))
        ways.append((ExtraConstraint(types=tuple(refused)),))
    return ways


def _of_objects(compiled: CompiledSchema, location: SchemaLocation) -> Iterator[Goals]:
    schema = location.schema

    def negated(*tokens: str) -> Negation:
        return Negation(compiled.child(location, tokens))

    for name in read_names(schema.get("required")):
        yield (ExtraConstraint(types=("object",), forbidden=(name,)),)
    members = read_object(schema, "properties")
    for name, member in members.items():
        if not accepts_everything(member):
            yield (with_member(name, (negated("properties", name),)),)
    extra_names = [name for name in _EXTRA_NAMES if name not in members]
    if not accepts_everything(schema.get("additionalProperties", True)):
        for name in extra_names:
            yield (with_member(name, (negated("additionalProperties"),)),)
    if "unevaluatedProperties" in schema:
        yield (with_member("unevaluated", (negated("unevaluatedProperties"),)),)
    if "propertyNames" in schema:
        extra_name = (negated("propertyNames"),)
        yield (ExtraConstraint(types=("object",), extra_name=extra_name),)


def _of_dependencies(
    compiled: CompiledSchema, location: SchemaLocation
) -> Iterator[Goals]:
    for keyword in ("dependencies", "dependentRequired", "dependentSchemas"):
        for name, needs in read_object(location.schema, keyword).items():
            presence = ExtraConstraint(types=("object",), schema={"required": [name]})
            if not isinstance(needs, list):
                yield presence, Negation(compiled.child(location, (keyword, name)))
            for needed in read_names(needs):
                yield presence, ExtraConstraint(forbidden=(needed,))


def _of_scalars(schema: dict[str, Json]) -> Iterator[ExtraConstraint]:
    values = [*read_array(schema, "enum")]
    if "const" in schema:
        values.append(schema["const"])
    if {} in values or [] in values:
        minimums = {"minProperties": 1, "minItems": 1}
        yield ExtraConstraint(excluded=tuple(values), schema=minimums)
    if values:
        yield ExtraConstraint(excluded=tuple(values))
    for keyword, (opposite, step, types) in _OPPOSITES.items():
        bound = schema.get(keyword)
        if is_number(bound) and (step == 0 or bound + step >= 0):
            yield ExtraConstraint(types=types, schema={opposite: bound + step})
    factor = schema.get("multipleOf")
    if is_number(factor):
        yield ExtraConstraint(types=_NUMBERS, not_multiples=(factor,))
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        yield ExtraConstraint(types=("string",), not_patterns=(pattern,))


def _of_arrays(
    compiled: CompiledSchema, location: SchemaLocation
) -> Iterator[ExtraConstraint]:
    schema = location.schema
    prefix, remaining = item_keywords(schema, compiled.dialect)
    elements = [
        (prefix, str(index)) for index in range(len(read_array(schema, prefix)))
    ]
    for index, tokens in enumerate([*elements, *([(remaining,)] if remaining else [])]):
        element = compiled.child(location, tokens)
        if not accepts_everything(element.schema):
            yield with_member(index, (Negation(element),))
    if schema.get("uniqueItems") is True:
        yield ExtraConstraint(types=("array",), duplicate=True)
    if "contains" in schema:
        contained = compiled.child(location, ("contains",))
        yield ExtraConstraint(types=("array",), every=(Negation(contained),))
        maximum = schema.get("maxContains")
        if is_number(maximum):
            yield ExtraConstraint(
                types=("array",), schema={"minItems": maximum + 1}, every=(contained,)
            )
