"""Which keywords can refuse an instance at all: the pairs that near misses cover.

A pair is a keyword at a place that applies to some value of the instance, reached
through `$ref`, `allOf`, `properties`, `items` and the like. What stands below a
keyword that decides by itself (`anyOf`, `not`, ...) is no pair: there that keyword
is the one that fails.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.instances.constraints.assertions import asserting_keywords
from curation.instances.constraints.conjunction import Conjunction, conjoin
from curation.instances.constraints.violations import FALSE, where
from curation.instances.scalars import strings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.goals import Goals
    from curation.schema.locations import SchemaLocation

#: Distinct conjunctions visited for one schema.
_MOST = 1_500
#: Where an instance is entered: a name, or an index.
Path = tuple[str | int, ...]
_EXTRA = ("extra", "additional", "other", "unexpected", "another")


@dataclass(frozen=True, slots=True)
class Assertion:
    """One keyword at one place of the schema."""

    location: SchemaLocation
    keyword: str

    @property
    def pointer(self) -> str:
        """Where the keyword stands, as labels spell it."""
        return where(self.location, () if self.keyword == FALSE else (self.keyword,))


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceLocation:
    """Everything that applies together where a place applies, and a way there."""

    goals: Goals
    #: From the root of the instance to the value.
    path: Path


@dataclass(slots=True, kw_only=True)
class ReachableKeywords:
    """The pairs of a schema, the outermost first."""

    contexts: dict[Assertion, list[InstanceLocation]] = field(default_factory=dict)
    #: Whether all was visited.
    complete: bool = True


def reach(compiled: CompiledSchema, most: int = _MOST) -> ReachableKeywords:
    """Return every pair that some value of an instance meets."""
    found = ReachableKeywords()
    start = InstanceLocation(goals=(compiled.root,), path=())
    queue, seen = deque([start]), {start.goals}
    while queue:
        context = queue.popleft()
        shape = conjoin(compiled, context.goals)
        for pair in pairs_of(shape):
            found.contexts.setdefault(pair, []).append(context)
        for step, goals in _below(shape):
            path = (*context.path, step)
            if goals is None:
                _forbidden(found, shape, step, path)
            elif goals and goals not in seen:
                if len(seen) >= most:
                    found.complete = False
                    continue
                seen.add(goals)
                queue.append(InstanceLocation(goals=goals, path=path))
    return found


def pairs_of(shape: Conjunction) -> tuple[Assertion, ...]:
    """Return the keywords that assert something among the parts of a shape."""
    dialect = shape.compiled.dialect
    return tuple(
        Assertion(part, keyword)
        for part in shape.locations()
        if not part.document
        for keyword in asserting_keywords(part.schema, dialect)
    )


def _forbidden(
    found: ReachableKeywords, shape: Conjunction, step: str | int, path: Path
) -> None:
    """Count a property or element whose schema is plainly `false`."""
    for location in false_places(shape, step):
        context = InstanceLocation(goals=(location,), path=path)
        found.contexts.setdefault(Assertion(location, FALSE), []).append(context)


def false_places(shape: Conjunction, step: str | int) -> list[SchemaLocation]:
    """Return the `false` schemas that forbid a property or element by its place."""
    compiled, found = shape.compiled, []
    for part in shape.locations():
        for keyword in ("properties", "items", "prefixItems"):
            value, key = part.schema.get(keyword), str(step)
            if isinstance(value, dict) and keyword == "properties":
                is_false = value.get(step) is False
            elif isinstance(value, list) and isinstance(step, int):
                is_false = step < len(value) and value[step] is False
            else:
                continue
            if is_false:
                found.append(compiled.child(part, (keyword, key)))
    return found


def _below(shape: Conjunction) -> Iterator[tuple[str | int, Goals | None]]:
    if "object" in shape.types:
        for name in _names(shape):
            yield name, below(shape, name)
    if "array" in shape.types and shape.max_items != 0:
        for index in range(shape.prefix_length() + 1):
            if shape.max_items is None or index < shape.max_items:
                yield index, below(shape, index)


def below(shape: Conjunction, step: str | int) -> Goals | None:
    """Return what applies to a property or element; None if it must not be there.

    What `unevaluated...` applies is left out: that keyword decides by itself.
    """
    if isinstance(step, int):
        goals = shape.item_goals(step)
    else:
        goals = shape.property_goals(step)
    if not goals or not shape.unevaluated:
        return goals
    child = shape.compiled.child
    deciding = [
        child(holder, (keyword,))
        for holder in shape.unevaluated
        for keyword in ("unevaluatedItems", "unevaluatedProperties")
        if keyword in holder.schema
    ]
    return tuple(each for each in goals if each not in deciding)


def _names(shape: Conjunction) -> list[str]:
    """Return the declared names, one for each pattern, and one of no one's."""
    names: dict[str, None] = {}
    open_ended = False
    patterns: dict[str, None] = {}
    for part in shape.locations():
        names.update(dict.fromkeys(_object(part.schema, "properties")))
        patterns.update(dict.fromkeys(_object(part.schema, "patternProperties")))
        open_ended = open_ended or isinstance(
            part.schema.get("additionalProperties"), dict
        )
    found = list(names)
    found += [each for each in map(pattern_name, patterns) if each is not None]
    if open_ended:
        name = extra_name(shape, names, tuple(patterns))
        found += [] if name is None else [name]
    return found


def _object(schema: UntypedJson, keyword: str) -> dict[str, UntypedJson]:
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def pattern_name(pattern: str) -> str | None:
    """Return a name that a pattern of `patternProperties` matches, or None."""
    shape = strings.StringShape(patterns=(pattern,))
    return strings.choose(shape, random.Random(0))  # noqa: S311 - no secret


def extra_name(
    shape: Conjunction, declared: dict[str, None], patterns: tuple[str, ...]
) -> str | None:
    """Return a name that nobody declares and no pattern matches, or None."""
    accepts = shape.compiled.accepts
    candidates = [*_EXTRA, "0", "Zz_9", "-", "a b"]
    name_shape = strings.StringShape(not_patterns=patterns)
    drawn = strings.choose(name_shape, random.Random(1))  # noqa: S311 - no secret
    if drawn is not None:
        candidates.append(drawn)
    for each in candidates:
        if (
            each not in declared
            and strings.matches(name_shape, each)
            and all(accepts(location, each) for location in shape.name_locations)
        ):
            return each
    return None
