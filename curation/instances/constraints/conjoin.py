"""Merge goals into one conjunction, and detect its contradictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.admission import admits, conflicts
from curation.instances.constraints.compiled_schema import CompiledSchema, memo
from curation.instances.constraints.conjunction import (
    BranchChoice,
    Conjunction,
    Containment,
    Dependency,
    ExtraConstraint,
    Goal,
    Goals,
    Negation,
)
from curation.instances.constraints.keyword_values import (
    DECIDING,
    accepts_everything,
    names_of,
    object_of,
)
from curation.json.values import identity, is_number
from curation.schema.dialects import DRAFT_2019_09

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.schema.subschemas import SchemaLocation

#: Keywords to the fields of `Conjunction` that keep the greatest value.
_GREATEST: Final = {
    "minimum": "minimum",
    "exclusiveMinimum": "exclusive_minimum",
    "minLength": "min_length",
    "minItems": "min_items",
    "minProperties": "min_properties",
}
#: Keywords to the fields of `Conjunction` that keep the least value.
_LEAST: Final = {
    "maximum": "maximum",
    "exclusiveMaximum": "exclusive_maximum",
    "maxLength": "max_length",
    "maxItems": "max_items",
    "maxProperties": "max_properties",
}
_BOUNDS: Final = frozenset({*_GREATEST, *_LEAST, "multipleOf", "uniqueItems"})


def merge(conjunction: Conjunction, part: SchemaLocation | ExtraConstraint) -> None:
    """Add what one part asserts to a conjunction.

    Args:
        conjunction: It is changed.
        part: An extra constraint, or a schema object of which references and `allOf`
            are not followed.
    """
    schema = part.schema
    _merge_types(conjunction, schema)
    _merge_bounds(conjunction, schema)
    _merge_texts(conjunction, schema)
    conjunction.required.update(dict.fromkeys(names_of(schema.get("required"))))
    if isinstance(part, ExtraConstraint):
        _merge_extra_constraint(conjunction, part)
    else:
        _merge_values(conjunction, schema)
        if not DECIDING.isdisjoint(schema):
            _merge_decisions(conjunction, part)


def _merge_extra_constraint(
    conjunction: Conjunction, constraint: ExtraConstraint
) -> None:
    if constraint.types is not None:
        allowed = constraint.types
        conjunction.types = tuple(kind for kind in conjunction.types if kind in allowed)
    conjunction.forbidden.update(constraint.forbidden)
    conjunction.excluded.extend(constraint.excluded)
    conjunction.not_patterns.extend(constraint.not_patterns)
    conjunction.not_multiples.extend(constraint.not_multiples)
    conjunction.duplicate = conjunction.duplicate or constraint.duplicate
    if constraint.extra_name:
        conjunction.extra_names.append(constraint.extra_name)


def _merge_types(conjunction: Conjunction, schema: Mapping[str, Json]) -> None:
    if schema.get("type") is None:
        return
    names = names_of(schema["type"])
    if "number" in names and "integer" not in names:
        names.insert(names.index("number") + 1, "integer")
    order = conjunction.types if conjunction.typed else names
    conjunction.types = tuple(
        kind for kind in order if kind in names and kind in conjunction.types
    )
    conjunction.typed = True


def _merge_bounds(conjunction: Conjunction, schema: Mapping[str, Json]) -> None:
    if _BOUNDS.isdisjoint(schema):
        return
    flagged = _without_flags(schema)
    for fields, tighter in ((_GREATEST, max), (_LEAST, min)):
        for keyword, name in fields.items():
            value = flagged.get(keyword, schema.get(keyword))
            if is_number(value):
                # A count may be spelled 2.0.
                value = value if keyword.endswith("imum") else int(value)
                present = getattr(conjunction, name)
                bound = value if present is None else tighter(present, value)
                setattr(conjunction, name, bound)
    step = schema.get("multipleOf")
    if is_number(step):
        conjunction.multiples.append(step)
    conjunction.unique = conjunction.unique or schema.get("uniqueItems") is True


def _without_flags(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return draft-04's boolean `exclusive...` as the later drafts spell it."""
    bounds: dict[str, Json] = {}
    for bound, flag in (
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ):
        if schema.get(flag) is True and is_number(schema.get(bound)):
            bounds[flag], bounds[bound] = schema[bound], None
    return bounds


def _merge_texts(conjunction: Conjunction, schema: Mapping[str, Json]) -> None:
    for keyword, texts in (
        ("pattern", conjunction.patterns),
        ("format", conjunction.formats),
    ):
        value = schema.get(keyword)
        if isinstance(value, str) and value not in texts:
            texts.append(value)


def _merge_values(conjunction: Conjunction, schema: Mapping[str, Json]) -> None:
    enumerated = schema.get("enum")
    lists = [enumerated] if isinstance(enumerated, list) else []
    if "const" in schema and "const" in conjunction.tree.dialect.assertions:
        lists.append([schema["const"]])
    for values in lists:
        if conjunction.values is None:
            conjunction.values = values
        else:
            identities = {identity(value) for value in values}
            conjunction.values = [
                value for value in conjunction.values if identity(value) in identities
            ]


