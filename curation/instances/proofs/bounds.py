"""Proofs from bounds: of numbers, of lengths, of elements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.keyword_values import (
    array_of,
    item_keywords,
    number_of,
)
from curation.instances.proofs.universal_verdicts import schema_verdict
from curation.instances.regex.parser import parse
from curation.json.values import identity, is_number

if TYPE_CHECKING:
    from curation.instances.constraints.reachable_keywords import Assertion
    from curation.instances.proofs.question import ImplicationQuestion
    from curation.schema.subschemas import SchemaLocation

#: The lengths of what jsonschema-rs takes for an instance of a format.
_FORMAT_LENGTHS: Final[dict[str, tuple[int, float]]] = {
    "date": (10, 10),
    "date-time": (20, math.inf),
    "time": (9, math.inf),
    "duration": (3, math.inf),
    "email": (3, 320),
    "idn-email": (3, math.inf),
    "hostname": (1, 253),
    "ipv4": (7, 15),
    "ipv6": (2, 45),
    "uri": (2, math.inf),
    "iri": (2, math.inf),
    "uuid": (36, 36),
    "relative-json-pointer": (1, math.inf),
}
_ANY: Final = (0, math.inf)


def lengths(question: ImplicationQuestion) -> bool:
    """No text that matches the pattern or format has another length."""
    if question.keyword not in ("minLength", "maxLength"):
        return False
    spans = [_pattern_lengths(pattern) for pattern in question.texts("pattern")]
    spans += [_FORMAT_LENGTHS.get(name, _ANY) for name in question.texts("format")]
    if question.keyword == "minLength":
        return any(low >= question.bound for low, _ in spans)
    return any(high <= question.bound for _, high in spans)


def _pattern_lengths(pattern: str) -> tuple[float, float]:
    """Return the least and the greatest length of a text that matches."""
    found = parse(pattern)
    if found is None:
        return _ANY
    high = found.root.high
    whole = found.starts and found.ends and high is not None
    return found.root.low, high if whole and high is not None else math.inf


def tighter_bound(question: ImplicationQuestion) -> bool:
    """Another bound leaves less."""
    kind, keyword = question.kind, question.keyword
    if keyword in ("minimum", "exclusiveMinimum"):
        low = _low(question.assertion, kind)
        return any(
            _low(other, kind) >= low
            for other in question.others
            if other.keyword in ("minimum", "exclusiveMinimum")
        )
    if keyword in ("maximum", "exclusiveMaximum"):
        high = _high(question.assertion, kind)
        return any(
            _high(other, kind) <= high
            for other in question.others
            if other.keyword in ("maximum", "exclusiveMaximum")
        )
    return False


def _low(assertion: Assertion, kind: str) -> tuple[float, bool]:
    """Return the least number allowed, and whether it is itself refused."""
    bound = _bound(assertion, "minimum")
    exclusive = assertion.keyword == "exclusiveMinimum"
    if kind == "integer":
        return (math.floor(bound) + 1 if exclusive else math.ceil(bound)), False
    return bound, exclusive


def _high(assertion: Assertion, kind: str) -> tuple[float, bool]:
    """Return the greatest number allowed, and whether it is itself allowed."""
    bound = _bound(assertion, "maximum")
    exclusive = assertion.keyword == "exclusiveMaximum"
    if kind == "integer":
        return (math.ceil(bound) - 1 if exclusive else math.floor(bound)), True
    return bound, not exclusive


def _bound(assertion: Assertion, flagged: str) -> float:
    """Return the number of a bound; draft-04's flag speaks of the keyword beside it."""
    schema = assertion.location.schema
    is_flag = schema[assertion.keyword] is True
    return number_of(schema, flagged if is_flag else assertion.keyword)


def item_count(question: ImplicationQuestion) -> bool:
    """Other keywords leave no array with such a number of elements."""
    keyword = question.keyword
    if keyword == "minItems":
        return question.bound <= _least_contained(question)
    if keyword == "maxItems":
        return min(_most_items(question), _distinct(question)) <= question.bound
    if keyword == "uniqueItems":
        return min([*question.numbers("maxItems"), _most_items(question)]) <= 1
    if keyword in ("additionalItems", "items"):
        most = min([*question.numbers("maxItems"), math.inf])
        return most <= _prefix_length(question, question.location)
    if keyword in ("contains", "minContains"):
        return _nothing_is_contained(question)
    return False


def _prefix_length(question: ImplicationQuestion, location: SchemaLocation) -> int:
    """Return how many elements have a schema of their own."""
    prefix, _ = item_keywords(location.schema, question.compiled.dialect)
    return len(array_of(location.schema, prefix)) if prefix else 0


def _least_contained(question: ImplicationQuestion) -> float:
    least = [1 for _ in question.values("contains")]
    return max([*least, *question.numbers("minContains"), 0])


def _most_items(question: ImplicationQuestion) -> float:
    """Return how many elements there are schemas for where no other may follow."""
    most = math.inf
    for other in question.others:
        if other.keyword in ("additionalItems", "items"):
            location = other.location
            if location.schema[other.keyword] is False:
                most = min(most, _prefix_length(question, location))
    return most


def _distinct(question: ImplicationQuestion) -> float:
    """Return how many elements can differ where they must."""
    if True not in question.values("uniqueItems"):
        return math.inf
    prefix_length = question.conjunction.prefix_length()
    goals = question.conjunction.item_goals(prefix_length)
    values = conjoin(question.compiled, goals).values if goals else None
    if prefix_length or values is None:
        return math.inf
    return len({identity(value) for value in values})


def _nothing_is_contained(question: ImplicationQuestion) -> bool:
    """Return whether only the empty array can fail, and that is too short."""
    compiled = question.compiled
    location = compiled.child(question.location, ("contains",))
    every = all(
        schema_verdict(compiled, location, kind) is True
        for kind in question.conjunction.types
    )
    least = question.schema.get("minContains", 1)
    longest = max([*question.numbers("minItems"), 0])
    return every and is_number(least) and longest >= least
