"""How a value can fail a schema: the ways, each as goals for the search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.instances.goals import Atom, Goals, Negation
from curation.instances.merging import ALL_TYPES, is_number
from curation.instances.shapes import item_keywords

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.documents import Json
    from curation.instances.subject import Node, Subject

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
_EXTRA_NAMES = ("extra", "additional", "other")


def denials(subject: Subject, node: Node) -> list[Goals]:
    """Return the ways to fail the schema of a place, the most natural first.

    They need not be all: what no way is known for is left to chance.
    """
    found = subject.denials.get(node)
    if found is None:
        # A schema that refers to itself is denied by its other keywords.
        subject.denials[node] = []
        found = subject.denials[node] = list(_ways(subject, node))
    return list(found)


def _ways(subject: Subject, node: Node) -> Iterator[Goals]:
    schema = node.schema
    if not isinstance(schema, dict):
        return
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        target = subject.target(node, keyword) if keyword in schema else None
        if target is not None:
            yield (Negation(target),)
    if "$ref" in schema and subject.dialect.ref_hides_siblings:
        return
    for each in _of_objects(subject, node):
        yield (each,)
    for each in _of_scalars(schema):
        yield (each,)
    yield from _of_arrays(subject, node)
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
        if members[name] in (True, {}):
            continue
        place = subject.child(node, ("properties", name))
        yield Atom(
            types=("object",),
            schema={"required": [name]},
            members={name: (Negation(place),)},
        )
    if "additionalProperties" in schema:
        name = next(each for each in _EXTRA_NAMES if each not in (members or ()))
        place = subject.child(node, ("additionalProperties",))
        yield Atom(
            types=("object",),
            schema={"required": [name]},
            members={name: (Negation(place),)},
        )


def _names(value: Json) -> list[str]:
    return value if isinstance(value, list) else []


def _of_scalars(schema: Json) -> Iterator[Atom]:
    if isinstance(schema.get("enum"), list):
        yield Atom(excluded=tuple(schema["enum"]))
    if "const" in schema:
        yield Atom(excluded=(schema["const"],))
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
    if isinstance(schema.get("pattern"), str):
        yield Atom(types=("string",), not_patterns=(schema["pattern"],))


def _of_arrays(subject: Subject, node: Node) -> Iterator[Goals]:
    prefix, rest = item_keywords(node.schema, subject)
    places: list[tuple[int, tuple[str, ...]]] = []
    if prefix:
        count = len(node.schema[prefix])
        places += [(index, (prefix, str(index))) for index in range(count)]
    if rest:
        places.append((len(places), (rest,)))
    for index, tokens in places:
        place = subject.child(node, tokens)
        if place.schema not in (True, {}):
            yield (
                Atom(
                    types=("array",),
                    schema={"minItems": index + 1},
                    elements={index: (Negation(place),)},
                ),
            )


def _of_choices(subject: Subject, node: Node) -> Iterator[Goals]:
    schema, child = node.schema, subject.child
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            yield tuple(
                Negation(child(node, (keyword, str(index))))
                for index in range(len(branches))
            )
    branches = schema.get("allOf")
    for index in range(len(branches) if isinstance(branches, list) else 0):
        yield (Negation(child(node, ("allOf", str(index)))),)
    if "not" in schema:
        yield (child(node, ("not",)),)
    if "if" in schema and "then" in schema:
        yield child(node, ("if",)), Negation(child(node, ("then",)))
    if "if" in schema and "else" in schema:
        yield Negation(child(node, ("if",))), Negation(child(node, ("else",)))
