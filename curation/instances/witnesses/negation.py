"""How a value can fail a schema: the ways, each as goals for the search."""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING

from curation.instances.constraints.conjunction import is_trivial, item_keywords
from curation.instances.constraints.goals import Atom, Goals, Negation
from curation.instances.constraints.merging import ALL_TYPES, is_number
from curation.schema.dialects import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import Node, Subject

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


def ways_to_fail(subject: Subject, node: Node) -> list[Goals]:
    """Return the ways to fail the schema of a place, the most natural first.

    They need not be all: what no way is known for is left to chance.
    """
    found = subject.ways_to_fail.get(node)
    if found is None:
        # A schema that refers to itself is negated by its other keywords.
        subject.ways_to_fail[node] = []
        found = subject.ways_to_fail[node] = list(_ways(subject, node))
    return list(found)


def _ways(subject: Subject, node: Node) -> Iterator[Goals]:
    schema = node.schema
    if not isinstance(schema, dict):
        return
    for keyword in REFERENCE_KEYWORDS:
        target = subject.target(node, keyword) if keyword in schema else None
        if target is not None:
            yield (Negation(target),)
    if "$ref" in schema and subject.dialect.ref_hides_siblings:
        return
    for each in _of_objects(subject, node):
        yield (each,)
    yield from _of_dependencies(subject, node)
    for each in _of_scalars(schema):
        yield (each,)
    for each in _of_arrays(subject, node):
        yield (each,)
    yield from _of_choices(subject, node)
    if "type" in schema:
        names = schema["type"]
        names = [names] if isinstance(names, str) else list(names)
        if "number" in names:
            names.append("integer")
        yield (Atom(types=tuple(each for each in ALL_TYPES if each not in names)),)


def _of_objects(subject: Subject, node: Node) -> Iterator[Atom]:
    schema = node.schema
    for name in _names(schema.get("required")):
        yield Atom(types=("object",), forbidden=(name,))
    members = schema.get("properties")
    for name in members if isinstance(members, dict) else ():
        if is_trivial(members[name]):
            continue
        yield _with_member(name, subject.child(node, ("properties", name)))
    if not is_trivial(schema.get("additionalProperties", True)):
        place = subject.child(node, ("additionalProperties",))
        for name in _EXTRA_NAMES:
            if name not in (members or ()):
                yield _with_member(name, place)

    if "unevaluatedProperties" in schema:
        place = subject.child(node, ("unevaluatedProperties",))
        yield _with_member("unevaluated", place)
    if "propertyNames" in schema:
        place = subject.child(node, ("propertyNames",))
        yield Atom(types=("object",), extra_name=(Negation(place),))


def _with_member(name: str, place: Node) -> Atom:
    """Return the demand for a property that a place refuses."""
    return Atom(
        types=("object",),
        schema={"required": [name]},
        members={name: (Negation(place),)},
    )


def _of_dependencies(subject: Subject, node: Node) -> Iterator[Goals]:
    for keyword in ("dependencies", "dependentRequired", "dependentSchemas"):
        entries = node.schema.get(keyword)
        for name, needs in entries.items() if isinstance(entries, dict) else ():
            there = Atom(types=("object",), schema={"required": [name]})
            if isinstance(needs, list):
                for each in needs:
                    yield there, Atom(forbidden=(each,))
            else:
                yield there, Negation(subject.child(node, (keyword, name)))


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


def _of_arrays(subject: Subject, node: Node) -> Iterator[Atom]:
    prefix, rest = item_keywords(node.schema, subject)
    places: list[tuple[int, tuple[str, ...]]] = []
    if prefix:
        count = len(node.schema[prefix])
        places += [(index, (prefix, str(index))) for index in range(count)]
    if rest:
        places.append((len(places), (rest,)))
    for index, tokens in places:
        place = subject.child(node, tokens)
        if not is_trivial(place.schema):
            yield Atom(
                types=("array",),
                schema={"minItems": index + 1},
                elements={index: (Negation(place),)},
            )
    if node.schema.get("uniqueItems") is True:
        yield Atom(types=("array",), duplicate=True)
    if "contains" in node.schema:
        place = subject.child(node, ("contains",))
        yield Atom(types=("array",), every=(Negation(place),))
        most = node.schema.get("maxContains")
        if is_number(most):
            yield Atom(types=("array",), schema={"minItems": most + 1}, every=(place,))


def _of_choices(subject: Subject, node: Node) -> Iterator[Goals]:
    schema, child = node.schema, subject.child
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            yield tuple(
                Negation(child(node, (keyword, str(index))))
                for index in range(len(branches))
            )
    branches = schema.get("oneOf")
    count = len(branches) if isinstance(branches, list) else 0
    for one, other in islice(combinations(range(count), 2), _MOST_PAIRS):
        yield child(node, ("oneOf", str(one))), child(node, ("oneOf", str(other)))
    branches = schema.get("allOf")
    for index in range(len(branches) if isinstance(branches, list) else 0):
        yield (Negation(child(node, ("allOf", str(index)))),)
    if "not" in schema:
        yield (child(node, ("not",)),)
    if "if" in schema and "then" in schema:
        yield child(node, ("if",)), Negation(child(node, ("then",)))
    if "if" in schema and "else" in schema:
        yield Negation(child(node, ("if",))), Negation(child(node, ("else",)))
