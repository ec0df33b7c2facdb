"""Answers of a target mapped back to values of the schema that is meant.

Where several branches of an `anyOf` may have made an answer, the first one is taken
whose schema accepts it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from curation.fit.shapes import ITEM, KEY, MORE, VALUE, Shaped, derive_shape
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.json.pointer import Tokens, at
from curation.json.values import identity

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_Object: TypeAlias = "dict[str, UntypedJson]"


class UndecodableError(ValueError):
    """A value that is outside the schema."""


class Codec(msgspec.Struct, frozen=True, dict=True):
    """The mapping of answers to `shaped.schema` to the values that are meant."""

    shaped: Shaped

    @cached_property
    def _sent(self) -> CompiledSchema:
        return CompiledSchema(self.shaped.schema, self.shaped.dialect)

    @cached_property
    def _meant(self) -> CompiledSchema:
        return CompiledSchema(self.shaped.marked, self.shaped.dialect)

    def decode(self, answer: UntypedJson) -> UntypedJson:
        """Return the value that an answer represents.

        Raises:
            UndecodableError: the answer does not have the requested shape.
        """
        if derive_shape(self.shaped.marked).wrapped:
            names = answer.keys() if isinstance(answer, dict) else set()
            if VALUE not in names or (self.shaped.is_closed and len(names) > 1):
                raise UndecodableError(f"an object with {VALUE!r} alone is expected")
            answer = answer[VALUE]
        return self._mapped(answer, ())

    def _accepts(self, value: UntypedJson, tokens: Tokens) -> bool:
        """Return whether the sent form of a part has a value."""
        # What no keyword reaches is sent as it is: rewrites gather such definitions.
        path = self.shaped.places.get(tokens, tokens)
        return self._sent.accepts(self._sent.location_at(path), value)

    def _mapped(
        self,
        value: UntypedJson,
        tokens: Tokens,
        around: frozenset[Tokens] = frozenset(),
    ) -> UntypedJson:
        """Return a value mapped by the schema at some tokens.

        A schema that leads to itself without a step into the value changes nothing:
        `around` are the places that led here.
        """
        while tokens not in around:
            around |= {tokens}
            schema: UntypedJson = at(self.shaped.marked, tokens)
            if not isinstance(schema, dict):
                return value
            if "$ref" in schema:
                target = self._meant.target(self._meant.location_at(tokens))
                if target is None:
                    return value
                tokens = target.tokens
                continue
            if "anyOf" in schema:
                branches = range(len(schema["anyOf"]))
                paths = [(*tokens, "anyOf", str(index)) for index in branches]
                for path in paths:
                    if self._accepts(value, path):
                        break
                else:
                    return value
                value = self._mapped(value, path, around)
            return self._decoded(value, schema, tokens)
        return value

    def _decoded(
        self, value: UntypedJson, schema: _Object, tokens: Tokens
    ) -> UntypedJson:
        shape = derive_shape(schema)
        if shape.pairs:
            if not isinstance(value, list):
                return value
            path = (*tokens, "additionalProperties")
            return {key: self._mapped(part, path) for key, part in _pairs(value)}
        if shape.items:
            if not isinstance(value, dict):
                return value
            value = _listed(value, shape.items)
        if isinstance(value, dict):
            present = {
                name: part
                for name, part in value.items()
                if part is not None or name not in shape.nullable
            }
            return self._members(present, schema, tokens)
        if not isinstance(value, list):
            return value
        elements = self._elements(value, schema, tokens)
        if shape.distinct:
            elements = list(
                {identity(element): element for element in elements}.values()
            )
        return elements[: schema["maxItems"]] if shape.cut else elements

    def _members(self, value: _Object, schema: _Object, tokens: Tokens) -> _Object:
        """Return the members of an object, each mapped by its schema."""
        has_values = isinstance(schema.get("additionalProperties"), dict)
        mapped = {}
        for name, part in value.items():
            path: Tokens = ("additionalProperties",) if has_values else ()
            if name in (schema.get("properties") or {}):
                path = ("properties", name)
            mapped[name] = self._mapped(part, (*tokens, *path)) if path else part
        return mapped

    def _elements(
        self,
        value: list[UntypedJson],
        schema: _Object,
        tokens: Tokens,
    ) -> list[UntypedJson]:
        """Return the elements of an array, each mapped by its schema."""
        leading = len(schema.get("prefixItems") or ())
        mapped = [
            self._mapped(part, (*tokens, "prefixItems", str(index)))
            for index, part in enumerate(value[:leading])
        ]
        trailing = value[leading:]
        if isinstance(schema.get("items"), dict):
            path = (*tokens, "items")
            trailing = [self._mapped(element, path) for element in trailing]
        return mapped + trailing


def _pairs(value: list[UntypedJson]) -> list[tuple[str, UntypedJson]]:
    """Return the members that objects with key and value represent.

    Raises:
        UndecodableError: they are others.
    """
    try:
        pairs = [(pair[KEY], pair[VALUE]) for pair in value]
    except (TypeError, LookupError) as error:
        raise UndecodableError("objects with key and value expected") from error
    if not all(isinstance(key, str) for key, _ in pairs):
        raise UndecodableError("texts as keys expected")
    return pairs


def _listed(value: _Object, count: int) -> list[UntypedJson]:
    """Return the elements that the members of an object represent.

    Raises:
        UndecodableError: there are others.
    """
    names = [f"{ITEM}{index + 1}" for index in range(count)]
    if not value.keys() >= {*names}:
        raise UndecodableError(f"an object with {', '.join(names)} expected")
    trailing = value.get(MORE, [])
    if not isinstance(trailing, list):
        raise UndecodableError(f"an array expected in {MORE!r}")
    return [*(value[name] for name in names), *trailing]
