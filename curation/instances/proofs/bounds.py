"""Proofs from bounds: of numbers, of lengths, of elements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.keyword_values import item_keywords
from curation.instances.proofs.universal_verdicts import schema_verdict
from curation.instances.regex.parser import parse
from curation.json.values import identity, is_number

if TYPE_CHECKING:
    from curation.instances.proofs.question import ImplicationQuestion
    from curation.schema.locations import SchemaLocation

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


def lengths(question: ImplicationQuestion) -> bool:
    """No text that matches the pattern or format has another length."""
    if question.keyword not in ("minLength", "maxLength"):
        return False
    spans = [_of_pattern(each) for each in question.values("pattern")]
    spans += [_FORMAT_LENGTHS.get(each, _ANY) for each in question.values("format")]
    if question.keyword == "minLength":
        return any(low >= question.operand for low, _ in spans)
    return any(high <= question.operand for _, high in spans)


_ANY: Final = (0, math.inf)


def _of_pattern(pattern: str) -> tuple[float, float]:
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
        mine = _low(question.location, keyword, kind)
        return any(
            _low(part, word, kind) >= mine
            for part, word in question.others
            if word in ("minimum", "exclusiveMinimum")
        )
    if keyword in ("maximum", "exclusiveMaximum"):
        mine = _high(question.location, keyword, kind)
        return any(
            _high(part, word, kind) <= mine
            for part, word in question.others
            if word in ("maximum", "exclusiveMaximum")
        )
    return False


def _low(location: SchemaLocation, keyword: str, kind: str) -> tuple[float, bool]:
    """Return the least number allowed, and whether it is itself refused."""
    bound, exclusive = location.schema[keyword], keyword == "exclusiveMinimum"
    if bound is True:
        bound = location.schema["minimum"]
    if kind == "integer":
        return (math.floor(bound) + 1 if exclusive else math.ceil(bound)), False
    return bound, exclusive


def _high(location: SchemaLocation, keyword: str, kind: str) -> tuple[float, bool]:
    """Return the greatest number allowed, and whether it is itself allowed."""
    bound, exclusive = location.schema[keyword], keyword == "exclusiveMaximum"
    if bound is True:
        bound = location.schema["maximum"]
    if kind == "integer":
        return (math.ceil(bound) - 1 if exclusive else math.floor(bound)), True
    return bound, not exclusive


def item_count(question: ImplicationQuestion) -> bool:
    """Other keywords leave no array with such a number of elements."""
    keyword = question.keyword
    if keyword == "minItems":
        return float(question.operand) <= _least_contained(question)
    if keyword == "maxItems":
        return min(_most_items(question), _distinct(question)) <= float(
            question.operand
        )
    if keyword == "uniqueItems":
        counts = [*question.values("maxItems"), _most_items(question)]
        return float(min(counts)) <= 1
    if keyword in ("additionalItems", "items"):
        most = float(min([*question.values("maxItems"), math.inf]))
        prefix, _ = item_keywords(question.schema, question.compiled.dialect)
        return most <= (len(question.schema[prefix]) if prefix else 0)
    if keyword in ("contains", "minContains"):
        return _nothing_is_contained(question)
    return False


def _least_contained(question: ImplicationQuestion) -> float:
    least: list[float] = [1 for _ in question.values("contains")]
    least += [each for each in question.values("minContains") if is_number(each)]
    return max([*least, 0])


def _most_items(question: ImplicationQuestion) -> float:
    """Return how many elements a closed list of places leaves."""
    most = math.inf
    for part, word in question.others:
        if word in ("additionalItems", "items") and part.schema[word] is False:
            prefix, _ = item_keywords(part.schema, question.compiled.dialect)
            most = min(most, len(part.schema[prefix]) if prefix else 0)
    return most


def _distinct(question: ImplicationQuestion) -> float:
    """Return how many elements can differ where they must."""
    if True not in question.values("uniqueItems"):
        return math.inf
    shape = question.shape
    goals = shape.item_goals(shape.prefix_length())
    values = conjoin(question.compiled, goals).values if goals else None
    if shape.prefix_length() or values is None:
        return math.inf
    return len({identity(each) for each in values})


def _nothing_is_contained(question: ImplicationQuestion) -> bool:
    """Tell whether only the empty array can fail, and that is too short."""
    compiled = question.compiled
    place = compiled.child(question.location, ("contains",))
    every = all(
        schema_verdict(compiled, place, kind) is True for kind in question.shape.types
    )
    least = question.schema.get("minContains", 1)
    longest = max([*question.values("minItems"), 0])
    return every and bool(longest >= least)
