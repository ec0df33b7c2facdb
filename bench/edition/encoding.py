"""Values as answers: the inverse of what the product does with answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from curation.fit.decoding import Codec, UndecodableError
from curation.fit.shapes import ITEM, KEY, MORE, VALUE, derive_shape
from curation.json.values import identity

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens

_Object: TypeAlias = "dict[str, UntypedJson]"


class Encoder(Codec, frozen=True, dict=True):
    """A codec whose walk goes the other way."""

    def encode(self, value: UntypedJson) -> UntypedJson:
        """Return the answer that represents a value.

        Raises:
            UndecodableError: no answer represents it alone.
        """
        answer = self._mapped(value, ())
        if derive_shape(self.shaped.marked).wrapped:
            answer = {VALUE: answer}
        if not self._sent.is_valid(answer):
            raise UndecodableError("no answer stands for the value")
        if identity(Codec(self.shaped).decode(answer)) != identity(value):
            raise UndecodableError("its answer stands for another value")
        return answer

    def _accepts(self, value: UntypedJson, tokens: Tokens) -> bool:
        return self._meant.accepts(self._meant.location_at(tokens), value)

    def _decoded(
        self, value: UntypedJson, schema: _Object, tokens: Tokens
    ) -> UntypedJson:
        shape = derive_shape(schema)
        if isinstance(value, dict):
            if shape.pairs:
                path = (*tokens, "additionalProperties")
                return [
                    {KEY: key, VALUE: self._mapped(part, path)}
                    for key, part in value.items()
                ]
            absent = [name for name in shape.nullable if name not in value]
            members = self._members(value, schema, tokens)
            return members | dict.fromkeys(absent)
        if not isinstance(value, list):
            return value
        elements = self._elements(value, schema, tokens)
        if not shape.items:
            return elements
        leading, trailing = elements[: shape.items], elements[shape.items :]
        if len(leading) < shape.items or (trailing and not shape.more):
            raise UndecodableError(f"an array of {shape.items} elements is expected")
        members = {f"{ITEM}{index + 1}": part for index, part in enumerate(leading)}
        return members | ({MORE: trailing} if shape.more else {})
