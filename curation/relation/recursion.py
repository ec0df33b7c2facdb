"""Proofs by induction that a recursive schema accepts every value of another one.

A JSON value is finite: what is to be proven of it may be assumed of the values inside
it. Schemas are canonical forms of jsonschema-rs. No assumption is made below `not`,
`oneOf`, `contains`, `propertyNames`, or along references that stay at one value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from curation.core.json_types import Json
from curation.json.pointer import at, tokens_of_fragment
from curation.schema.subschemas import without

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

#: Keywords with which the other parts of a schema cannot be judged one by one.
_SCOPED: Final = ('"$dynamicRef"', '"$recursiveRef"', '"$id"', '"unevaluated')
#: Keywords that assert nothing next to a reference.
_DEFINITIONS: Final = ("$defs", "definitions", "$schema")
#: Keywords that are judged part by part.
_IN_PARTS: Final = (
    *("properties", "patternProperties", "additionalProperties", "items"),
    *("anyOf", "allOf"),
)
#: Number of pairs of schemas after which the proof is given up.
_MAX_PAIRS: Final = 200


class Induction(msgspec.Struct):
    """A proof that every value of a canonical schema is one of another."""

    inner: Json
    #: The other one, in the same dialect.
    outer: Json
    #: Whether every value of the first of two schemas without references is one of the
    #: second.
    covers: Callable[[Json, Json], bool]
    #: Pairs of schemas whose implication is assumed of smaller values.
    assumed: dict[str, tuple[Json, Json]] = {}
    #: Those that are not proven, by their JSON text.
    refuted: set[str] = set()

    def succeeds(self) -> bool:
        """Return whether the proof succeeds."""
        text = json.dumps([self.inner, self.outer])
        if '"$ref"' not in text or any(keyword in text for keyword in _SCOPED):
            return False
        while self._assume(self.inner, self.outer):
            count = len(self.refuted)
            pending = list(self.assumed)
            for key in pending:
                if not self._holds(*self.assumed[key], frozenset()):
                    self.refuted.add(key)
                pending += list(self.assumed)[len(pending) :]
                if len(pending) > _MAX_PAIRS:
                    return False
            if len(self.refuted) == count:
                return True
            # What was proven may rest on an assumption that does not hold.
            self.assumed.clear()
        return False

    def _assume(self, inner: Json, outer: Json) -> bool:
        key = json.dumps([inner, outer])
        if key in self.refuted:
            return False
        self.assumed[key] = inner, outer
        return True

    def _holds(
        self, inner: UntypedJson, outer: UntypedJson, around: frozenset[str]
    ) -> bool:
        """Return whether a value of a part of one schema is valid by one of the other.

        Args:
            inner: A part of the inner schema.
            outer: A part of the outer schema.
            around: The pairs for the same value that lead to this one.
        """
        key = json.dumps([inner, outer])
        inner = {} if inner is True else inner
        outer = {"not": {}} if outer is False else outer
        if inner is False or outer in (True, {}):
            return True
        if '"$ref"' not in key:
            return self.covers(inner, outer)
        if key in around:
            return False
        around |= {key}
        if "$ref" in inner:
            target = at(self.inner, tokens_of_fragment(inner["$ref"]))
            return self._holds(target, outer, around)
        if "$ref" in outer:
            target = at(self.outer, tokens_of_fragment(outer["$ref"]))
            is_alone = without(outer, *_DEFINITIONS).keys() == {"$ref"}
            return is_alone and self._holds(inner, target, around)
        branches = inner.get("anyOf")
        if branches and all(self._holds(branch, outer, around) for branch in branches):
            return True
        if any(self._holds(part, outer, around) for part in inner.get("allOf", ())):
            return True
        branches = outer.get("anyOf")
        if branches and not any(
            self._holds(inner, branch, around) for branch in branches
        ):
            return False
        if not all(self._holds(inner, part, around) for part in outer.get("allOf", ())):
            return False
        needed = without(outer, *_DEFINITIONS, *_IN_PARTS)
        asserted = {
            keyword: value
            for keyword, value in without(inner, *_DEFINITIONS, *_IN_PARTS).items()
            if '"$ref"' not in json.dumps(value)
        }
        return (
            '"$ref"' not in json.dumps(needed)
            and not isinstance(outer.get("items"), list)
            and self.covers(asserted, needed)
            and all(self._assume(*pair) for pair in _parts(inner, outer))
        )


def _parts(inner: UntypedJson, outer: UntypedJson) -> Iterator[tuple[Json, Json]]:
    """Yield the pairs of schemas that members and items of a value have to fulfil."""
    members, needed = inner.get("properties", {}), outer.get("properties", {})
    patterns, outer_patterns = (
        schema.get("patternProperties", {}) for schema in (inner, outer)
    )
    additional = inner.get("additionalProperties", True)
    # The canonical form of a closed object lists its names.
    closed = None
    match inner.get("propertyNames"):
        case {"enum": names}:
            closed = names
        case {"const": name}:
            closed = [name]
    for name, schema in needed.items():
        if name in members:
            yield members[name], schema
        elif closed is None or name in closed:
            yield True if patterns else additional, schema
    for pattern, schema in outer_patterns.items():
        yield patterns.get(pattern, True), schema
    if "additionalProperties" in outer:
        schema = outer["additionalProperties"]
        for part in (without(members, *needed), without(patterns, *outer_patterns)):
            yield from ((value, schema) for value in part.values())
        if closed is None or not {*closed} <= members.keys() | needed.keys():
            yield additional, schema
    # Items of a tuple, which older drafts write as a list, may be anything.
    items = True if "prefixItems" in inner else inner.get("items", True)
    yield True if isinstance(items, list) else items, outer.get("items", True)
