"""Proofs from the names that an object may and must have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.goals import ExtraConstraint
from curation.instances.constraints.keyword_values import names_of, object_of
from curation.instances.scalars.strings import StringConstraints, matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.instances.proofs.question import ImplicationQuestion
    from curation.schema.subschemas import SchemaLocation


def property_count(question: ImplicationQuestion) -> bool:
    """Other keywords leave no object with such a number of properties."""
    required = _required(question)
    if question.keyword == "minProperties":
        return question.bound <= len(required)
    closed = list(_closed_names(question))
    if question.keyword == "maxProperties":
        return any(len(names) <= question.bound for names in closed)
    if question.keyword == "required":
        asked = set(names_of(question.operand))
        least = max([*question.numbers("minProperties"), 0])
        return any(names >= asked and len(names) <= least for names in closed)
    if question.keyword == "additionalProperties":
        most = min([*question.numbers("maxProperties"), math.inf])
        return most < max(len(required), 1)
    return False


def _required(question: ImplicationQuestion) -> set[str]:
    return {name for value in question.values("required") for name in names_of(value)}


def _closed_names(question: ImplicationQuestion) -> Iterator[set[str]]:
    """Yield the names that each schema leaves which forbids all others."""
    for other in question.others:
        schema = other.location.schema
        closes = other.keyword == "additionalProperties"
        if closes and not schema.get("patternProperties"):
            yield set(object_of(schema, "properties"))


def names(question: ImplicationQuestion) -> bool:
    """Another keyword refuses every name that this one refuses."""
    if question.keyword == "propertyNames":
        compiled = question.compiled
        location = compiled.child(question.location, ("propertyNames",))
        return any(
            all(compiled.accepts(location, name) for name in left)
            for left in _closed_names(question)
        )
    if question.keyword != "additionalProperties":
        return False
    return any(
        other.location.schema["propertyNames"] is False
        or _declares_all(question, other.location)
        for other in question.others
        if other.keyword == "propertyNames"
    )


def _declares_all(question: ImplicationQuestion, part: SchemaLocation) -> bool:
    """Return whether every name that `propertyNames` allows is declared."""
    compiled = question.compiled
    location = compiled.child(part, ("propertyNames",))
    allowed = conjoin(compiled, (location, ExtraConstraint(types=("string",))))
    declared = object_of(question.schema, "properties")
    patterns = object_of(question.schema, "patternProperties")
    if allowed.values is not None:
        return all(
            name in declared
            or any(
                matches(StringConstraints(patterns=(pattern,)), name)
                for pattern in patterns
            )
            for name in allowed.values
            if isinstance(name, str)
        )
    return any(pattern in patterns for pattern in allowed.patterns)


def dependents(question: ImplicationQuestion) -> bool:
    """What comes with a property is required anyway, or the property cannot be."""
    if question.keyword not in ("dependencies", "dependentRequired"):
        return False
    required = _required(question)
    closed = list(_closed_names(question))
    return all(
        (isinstance(needs, list) and {*names_of(needs)} <= {*required, name})
        or any(name not in left for left in closed)
        for name, needs in object_of(question.schema, question.keyword).items()
    )