def _merge_decisions(conjunction: Conjunction, location: SchemaLocation) -> None:
    schema, child = location.schema, conjunction.tree.child
    active = conjunction.tree.dialect.applicators
    before = _count_undecided(conjunction)
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list):
            branches = conjunction.tree.branches(location, keyword)
            conjunction.choices.append(BranchChoice(keyword, branches))
    if "not" in schema:
        conjunction.negations.append(Negation(child(location, ("not",))))
    if "if" in schema and "if" in active and ("then" in schema or "else" in schema):
        conjunction.conditionals.append(location)
    _merge_dependencies(conjunction, location)
    if "contains" in schema and "contains" in active:
        _merge_contains(conjunction, location)
    if "propertyNames" in schema and "propertyNames" in active:
        conjunction.name_locations.append(child(location, ("propertyNames",)))
    if "unevaluatedItems" in active and (
        "unevaluatedItems" in schema or "unevaluatedProperties" in schema
    ):
        conjunction.unevaluated.append(location)
    if _count_undecided(conjunction) != before:
        conjunction.unverified.append(location)


def _merge_contains(conjunction: Conjunction, location: SchemaLocation) -> None:
    schema = location.schema
    counted = "minContains" in conjunction.tree.dialect.assertions
    least = schema.get("minContains", 1) if counted else 1
    most = schema.get("maxContains") if counted else None
    contained = conjunction.tree.child(location, ("contains",))
    conjunction.contains.append(Containment(contained, int(least), most))


def _count_undecided(conjunction: Conjunction) -> int:
    """Return how much there is that a finished value must be asked about."""
    return (
        len(conjunction.negations)
        + len(conjunction.conditionals)
        + len(conjunction.dependencies)
        + len(conjunction.contains)
        + len(conjunction.unevaluated)
        + sum(choice.keyword == "oneOf" for choice in conjunction.choices)
    )


def _merge_dependencies(conjunction: Conjunction, location: SchemaLocation) -> None:
    keywords = ["dependencies"]
    if conjunction.tree.dialect.order >= DRAFT_2019_09.order:
        keywords += ["dependentRequired", "dependentSchemas"]
    for keyword in keywords:
        for name, needs in object_of(location.schema, keyword).items():
            if isinstance(needs, list):
                dependency = Dependency(name, tuple(names_of(needs)))
            elif isinstance(needs, dict | bool):
                applied = conjunction.tree.child(location, (keyword, name))
                dependency = Dependency(name, applied)
            else:
                continue
            conjunction.dependencies.append(dependency)


#: How deep required properties are looked into for a contradiction.
_LOOK_AHEAD: Final = 3


@memo
def conjoin(compiled: CompiledSchema, goals: Goals) -> Conjunction:
    """Return the conjunction of goals.

    `$ref`, `allOf` and sibling keywords are merged as the dialect says. What needs a
    decision is listed in it.

    Example:
        >>> schema = {"minimum": 2, "allOf": [{"minimum": 5}, {"type": "integer"}]}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> conjunction = conjoin(compiled, (compiled.root,))
        >>> conjunction.minimum, conjunction.types
        (5, ('integer',))
    """
    conjunction = Conjunction(tree=compiled, goals=goals)
    _flatten(conjunction)
    for part in conjunction.parts:
        merge(conjunction, part)
    _drop_contradictions(conjunction)
    return conjunction


def _flatten(conjunction: Conjunction) -> None:
    """Sort the goals into parts and negations, references and `allOf` followed."""
    tree = conjunction.tree
    stack = list(reversed(conjunction.goals))
    visited: set[Goal] = set()
    while stack:
        goal = stack.pop()
        if goal in visited:
            continue
        visited.add(goal)
        if isinstance(goal, Negation):
            conjunction.negations.append(goal)
        elif isinstance(goal, ExtraConstraint):
            conjunction.parts.append(goal)
        elif not isinstance(goal.schema, dict):
            if goal.schema is False:
                conjunction.impossible = f"{goal.pointer} is false"
        else:
            included = _included(tree, goal)
            for location in included:
                conjunction.referrers.setdefault(location, []).append(goal)
            if not (tree.dialect.ref_hides_siblings and "$ref" in goal.schema):
                conjunction.parts.append(goal)
                conjunction.locations.append(goal)
            stack.extend(reversed(included))


def _included(tree: CompiledSchema, location: SchemaLocation) -> list[SchemaLocation]:
    """Return the schemas that apply wherever the schema of a location does."""
    targets = tree.targets(location)
    if "$ref" in location.schema and tree.dialect.ref_hides_siblings:
        return targets
    return [*targets, *tree.branches(location, "allOf")]


def _drop_contradictions(conjunction: Conjunction) -> None:
    conjunction.types = tuple(
        kind for kind in conjunction.types if not conflicts(conjunction, kind)
    )
    if conjunction.values is not None:
        conjunction.values = [
            value for value in conjunction.values if admits(conjunction, value)
        ]
    for negation in conjunction.negations:
        if accepts_everything(negation.location.schema):
            pointer = negation.location.pointer
            conjunction.impossible = f"{pointer} accepts everything"
    if conjunction.impossible:
        return
    if not conjunction.types:
        conjunction.impossible = "no type is left"
    elif conjunction.values is not None and not conjunction.values:
        conjunction.impossible = "no value of enum or const is left"


def contradiction(
    compiled: CompiledSchema, conjunction: Conjunction, depth: int = _LOOK_AHEAD
) -> str:
    """Return why nothing can meet a conjunction; empty if unknown.

    Args:
        compiled: Its schema.
        conjunction: The conjunction.
        depth: Levels of required properties to check.
    """
    reason = conjunction.impossible
    if reason or not depth or conjunction.types != ("object",):
        return reason
    return _required_contradiction(conjunction, compiled, depth)


@memo
def _required_contradiction(
    conjunction: Conjunction, compiled: CompiledSchema, depth: int
) -> str:
    for name in conjunction.required:
        goals = conjunction.member_goals(name)
        if goals:
            why = contradiction(compiled, conjoin(compiled, goals), depth - 1)
            if why:
                return f"the required property {name!r}: {why}"
    return ""
