"""Merge goals into one conjunction, and see whether it contradicts itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.constraints.admission import admits, conflicts
from curation.instances.constraints.goals import ExtraConstraint, Goal, Goals, Negation
from curation.instances.constraints.keyword_values import accepts_everything, array_of
from curation.instances.constraints.memo import Memo
from curation.instances.constraints.merging import merge
from curation.instances.constraints.model import Conjunction
from curation.schema.keywords import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.schema_tree import SchemaTree
    from curation.schema.subschemas import SchemaLocation

#: How deep required properties are looked into for a contradiction.
_LOOK_AHEAD: Final = 3
_CONJUNCTIONS: Final = Memo[Goals, Conjunction]()
#: By depth.
_CONTRADICTIONS: Final = Memo[int, str]()


def conjoin(compiled: CompiledSchema, goals: Goals) -> Conjunction:
    """Return the conjunction of goals.

    `$ref`, `allOf` and sibling keywords are merged as the dialect says. What needs a
    decision is listed in it.

    Example:
        >>> from curation.instances.constraints.compiled_schema import CompiledSchema
        >>> schema = {"minimum": 2, "allOf": [{"minimum": 5}, {"type": "integer"}]}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> conjunction = conjoin(compiled, (compiled.root,))
        >>> conjunction.minimum, conjunction.types
        (5, ('integer',))
    """
    known = _CONJUNCTIONS.of(compiled)
    found = known.get(goals)
    if found is None:
        found = Conjunction(tree=compiled, goals=goals)
        _flatten(found)
        for part in found.parts:
            merge(found, part)
        _drop_contradictions(found)
        known[goals] = found
    return found


def _flatten(conjunction: Conjunction) -> None:
    """Sort the goals into parts and negations, references and `allOf` followed."""
    tree = conjunction.tree
    stack = list(reversed(conjunction.goals))
    seen: set[Goal] = set()
    while stack:
        goal = stack.pop()
        if goal in seen:
            continue
        seen.add(goal)
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


def _included(tree: SchemaTree, location: SchemaLocation) -> list[SchemaLocation]:
    """Return the schemas that apply wherever the schema of a location does."""
    schema = location.schema
    found = []
    for keyword in REFERENCE_KEYWORDS:
        target = tree.target(location, keyword) if keyword in schema else None
        if target is not None:
            found.append(target)
    if "$ref" in schema and tree.dialect.ref_hides_siblings:
        return found
    count = len(array_of(schema, "allOf"))
    return found + [tree.child(location, ("allOf", str(at))) for at in range(count)]


def _drop_contradictions(conjunction: Conjunction) -> None:
    """Drop the types and values that plainly contradict the rest."""
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
    """Return why nothing can meet a conjunction; empty if nothing is known.

    Args:
        compiled: The schema that the conjunction is from.
        conjunction: What is to be met.
        depth: How deep required properties are looked into.
    """
    known = conjunction.impossible
    if known or not depth or conjunction.types != ("object",):
        return known
    found = _CONTRADICTIONS.of(conjunction)
    if depth not in found:
        found[depth] = _required_contradiction(compiled, conjunction, depth)
    return found[depth]


def _required_contradiction(
    compiled: CompiledSchema, conjunction: Conjunction, depth: int
) -> str:
    for name in conjunction.required:
        goals = conjunction.property_goals(name)
        if goals:
            why = contradiction(compiled, conjoin(compiled, goals), depth - 1)
            if why:
                return f"the required property {name!r}: {why}"
    return ""
