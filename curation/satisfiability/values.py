"""Does a schema accept this one value? Yes, no, or not sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.lint.contradictions import named_types, types_of
from curation.satisfiability.bounds import crosses
from curation.satisfiability.schema_view import equality_key, matches
from curation.schema.dialects import DRAFT_04
from curation.schema.keywords import BOUNDS, TYPE_OF_KEYWORD

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from curation.core.json_types import Json
    from curation.satisfiability.schema_view import SchemaView
    from curation.schema.keywords import ValueType
    from curation.schema.locations import SchemaLocation

#: Schemas entered one from another.
_DEEPEST = 12
#: The Python types of the values that keywords about one type speak of.
_PYTHON_TYPES: dict[ValueType, tuple[type, ...]] = {
    "array": (list,),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


class ValueJudge:
    """Judges values by the keywords that it understands; the others leave a doubt.

    Example:
        >>> ValueJudge(view).accepts("a", view.root)
        True
    """

    def __init__(self, view: SchemaView) -> None:
        """ValueJudge by the schemas of one record."""
        self._view = view

    def accepts(
        self, value: Json, location: SchemaLocation, depth: int = 0
    ) -> bool | None:
        """Return whether a schema accepts a value; None where that is not sure."""
        schema = location.schema
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return None
        keywords = self._view.keywords(schema) - {self._view.dialect.id_keyword}
        sure = True
        for keyword in keywords:
            answer = self._judge_keyword(keyword, value, location, depth)
            if answer is False:
                return False
            sure = sure and answer is True
        return sure or None

    def _judge_keyword(
        self, keyword: str, value: Json, location: SchemaLocation, depth: int
    ) -> bool | None:
        about = TYPE_OF_KEYWORD.get(keyword)
        if about is not None and not isinstance(value, _PYTHON_TYPES[about]):
            return True
        if keyword in BOUNDS:
            return not crosses(keyword, value, location.schema, self._view)
        if keyword in ("allOf", "anyOf", "oneOf", "not", "$ref"):
            return self._combined(keyword, value, location, depth)
        return self._simple(keyword, value, location, depth)

    def _simple(
        self, keyword: str, value: Json, location: SchemaLocation, depth: int
    ) -> bool | None:
        operand = location.schema[keyword]
        result: bool | None = None
        if keyword == "type":
            result = self._typed(value, location.schema)
        elif keyword == "enum" and isinstance(operand, list):
            wanted = equality_key(value)
            result = any(equality_key(listed) == wanted for listed in operand)
        elif keyword == "const":
            result = equality_key(operand) == equality_key(value)
        elif (
            keyword == "pattern" and isinstance(operand, str) and isinstance(value, str)
        ):
            result = matches(operand, value)
        elif (
            keyword == "required"
            and isinstance(operand, list)
            and isinstance(value, dict)
        ):
            result = all(name in value for name in operand)
        elif (
            keyword == "properties"
            and isinstance(operand, dict)
            and isinstance(value, dict)
        ):
            result = _all(
                self.accepts(
                    value[name], self._view.child(location, keyword, name), depth + 1
                )
                for name in operand
                if name in value
            )
        return result

    def _typed(self, value: Json, schema: Mapping[str, Json]) -> bool | None:
        types = named_types(schema) or frozenset()
        if types & types_of(value, self._view.dialect):
            return True
        whole = isinstance(value, float) and value.is_integer()
        old = self._view.dialect.order <= DRAFT_04.order
        # Draft-04 says that 1.0 is no integer; not every validator does.
        return None if whole and old and "integer" in types else False

    def _combined(
        self, keyword: str, value: Json, location: SchemaLocation, depth: int
    ) -> bool | None:
        if keyword == "$ref":
            target = self._view.target(location)
            return None if target is None else self.accepts(value, target, depth + 1)
        operand = location.schema[keyword]
        if keyword == "not":
            inner = self.accepts(value, self._view.child(location, keyword), depth + 1)
            return None if inner is None else not inner
        if not isinstance(operand, list):
            return None
        answers = [
            self.accepts(
                value, self._view.child(location, keyword, str(index)), depth + 1
            )
            for index in range(len(operand))
        ]
        if keyword == "allOf":
            return _all(answers)
        sure = answers.count(True)
        if keyword == "anyOf":
            return True if sure else (None if None in answers else False)
        if sure > 1:
            return False
        return None if None in answers else sure == 1


def _all(answers: Iterable[bool | None]) -> bool | None:
    found = list(answers)
    if False in found:
        return False
    return None if None in found else True
