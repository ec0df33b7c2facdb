"""Does a schema accept this one value? Yes, no, or not sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.lint.contradictions import named_types, types_of
from curation.satisfiability.bounds import crosses
from curation.satisfiability.schema_view import Node, key, matches
from curation.schema.dialects import DRAFT_04

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import UntypedJson
    from curation.satisfiability.schema_view import Ground

#: Schemas entered one from another.
_DEEPEST = 12
#: Words of one type: to values of every other they say nothing.
_OF_TYPE = {
    "pattern": str,
    "format": str,
    "contentEncoding": str,
    "contentMediaType": str,
    "contentSchema": str,
    "items": list,
    "prefixItems": list,
    "additionalItems": list,
    "unevaluatedItems": list,
    "contains": list,
    "minContains": list,
    "maxContains": list,
    "uniqueItems": list,
    "properties": dict,
    "patternProperties": dict,
    "additionalProperties": dict,
    "unevaluatedProperties": dict,
    "propertyNames": dict,
    "dependencies": dict,
    "dependentRequired": dict,
    "dependentSchemas": dict,
    "required": dict,
}
_BOUNDS = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    }
)


class Judge:
    """Judges values by the words that it understands; the others leave a doubt."""

    def __init__(self, ground: Ground) -> None:
        """Judge by the schemas of one record."""
        self._ground = ground

    def accepts(self, value: UntypedJson, node: Node, depth: int = 0) -> bool | None:
        """Tell whether a schema accepts a value; None where that is not sure."""
        schema = node.schema
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return None
        words = self._ground.words(schema) - {self._ground.dialect.id_keyword}
        sure = True
        for word in words:
            answer = self._word(word, value, node, depth)
            if answer is False:
                return False
            sure = sure and answer is True
        return sure or None

    def _word(
        self, word: str, value: UntypedJson, node: Node, depth: int
    ) -> bool | None:
        kind = _OF_TYPE.get(word)
        if kind is not None and not isinstance(value, kind):
            return True
        if word in _BOUNDS:
            return not crosses(word, value, node.schema, self._ground)
        if word in ("allOf", "anyOf", "oneOf", "not", "$ref"):
            return self._combined(word, value, node, depth)
        return self._simple(word, value, node, depth)

    def _simple(
        self, word: str, value: UntypedJson, node: Node, depth: int
    ) -> bool | None:
        operand = node.schema[word]
        result: bool | None = None
        if word == "type":
            result = self._typed(value, node.schema)
        elif word == "enum" and isinstance(operand, list):
            wanted = key(value)
            result = any(key(each) == wanted for each in operand)
        elif word == "const":
            result = key(operand) == key(value)
        elif word == "pattern" and isinstance(operand, str):
            result = matches(operand, value)
        elif word == "required" and isinstance(operand, list):
            result = all(name in value for name in operand)
        elif word == "properties" and isinstance(operand, dict):
            result = _all(
                self.accepts(
                    value[name], self._ground.child(node, word, name), depth + 1
                )
                for name in operand
                if name in value
            )
        return result

    def _typed(self, value: UntypedJson, schema: dict[str, UntypedJson]) -> bool | None:
        types = named_types(schema) or frozenset()
        if types & types_of(value, self._ground.dialect):
            return True
        whole = isinstance(value, float) and value.is_integer()
        old = self._ground.dialect.order <= DRAFT_04.order
        # Draft-04 says that 1.0 is no integer; not every validator does.
        return None if whole and old and "integer" in types else False

    def _combined(
        self, word: str, value: UntypedJson, node: Node, depth: int
    ) -> bool | None:
        if word == "$ref":
            target = self._ground.target(node)
            return None if target is None else self.accepts(value, target, depth + 1)
        operand = node.schema[word]
        if word == "not":
            inner = self.accepts(value, self._ground.child(node, word), depth + 1)
            return None if inner is None else not inner
        if not isinstance(operand, list):
            return None
        answers = [
            self.accepts(value, self._ground.child(node, word, str(index)), depth + 1)
            for index in range(len(operand))
        ]
        if word == "allOf":
            return _all(answers)
        sure = answers.count(True)
        if word == "anyOf":
            return True if sure else (None if None in answers else False)
        if sure > 1:
            return False
        return None if None in answers else sure == 1


def _all(answers: Iterable[bool | None]) -> bool | None:
    found = list(answers)
    if False in found:
        return False
    return None if None in found else True
