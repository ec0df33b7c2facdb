"""Answers of a target mapped back to values of the schema that is meant, and inverse.

Where several branches of an `anyOf` may have made an answer, the first one is taken
whose schema accepts it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from curation.fit.shapes import ITEM, KEY, MORE, VALUE, AnswerShape, Shaped, shape_of
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.json.pointer import Tokens, at
from curation.json.values import identity

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_Object: TypeAlias = "dict[str, UntypedJson]"


class UndecodableError(ValueError):
    """A value that is none of the schema's."""


@dataclass(frozen=True)
class Codec:
    """The mapping between the answers to `shaped.schema` and the values meant."""

    shaped: Shaped

    @cached_property
    def _sent(self) -> CompiledSchema:
        return CompiledSchema(self.shaped.schema, self.shaped.dialect)

    @cached_property
    def _meant(self) -> CompiledSchema:
        return CompiledSchema(self.shaped.marked, self.shaped.dialect)

    def decode(self, answer: UntypedJson) -> UntypedJson:
        """Return the value that an answer stands for.

        Raises:
            UndecodableError: the answer has not the shape that was asked for.
        """
        if shape_of(self.shaped.marked).wrapped:
            if not isinstance(answer, dict) or answer.keys() != {VALUE}:
                raise UndecodableError(f"an object with {VALUE!r} alone is expected")
            answer = answer[VALUE]
        return self._mapped(answer, (), _decoded, self._is_sent)

    def encode(self, value: UntypedJson) -> UntypedJson:
        """Return the answer that stands for a value.

        Raises:
            UndecodableError: no answer stands for it alone.
        """
        answer = self._mapped(value, (), _encoded, self._is_meant)
        if shape_of(self.shaped.marked).wrapped:
            answer = {VALUE: answer}
        if not self._sent.is_valid(answer):
            raise UndecodableError("no answer stands for the value")
        if identity(self.decode(answer)) != identity(value):
            raise UndecodableError("its answer stands for another value")
        return answer

    def _is_sent(self, value: UntypedJson, tokens: Tokens) -> bool:
        # What no keyword reaches is sent as it is: rewrites gather such definitions.
        place = self.shaped.places.get(tokens, tokens)
        return self._sent.accepts(self._sent.location_at(place), value)

    def _is_meant(self, value: UntypedJson, tokens: Tokens) -> bool:
        return self._meant.accepts(self._meant.location_at(tokens), value)

    def _mapped(
        self,
        value: UntypedJson,
        tokens: Tokens,
        change: _Change,
        accepts: Callable[[UntypedJson, Tokens], bool],
        around: frozenset[Tokens] = frozenset(),
    ) -> UntypedJson:
        """Return a value mapped by the schema that stands at some tokens.

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
            elif "anyOf" in schema:
                branches = range(len(schema["anyOf"]))
                paths = [(*tokens, "anyOf", str(index)) for index in branches]
                fitting = [path for path in paths if accepts(value, path)]
                if not fitting:
                    return value
                inner = self._mapped(value, fitting[0], change, accepts, around)
                if "properties" not in schema and "items" not in schema:
                    return inner
                value = inner
                break
            else:
                break
        else:
            return value

        def inside(part: UntypedJson, *path: str) -> UntypedJson:
            return self._mapped(part, (*tokens, *path), change, accepts)

        return change(value, schema, shape_of(schema), inside)


_Inside = Callable[..., "UntypedJson"]
_Change = Callable[["UntypedJson", "_Object", AnswerShape, _Inside], "UntypedJson"]


def _pairs(value: list[UntypedJson]) -> list[tuple[str, UntypedJson]]:
    """Return the members that objects with key and value stand for.

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
    """Return the elements that the members of an object stand for.

    Raises:
        UndecodableError: there are others.
    """
    names = [f"{ITEM}{index + 1}" for index in range(count)]
    if not value.keys() >= {*names}:
        raise UndecodableError(f"an object with {', '.join(names)} expected")
    more = value.get(MORE, [])
    if not isinstance(more, list):
        raise UndecodableError(f"an array expected in {MORE!r}")
    return [*(value[name] for name in names), *more]


def _decoded(
    value: UntypedJson, schema: _Object, shape: AnswerShape, inside: _Inside
) -> UntypedJson:
    if shape.pairs:
        if not isinstance(value, list):
            return value
        pairs = _pairs(value)
        return {key: inside(part, "additionalProperties") for key, part in pairs}
    if shape.items:
        if not isinstance(value, dict):
            return value
        value = _listed(value, shape.items)
    if isinstance(value, dict):
        return _members(
            {
                name: part
                for name, part in value.items()
                if part is not None or name not in shape.nullable
            },
            schema,
            inside,
        )
    if not isinstance(value, list):
        return value
    elements = _elements(value, schema, inside)
    if shape.distinct:
        elements = list({identity(element): element for element in elements}.values())
    most = schema.get("maxItems")
    return elements[:most] if shape.cut and isinstance(most, int) else elements


def _encoded(
    value: UntypedJson, schema: _Object, shape: AnswerShape, inside: _Inside
) -> UntypedJson:
    if isinstance(value, dict):
        if shape.pairs:
            return [
                {KEY: key, VALUE: inside(part, "additionalProperties")}
                for key, part in value.items()
            ]
        absent = [name for name in shape.nullable if name not in value]
        return _members(value, schema, inside) | dict.fromkeys(absent)
    if not isinstance(value, list):
        return value
    elements = _elements(value, schema, inside)
    if not shape.items:
        return elements
    if len(elements) < shape.items or (len(elements) > shape.items and not shape.more):
        raise UndecodableError(f"an array of {shape.items} elements is expected")
    members = {
        f"{ITEM}{index + 1}": part for index, part in enumerate(elements[: shape.items])
    }
    return members | ({MORE: elements[shape.items :]} if shape.more else {})


def _members(value: _Object, schema: _Object, inside: _Inside) -> _Object:
    properties = schema.get("properties") or {}
    rest = isinstance(schema.get("additionalProperties"), dict)
    mapped = {}
    for name, part in value.items():
        if name in properties:
            mapped[name] = inside(part, "properties", name)
        else:
            mapped[name] = inside(part, "additionalProperties") if rest else part
    return mapped


def _elements(
    value: list[UntypedJson], schema: _Object, inside: _Inside
) -> list[UntypedJson]:
    leading = len(schema.get("prefixItems") or ())
    others = isinstance(schema.get("items"), dict)
    return [
        inside(part, "prefixItems", str(index))
        if index < leading
        else inside(part, "items")
        if others
        else part
        for index, part in enumerate(value)
    ]
