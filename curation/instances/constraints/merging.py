"""Add what one schema object asserts to a conjunction."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from curation.instances.constraints.admission import identity
from curation.instances.constraints.goals import (
    Atom,
    BranchChoice,
    Containment,
    Dependency,
    Negation,
)
from curation.schema.dialects import DRAFT_2019_09

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.conjunction import Conjunction
    from curation.schema.locations import SchemaLocation

#: "integer" and "number" are disjoint here: whole numbers, and the others.
ALL_TYPES = ("string", "object", "array", "integer", "number", "boolean", "null")
_MOST = {
    "minimum": "minimum",
    "exclusiveMinimum": "exclusive_minimum",
    "minLength": "min_length",
    "minItems": "min_items",
    "minProperties": "min_properties",
}
_LEAST = {
    "maximum": "maximum",
    "exclusiveMaximum": "exclusive_maximum",
    "maxLength": "max_length",
    "maxItems": "max_items",
    "maxProperties": "max_properties",
}
_BOUNDS = frozenset({*_MOST, *_LEAST, "multipleOf", "uniqueItems"})
#: Keywords that leave something to decide or to ask about.
_DECISIONS = frozenset(
    {
        "anyOf",
        "oneOf",
        "not",
        "if",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "contains",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)


def merge(shape: Conjunction, part: SchemaLocation | Atom) -> None:
    """Add everything that one part asserts; references and allOf are done."""
    schema = part.schema
    _types(shape, schema)
    _bounds(shape, schema)
    _strings(shape, schema)
    names = schema.get("required")
    if isinstance(names, list):
        shape.required.update(dict.fromkeys(names))
    if isinstance(part, Atom):
        if part.types is not None:
            left = part.types
            shape.types = tuple(each for each in shape.types if each in left)
        shape.forbidden.update(part.forbidden)
        shape.excluded.extend(part.excluded)
        shape.not_patterns.extend(part.not_patterns)
        shape.not_multiples.extend(part.not_multiples)
        shape.duplicate = shape.duplicate or part.duplicate
        if part.extra_name:
            shape.extra_names.append(part.extra_name)
    else:
        _values(shape, schema)
        if not _DECISIONS.isdisjoint(schema):
            _decisions(shape, part)


def _types(shape: Conjunction, schema: UntypedJson) -> None:
    named = schema.get("type")
    if named is None:
        return
    names = [named] if isinstance(named, str) else list(named)
    if "number" in names and "integer" not in names:
        names.insert(names.index("number") + 1, "integer")
    order = shape.types if shape.typed else names
    shape.types = tuple(each for each in order if each in names and each in shape.types)
    shape.typed = True


def _bounds(shape: Conjunction, schema: UntypedJson) -> None:
    if _BOUNDS.isdisjoint(schema):
        return
    flagged = _flagged(schema)
    for names, tighter in ((_MOST, max), (_LEAST, min)):
        for keyword, name in names.items():
            value = flagged.get(keyword, schema.get(keyword))
            if is_number(value):
                present = getattr(shape, name)
                value = value if present is None else tighter(present, value)
                setattr(shape, name, value)
    if is_number(schema.get("multipleOf")):
        shape.multiples.append(schema["multipleOf"])
    shape.unique = shape.unique or schema.get("uniqueItems") is True


def _flagged(schema: UntypedJson) -> dict[str, UntypedJson]:
    """Return draft-04's boolean `exclusive...` as the later drafts spell it."""
    found: dict[str, UntypedJson] = {}
    for bound, flag in (
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ):
        if schema.get(flag) is True and is_number(schema.get(bound)):
            found[flag], found[bound] = schema[bound], None
    return found


def is_number(value: UntypedJson) -> TypeGuard[int | float]:
    """Return whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _strings(shape: Conjunction, schema: UntypedJson) -> None:
    for keyword, known in (("pattern", shape.patterns), ("format", shape.formats)):
        value = schema.get(keyword)
        if isinstance(value, str) and value not in known:
            known.append(value)


def _values(shape: Conjunction, schema: UntypedJson) -> None:
    found = [schema["enum"]] if isinstance(schema.get("enum"), list) else []
    if "const" in schema and "const" in shape.compiled.dialect.assertions:
        found.append([schema["const"]])
    for values in found:
        if shape.values is None:
            shape.values = values
        else:
            known = {identity(each) for each in values}
            shape.values = [each for each in shape.values if identity(each) in known]


def _decisions(shape: Conjunction, location: SchemaLocation) -> None:
    schema, child = location.schema, shape.compiled.child
    active = shape.compiled.dialect.applicators
    before = _weight(shape)
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            locations = (
                child(location, (keyword, str(at))) for at in range(len(branches))
            )
            shape.choices.append(BranchChoice(keyword, location, tuple(locations)))
    if "not" in schema:
        shape.negations.append(Negation(child(location, ("not",))))
    if "if" in schema and "if" in active and ("then" in schema or "else" in schema):
        shape.conditionals.append(location)
    _dependencies(shape, location)
    if "contains" in schema and "contains" in active:
        counted = "minContains" in shape.compiled.dialect.assertions
        least = schema.get("minContains", 1) if counted else 1
        most = schema.get("maxContains") if counted else None
        place = child(location, ("contains",))
        shape.contains.append(Containment(place, int(least), most))
    if "propertyNames" in schema and "propertyNames" in active:
        shape.name_locations.append(child(location, ("propertyNames",)))
    if "unevaluatedItems" in active and (
        "unevaluatedItems" in schema or "unevaluatedProperties" in schema
    ):
        shape.unevaluated.append(location)
    if _weight(shape) != before:
        shape.risky.append(location)


def _weight(shape: Conjunction) -> int:
    """Return how much there is that a finished value must be asked about."""
    return (
        len(shape.negations)
        + len(shape.conditionals)
        + len(shape.dependencies)
        + len(shape.contains)
        + len(shape.unevaluated)
        + sum(each.keyword == "oneOf" for each in shape.choices)
    )


def _dependencies(shape: Conjunction, location: SchemaLocation) -> None:
    for keyword in ("dependencies", "dependentRequired", "dependentSchemas"):
        entries = location.schema.get(keyword)
        if not isinstance(entries, dict) or keyword not in _known(shape):
            continue
        for name, needs in entries.items():
            if isinstance(needs, list):
                shape.dependencies.append(Dependency(name, tuple(needs)))
            elif isinstance(needs, dict | bool):
                place = shape.compiled.child(location, (keyword, name))
                shape.dependencies.append(Dependency(name, place))


def _known(shape: Conjunction) -> tuple[str, ...]:
    """Return the keywords of dependency that the validator knows."""
    if shape.compiled.dialect.order < DRAFT_2019_09.order:
        return ("dependencies",)
    return ("dependencies", "dependentRequired", "dependentSchemas")
