"""Proofs from the names that an object may and must have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.goals import Atom
from curation.instances.scalars.strings import StringShape, matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.instances.proofs.question import ImplicationQuestion
    from curation.schema.locations import SchemaLocation


def property_count(question: ImplicationQuestion) -> bool:
    """Other keywords leave no object with such a number of properties."""
    required = {name for each in question.values("required") for name in each}
    if question.keyword == "minProperties":
        return bool(question.operand <= len(required))
    closed = list(_closed(question))
    if question.keyword == "maxProperties":
        return any(len(left) <= question.operand for left in closed)
    if question.keyword == "required":
        least = max([*question.values("minProperties"), 0])
        return any(
            left >= {*question.operand} and len(left) <= least for left in closed
        )
    if question.keyword == "additionalProperties":
        most = float(min([*question.values("maxProperties"), math.inf]))
        return most < max(len(required), 1)
    return False


def _closed(question: ImplicationQuestion) -> Iterator[set[str]]:
    """Yield the names that each closed object leaves."""
    for part, word in question.others:
        if word == "additionalProperties" and not part.schema.get("patternProperties"):
            yield set(_members(part.schema, "properties"))


def _members(schema: dict[str, UntypedJson], keyword: str) -> dict[str, UntypedJson]:
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def names(question: ImplicationQuestion) -> bool:
    """Another keyword refuses every name that this one refuses."""
    if question.keyword == "propertyNames":
        place = question.compiled.child(question.location, ("propertyNames",))
        accepts = question.compiled.accepts
        return any(
            all(accepts(place, name) for name in left) for left in _closed(question)
        )
    if question.keyword != "additionalProperties":
        return False
    return any(
        part.schema["propertyNames"] is False or _declares_all(question, part)
        for part, word in question.others
        if word == "propertyNames"
    )


def _declares_all(question: ImplicationQuestion, part: SchemaLocation) -> bool:
    """Tell whether every name that `propertyNames` allows is declared."""
    compiled = question.compiled
    place = compiled.child(part, ("propertyNames",))
    shape = conjoin(compiled, (place, Atom(types=("string",))))
    declared = _members(question.schema, "properties")
    patterns = _members(question.schema, "patternProperties")
    if shape.values is not None:
        return all(
            each in declared
            or any(matches(StringShape(patterns=(one,)), each) for one in patterns)
            for each in shape.values
            if isinstance(each, str)
        )
    return any(each in patterns for each in shape.patterns)


def dependents(question: ImplicationQuestion) -> bool:
    """What comes with a property is required anyway, or the property cannot be."""
    if question.keyword not in ("dependencies", "dependentRequired"):
        return False
    required = {name for each in question.values("required") for name in each}
    closed = list(_closed(question))
    return all(
        (isinstance(needs, list) and {*needs} <= {*required, name})
        or any(name not in left for left in closed)
        for name, needs in question.operand.items()
    )
