"""How a value can fail a schema: the ways, each as goals for the search."""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING

from curation.instances.constraints.conjunction import is_trivial, item_keywords
from curation.instances.constraints.goals import Atom, Goals, Negation
from curation.instances.constraints.merging import ALL_TYPES, is_number
from curation.schema.keywords import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.schema.locations import SchemaLocation

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
#: The second is short, where names must be.
#: Pairs of branches of a oneOf that are tried together.
_MOST_PAIRS = 6
_EXTRA_NAMES = ("extra", "x")


def ways_to_fail(compiled: CompiledSchema, location: SchemaLocation) -> list[Goals]:
    """Return the ways to fail the schema of a place, the most natural first.

    They need not be all: what no way is known for is left to chance.
    """
    found = compiled.ways_to_fail.get(location)
    if found is None:
        # A schema that refers to itself is negated by its other keywords.
        compiled.ways_to_fail[location] = []
        found = compiled.ways_to_fail[location] = list(_ways(compiled, location))
    return list(found)


def _ways(compiled: CompiledSchema, location: SchemaLocation) -> Iterator[Goals]:
    schema = location.schema
    if not isinstance(schema, dict):
        return
    for keyword in REFERENCE_KEYWORDS:
        target = compiled.target(location, keyword) if keyword in schema else None
        if target is not None:
            yield (Negation(target),)
    if "$ref" in schema and compiled.dialect.ref_hides_siblings:
        return
    for each in _of_objects(compiled, location):
        yield (each,)
    yield from _of_dependencies(compiled, location)
    for each in _of_scalars(schema):
        yield (each,)
    for each in _of_arrays(compiled, location):
        yield (each,)
    yield from _of_choices(compiled, location)
    if "type" in schema:
        names = schema["type"]
        names = [names] if isinstance(names, str) else list(names)
        if "number" in names:
            names.append("integer")
        yield (Atom(types=tuple(each for each in ALL_TYPES if each not in names)),)


def _of_objects(compiled: CompiledSchema, location: SchemaLocation) -> Iterator[Atom]:
    schema = location.schema
    for name in _names(schema.get("required")):
        yield Atom(types=("object",), forbidden=(name,))
    members = schema.get("properties")
    for name in members if isinstance(members, dict) else ():
        if is_trivial(members[name]):
            continue
        yield _with_member(name, compiled.child(location, ("properties", name)))
    if not is_trivial(schema.get("additionalProperties", True)):
        place = compiled.child(location, ("additionalProperties",))
        for name in _EXTRA_NAMES:
            if name not in (members or ()):
                yield _with_member(name, place)

    if "unevaluatedProperties" in schema:
        place = compiled.child(location, ("unevaluatedProperties",))
        yield _with_member("unevaluated", place)
    if "propertyNames" in schema:
        place = compiled.child(location, ("propertyNames",))
        yield Atom(types=("object",), extra_name=(Negation(place),))


def _with_member(name: str, place: SchemaLocation) -> Atom:
    """Return the demand for a property that a place refuses."""
    return Atom(
        types=("object",),
        schema={"required": [name]},
        members={name: (Negation(place),)},
    )


def _of_dependencies(
    compiled: CompiledSchema, location: SchemaLocation
) -> Iterator[Goals]:
    for keyword in ("dependencies", "dependentRequired", "dependentSchemas"):
        entries = location.schema.get(keyword)
        for name, needs in entries.items() if isinstance(entries, dict) else ():
            there = Atom(types=("object",), schema={"required": [name]})
            if isinstance(needs, list):
                for each in needs:
                    yield there, Atom(forbidden=(each,))
            else:
                yield there, Negation(compiled.child(location, (keyword, name)))


def _names(value: UntypedJson) -> list[str]:
    return value if isinstance(value, list) else []


def _of_scalars(schema: UntypedJson) -> Iterator[Atom]:
    values = list(schema["enum"]) if isinstance(schema.get("enum"), list) else []
    if "const" in schema:
        values.append(schema["const"])
    if {} in values or [] in values:
        least = {"minProperties": 1, "minItems": 1}
        yield Atom(excluded=tuple(values), schema=least)
    if values:
        yield Atom(excluded=tuple(values))
    for keyword, (opposite, step, types) in _OPPOSITES.items():
        value = schema.get(keyword)
        if is_number(value) and (step == 0 or value + step >= 0):
            yield Atom(types=types, schema={opposite: value + step})
    for keyword, opposite in (
        ("exclusiveMinimum", "maximum"),
        ("exclusiveMaximum", "minimum"),
    ):
        if is_number(schema.get(keyword)):
            yield Atom(types=_NUMBERS, schema={opposite: schema[keyword]})
    if is_number(schema.get("multipleOf")):
        yield Atom(types=_NUMBERS, not_multiples=(schema["multipleOf"],))
    if isinstance(schema.get("pattern"), str):
        yield Atom(types=("string",), not_patterns=(schema["pattern"],))


def _of_arrays(compiled: CompiledSchema, location: SchemaLocation) -> Iterator[Atom]:
    prefix, rest = item_keywords(location.schema, compiled)
    places: list[tuple[int, tuple[str, ...]]] = []
    if prefix:
        count = len(location.schema[prefix])
        places += [(index, (prefix, str(index))) for index in range(count)]
    if rest:
        places.append((len(places), (rest,)))
    for index, tokens in places:
        place = compiled.child(location, tokens)
        if not is_trivial(place.schema):
            yield Atom(
                types=("array",),
                schema={"minItems": index + 1},
                elements={index: (Negation(place),)},
            )
    if location.schema.get("uniqueItems") is True:
        yield Atom(types=("array",), duplicate=True)
    if "contains" in location.schema:
        place = compiled.child(location, ("contains",))
        yield Atom(types=("array",), every=(Negation(place),))
        most = location.schema.get("maxContains")
        if is_number(most):
            yield Atom(types=("array",), schema={"minItems": most + 1}, every=(place,))


def _of_choices(compiled: CompiledSchema, location: SchemaLocation) -> Iterator[Goals]:
    schema, child = location.schema, compiled.child
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            yield tuple(
                Negation(child(location, (keyword, str(index))))
                for index in range(len(branches))
            )
    branches = schema.get("oneOf")
    count = len(branches) if isinstance(branches, list) else 0
    for one, other in islice(combinations(range(count), 2), _MOST_PAIRS):
        yield (
            child(location, ("oneOf", str(one))),
            child(location, ("oneOf", str(other))),
        )
    branches = schema.get("allOf")
    for index in range(len(branches) if isinstance(branches, list) else 0):
        yield (Negation(child(location, ("allOf", str(index)))),)
    if "not" in schema:
        yield (child(location, ("not",)),)
    if "if" in schema and "then" in schema:
        yield child(location, ("if",)), Negation(child(location, ("then",)))
    if "if" in schema and "else" in schema:
        yield Negation(child(location, ("if",))), Negation(child(location, ("else",)))
