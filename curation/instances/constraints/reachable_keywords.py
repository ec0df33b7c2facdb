"""Which keywords can refuse an instance at all: the assertions that near misses cover.

An assertion is a keyword at a schema location that applies to some value of the
instance, reached through `$ref`, `allOf`, `properties`, `items` and the like. What
stands below a keyword that decides by itself (`anyOf`, `not`, ...) is none: there that
keyword is the one that fails.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from curation.instances.constraints.assertions import asserting_keywords
from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.goals import Goals
from curation.instances.constraints.keyword_values import object_of
from curation.instances.constraints.memo import Memo
from curation.instances.constraints.violations import FALSE, keyword_pointer
from curation.instances.scalars import strings
from curation.schema.subschemas import SchemaLocation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.model import Conjunction
    from curation.schema.dialects import Dialect

#: Distinct conjunctions visited for one schema.
_MOST: Final = 1_500
#: The way to a value of an instance: names of properties, indices of elements.
Path = tuple[str | int, ...]
_EXTRA_NAMES: Final = (
    "extra",
    "additional",
    "other",
    "unexpected",
    "another",
    "0",
    "Zz_9",
    "-",
    "a b",
)


class Assertion(msgspec.Struct, frozen=True):
    """One keyword at one location of the schema that can refuse a value."""

    location: SchemaLocation
    #: `FALSE` where the schema is `false`.
    keyword: str

    @property
    def pointer(self) -> str:
        """The JSON pointer of the keyword, as a violation has it."""
        tokens = () if self.keyword == FALSE else (self.keyword,)
        return keyword_pointer(self.location, tokens)


class InstanceLocation(msgspec.Struct, frozen=True, kw_only=True):
    """A value of instances: the way to it, and everything that it must meet."""

    goals: Goals
    #: From the root of the instance.
    path: Path


@dataclass(slots=True, kw_only=True)
class ReachableKeywords:
    """The assertions of a schema, the outermost first."""

    #: Each with the values of instances that it is about.
    assertions: dict[Assertion, list[InstanceLocation]] = field(default_factory=dict)
    #: Whether all was visited.
    complete: bool = True

    def add(self, assertion: Assertion, location: InstanceLocation) -> None:
        """Take down that an assertion is about a value."""
        self.assertions.setdefault(assertion, []).append(location)


_REACHABLE: Final = Memo[int, ReachableKeywords]()
_ASSERTIONS: Final = Memo[SchemaLocation, tuple[Assertion, ...]]()


def find_reachable_keywords(
    compiled: CompiledSchema, most: int = _MOST
) -> ReachableKeywords:
    """Return every assertion that some value of an instance meets; no one changes it.

    Args:
        compiled: The schema.
        most: Distinct conjunctions to visit; beyond it the result is not complete.
    """
    known = _REACHABLE.of(compiled)
    if most not in known:
        known[most] = _walked(compiled, most)
    return known[most]


def _walked(compiled: CompiledSchema, most: int) -> ReachableKeywords:
    found = ReachableKeywords()
    start = InstanceLocation(goals=(compiled.root,), path=())
    queue, seen = deque([start]), {start.goals}
    while queue:
        location = queue.popleft()
        conjunction = conjoin(compiled, location.goals)
        for assertion in assertions_of(conjunction):
            found.add(assertion, location)
        for step, goals in _values_below(compiled, conjunction):
            path = (*location.path, step)
            if goals is None:
                _add_forbidden(found, conjunction, step, path)
            elif goals and goals not in seen:
                if len(seen) >= most:
                    found.complete = False
                    continue
                seen.add(goals)
                queue.append(InstanceLocation(goals=goals, path=path))
    return found


def assertions_of(conjunction: Conjunction) -> tuple[Assertion, ...]:
    """Return the assertions among the parts of a conjunction."""
    found = list[Assertion]()
    known, dialect = _ASSERTIONS.of(conjunction.tree), conjunction.tree.dialect
    for part in conjunction.locations:
        own = known.get(part)
        if own is None:
            own = known[part] = _assertions_at(part, dialect)
        found += own
    return tuple(found)


def _assertions_at(location: SchemaLocation, dialect: Dialect) -> tuple[Assertion, ...]:
    """Return the assertions of one schema object; none outside of the record."""
    if location.document:
        return ()
    keywords = asserting_keywords(location.schema, dialect)
    return tuple(Assertion(location, keyword) for keyword in keywords)


def _add_forbidden(
    found: ReachableKeywords, conjunction: Conjunction, step: str | int, path: Path
) -> None:
    """Add a property or element whose schema is plainly `false`."""
    for location in false_locations(conjunction, step):
        forbidden = InstanceLocation(goals=(location,), path=path)
        found.add(Assertion(location, FALSE), forbidden)


def false_locations(conjunction: Conjunction, step: str | int) -> list[SchemaLocation]:
    """Return the `false` schemas of `properties` or `items` that forbid a value.

    Args:
        conjunction: What the object or array must meet.
        step: The name of the property, or the index of the element.
    """
    found = []
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
                found.append(conjunction.tree.child(part, (keyword, str(step))))
    return found


def _values_below(
    compiled: CompiledSchema, conjunction: Conjunction
) -> Iterator[tuple[str | int, Goals | None]]:
    if "object" in conjunction.types:
        for name in _names(compiled, conjunction):
            yield name, goals_below(conjunction, name)
    if "array" in conjunction.types and conjunction.max_items != 0:
        most = conjunction.max_items
        for index in range(conjunction.prefix_length() + 1):
            if most is None or index < most:
                yield index, goals_below(conjunction, index)


def goals_below(conjunction: Conjunction, step: str | int) -> Goals | None:
    """Return what a property or element must meet; None if it must not be there.

    What `unevaluated...` applies is left out: that keyword decides by itself.

    Args:
        conjunction: What the object or array must meet.
        step: The name of the property, or the index of the element.
    """
    if isinstance(step, int):
        goals = conjunction.item_goals(step)
    else:
        goals = conjunction.property_goals(step)
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


def _names(compiled: CompiledSchema, conjunction: Conjunction) -> list[str]:
    """Return the declared names, one for each pattern, and one that is neither."""
    declared: dict[str, None] = {}
    patterns: dict[str, None] = {}
    for part in conjunction.locations:
        declared.update(dict.fromkeys(object_of(part.schema, "properties")))
        patterns.update(dict.fromkeys(object_of(part.schema, "patternProperties")))
    names = [*declared, *map(_matching_name, patterns)]
    if conjunction.is_map():
        names.append(_extra_name(compiled, conjunction, declared, tuple(patterns)))
    return [name for name in names if name is not None]


def _matching_name(pattern: str) -> str | None:
    """Return a name that a pattern of `patternProperties` matches, or None."""
    shape = strings.StringConstraints(patterns=(pattern,))
    return strings.make_string(shape, random.Random(0))  # noqa: S311 - no secret


def _extra_name(
    compiled: CompiledSchema,
    conjunction: Conjunction,
    declared: dict[str, None],
    patterns: tuple[str, ...],
) -> str | None:
    """Return a name that is not declared and that no pattern matches, or None."""
    shape = strings.StringConstraints(not_patterns=patterns)
    drawn = strings.make_string(shape, random.Random(1))  # noqa: S311 - no secret
    for name in (*_EXTRA_NAMES, drawn):
        if (
            name is not None
            and name not in declared
            and strings.matches(shape, name)
            and all(
                compiled.accepts(location, name)
                for location in conjunction.name_locations
            )
        ):
            return name
    return None
