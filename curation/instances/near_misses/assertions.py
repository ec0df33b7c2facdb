"""Assertions: the keywords of a schema that can refuse an instance."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from curation.instances.constraints.compiled_schema import CompiledSchema, memo
from curation.instances.constraints.conjunction import Conjunction, Goals, conjoin
from curation.instances.constraints.keyword_values import (
    accepts_everything,
    asserted_formats,
    read_array,
    read_names,
)
from curation.instances.judging.violations import FALSE, keyword_pointer
from curation.instances.values import strings
from curation.json.values import is_number
from curation.schema.subschemas import SchemaLocation

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.schema.dialects import Dialect

    _Schema = Mapping[str, Json]
    _Test = Callable[[_Schema, Json], bool]

_TYPES: Final = frozenset({"string", "object", "array", "number", "boolean", "null"})


def asserting_keywords(schema: Json, dialect: Dialect) -> tuple[str, ...]:
    """Return the keywords that some value may fail, in schema order.

    `minLength: 0`, `uniqueItems: false`, `not: false` and their like never fail.

    Example:
        >>> asserting_keywords({"minLength": 0, "maxLength": 9, "title": "t"}, DRAFT_07)
        ('maxLength',)
    """
    if not isinstance(schema, dict):
        return ()
    return tuple(keyword for keyword in schema if _can_fail(schema, keyword, dialect))


def _can_fail(schema: _Schema, keyword: str, dialect: Dialect) -> bool:
    value = schema[keyword]
    if keyword == "format":
        return isinstance(value, str) and value in asserted_formats(dialect)
    if keyword == "contains":
        # Beside `minContains` or `maxContains` jsonschema-rs names that keyword.
        counts = dialect.assertions & {"minContains", "maxContains"}
        return keyword in dialect.effective and counts.isdisjoint(schema)
    test = _CAN_FAIL.get(keyword)
    return test is not None and keyword in dialect.effective and test(schema, value)


def _is_above_zero(_: _Schema, value: Json) -> bool:
    return is_number(value) and value > 0


def _is_bound(flag: str) -> _Test:
    """Draft-04's boolean flag takes the place of the bound next to it."""
    return lambda schema, value: is_number(value) and schema.get(flag) is not True


def _is_exclusive_bound(bound: str) -> _Test:
    return lambda schema, value: is_number(
        schema.get(bound) if value is True else value
    )


#: Whether a keyword can fail, by the schema and the keyword's value.
_CAN_FAIL: Final[dict[str, _Test]] = {
    "type": lambda _, value: not set(read_names(value)) >= _TYPES,
    "enum": lambda _, value: isinstance(value, list),
    "const": lambda _, __: True,
    "minimum": _is_bound("exclusiveMinimum"),
    "maximum": _is_bound("exclusiveMaximum"),
    "exclusiveMinimum": _is_exclusive_bound("minimum"),
    "exclusiveMaximum": _is_exclusive_bound("maximum"),
    "pattern": lambda _, value: isinstance(value, str),
    "uniqueItems": lambda _, value: value is True,
    "minContains": lambda schema, value: (
        "contains" in schema and _is_above_zero(schema, value)
    ),
    "maxContains": lambda schema, _: "contains" in schema,
    "additionalItems": lambda schema, value: (
        value is False and isinstance(schema.get("items"), list)
    ),
    "required": lambda schema, _: bool(read_array(schema, "required")),
    "anyOf": lambda _, value: (
        isinstance(value, list) and not any(map(accepts_everything, value))
    ),
    "oneOf": lambda _, value: (
        isinstance(value, list)
        and (len(value) > 1 or not any(map(accepts_everything, value)))
    ),
    "not": lambda _, value: value is not False,
    "if": lambda schema, value: (
        not (
            (value is False or accepts_everything(schema.get("then", True)))
            and (
                accepts_everything(value)
                or accepts_everything(schema.get("else", True))
            )
        )
    ),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), _is_above_zero),
    **dict.fromkeys(
        ("multipleOf", "maxLength", "maxItems", "maxProperties"),
        lambda _, value: is_number(value),
    ),
    **dict.fromkeys(("items", "additionalProperties"), lambda _, value: value is False),
    **dict.fromkeys(
        ("unevaluatedItems", "unevaluatedProperties", "propertyNames"),
        lambda _, value: not accepts_everything(value),
    ),
    **dict.fromkeys(
        ("dependencies", "dependentRequired", "dependentSchemas"),
        lambda _, value: any(
            needs != [] and not accepts_everything(needs)
            for needs in (value.values() if isinstance(value, dict) else ())
        ),
    ),
}

#: Distinct conjunctions visited for one schema.
_MAX: Final = 1_500
#: The way to a value of an instance: names of properties, indices of elements.
Path = tuple[str | int, ...]
_EXTRA_NAMES: Final = (
    *("extra", "additional", "other", "unexpected", "another", "0", "Zz_9", "-"),
    "a b",
)


class Assertion(msgspec.Struct, frozen=True, dict=True):
    """One keyword at one location of the schema that can refuse a value."""

    location: SchemaLocation
    #: `FALSE` where the schema is `false`.
    keyword: str

    @cached_property
    def pointer(self) -> str:
        """The JSON pointer of the keyword, as a violation has it."""
        tokens = () if self.keyword == FALSE else (self.keyword,)
        return keyword_pointer(self.location, tokens)


class InstanceLocation(msgspec.Struct, frozen=True, kw_only=True):
    """A value of instances: the way to it, and everything that it must meet."""

    goals: Goals
    #: From the root of the instance.
    path: Path


class ReachableKeywords(NamedTuple):
    """The assertions of a schema, the outermost first."""

    #: Each with the values of instances that it is about.
    assertions: dict[Assertion, list[InstanceLocation]]
    #: Whether all was visited.
    complete: bool


@memo
def find_reachable_keywords(compiled: CompiledSchema) -> ReachableKeywords:
    """Return every assertion that some value of an instance meets; no one changes it.

    Beyond `_MAX` distinct conjunctions the result is not complete.
    """
    assertions: dict[Assertion, list[InstanceLocation]] = {}
    complete = True
    start = InstanceLocation(goals=(compiled.root,), path=())
    queue, visited = deque([start]), {start.goals}
    while queue:
        location = queue.popleft()
        conjunction = conjoin(compiled, location.goals)
        for assertion in list_assertions(conjunction):
            assertions.setdefault(assertion, []).append(location)
        for step, goals in _values_below(conjunction):
            path = (*location.path, step)
            if goals is None:
                for forbidding in false_locations(conjunction, step):
                    forbidden = InstanceLocation(goals=(forbidding,), path=path)
                    refused = Assertion(forbidding, FALSE)
                    assertions.setdefault(refused, []).append(forbidden)
            elif goals and goals not in visited:
                if len(visited) >= _MAX:
                    complete = False
                    continue
                visited.add(goals)
                queue.append(InstanceLocation(goals=goals, path=path))
    return ReachableKeywords(assertions, complete)


@memo
def list_assertions(conjunction: Conjunction) -> tuple[Assertion, ...]:
    """Return the assertions among the parts of a conjunction in the record."""
    return tuple(
        assertion
        for part in conjunction.locations
        if not part.document
        for assertion in assertions_at(conjunction.tree, part)
    )


@memo
def assertions_at(
    compiled: CompiledSchema, location: SchemaLocation
) -> tuple[Assertion, ...]:
    """Return the assertions of one schema."""
    keywords = asserting_keywords(location.schema, compiled.dialect)
    return tuple(Assertion(location, keyword) for keyword in keywords)


def false_locations(conjunction: Conjunction, step: str | int) -> list[SchemaLocation]:
    """Return the `false` schemas of `properties` or `items` that forbid a value.

    Args:
        conjunction: What the object or array must meet.
        step: The name of the property, or the index of the element.
    """
    locations = []
    for part in conjunction.locations:
        for keyword in ("properties", "items", "prefixItems"):
            value = part.schema.get(keyword)
            if isinstance(value, dict) and keyword == "properties":
                is_false = value.get(step) is False
            elif isinstance(value, list) and isinstance(step, int):
                is_false = step < len(value) and value[step] is False
            else:
                continue
            if is_false:
                locations.append(conjunction.tree.child(part, (keyword, str(step))))
    return locations


def _values_below(
    conjunction: Conjunction,
) -> Iterator[tuple[str | int, Goals | None]]:
    if "object" in conjunction.types:
        for name in _names(conjunction):
            yield name, goals_below(conjunction, name)
    if "array" in conjunction.types:
        limit = conjunction.counts.get("maxItems", math.inf)
        for index in range(conjunction.prefix_length() + 1):
            if index < limit:
                yield index, goals_below(conjunction, index)


def goals_below(conjunction: Conjunction, step: str | int) -> Goals | None:
    """Return the goals of a property or element; None if it is forbidden.

    What `unevaluated...` applies is left out: that keyword decides by itself.

    Args:
        conjunction: What the object or array must meet.
        step: The name of the property, or the index of the element.
    """
    goals = conjunction.member_goals(step)
    if not goals or not conjunction.unevaluated:
        return goals
    child = conjunction.tree.child
    deciding = [
        child(holder, (keyword,))
        for holder in conjunction.unevaluated
        for keyword in ("unevaluatedItems", "unevaluatedProperties")
        if keyword in holder.schema
    ]
    return tuple(goal for goal in goals if goal not in deciding)


def _names(conjunction: Conjunction) -> Iterator[str]:
    """Yield the declared names, one for each pattern, and one that is neither."""
    declared = conjunction.named_members("properties")
    patterns = tuple(conjunction.named_members("patternProperties"))
    yield from declared
    for pattern in patterns:
        name = _name(strings.StringConstraints(patterns=(pattern,)), 0)
        if name is not None:
            yield name
    if conjunction.is_map():
        shape = strings.StringConstraints(not_patterns=patterns)
        for name in (*_EXTRA_NAMES, _name(shape, 1)):
            if (
                name is not None
                and name not in declared
                and strings.matches(shape, name)
                and conjunction.allows_name(name)
            ):
                yield name
                return


def _name(shape: strings.StringConstraints, seed: int) -> str | None:
    return strings.make_string(shape, random.Random(seed))  # noqa: S311 - no secret
