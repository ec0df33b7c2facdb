"""Walk over an answer with the schema of its row: the faults, and scalars counted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from curation.core.json_types import UntypedJson
from curation.system.words import shortened
from evaluation.suites.ifstruct.answer_text import Flaw
from evaluation.suites.ifstruct.settings import Failure, RuleReading

#: Maximum number of faults recorded for one answer.
_MOST_FAULTS: Final = 200
_KINDS: Final = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


def kind_of(value: UntypedJson) -> str:
    """Return JSON's word for a value's type; Python's for other values of YAML."""
    return _KINDS.get(type(value), type(value).__name__)


@dataclass(slots=True, kw_only=True)
class SchemaWalk:
    """A walk over one answer; `findings` and the two counts grow as it goes.

    The keywords are those that the published verifier knows: `type`, `enum`,
    `minimum`, `maximum`, `minItems`, `maxItems`, `items`, `properties`, `required`.
    """

    #: Whether a scalar of another type may be text without its quotes.
    is_yaml: bool
    findings: list[Flaw] = field(default_factory=list)
    #: Scalars that there should be, and those without fault. A missing field counts
    #: with all the scalars that it would hold.
    fields_total: int = 0
    fields_passed: int = 0

    def visit(self, schema: UntypedJson, value: UntypedJson, path: str) -> None:
        """Compare a value and all inside it with a schema.

        Args:
            schema: The schema; anything but an object requires nothing.
            value: The value.
            path: Its path, for messages.
        """
        schema = schema if isinstance(schema, dict) else {}
        members = schema.get("properties")
        types = schema.get("type", ())
        types = (types,) if isinstance(types, str) else types
        if types and not self._has_type(types, value):
            self._refuse_type(schema, types, value, path)
        elif isinstance(members, dict) and isinstance(value, dict):
            self._visit_object(schema, members, value, path)
        elif "items" in schema and isinstance(value, list):
            self._visit_list(schema, value, path)
        else:
            self.fields_total += 1
            self.fields_passed += self._scalar_is_right(schema, value, path)

    @staticmethod
    def _has_type(types: Sequence[str], value: UntypedJson) -> bool:
        kind = kind_of(value)
        return kind in types or (kind == "integer" and "number" in types)

    def _refuse_type(
        self, schema: UntypedJson, types: Sequence[str], value: UntypedJson, path: str
    ) -> None:
        self.fields_total += _leaves(schema)
        coerced = (
            self.is_yaml
            and set(types) == {"string"}
            and isinstance(value, bool | int | float | None)
        )
        failure = Failure.COERCED_SCALAR if coerced else Failure.WRONG_TYPE
        detail = f" ({value!r})" if isinstance(value, bool | int | float) else ""
        detail = f"{kind_of(value)}{detail[:40]} for {' or '.join(sorted(types))}"
        self._add(failure, detail, path)

    def _visit_object(
        self,
        schema: Mapping[str, UntypedJson],
        members: Mapping[str, UntypedJson],
        value: dict[UntypedJson, UntypedJson],
        parent: str,
    ) -> None:
        for name, member in members.items():
            path = f"{parent}.{name}"
            if name in value:
                self.visit(member, value[name], path)
            elif name in schema.get("required", ()):
                self.fields_total += _leaves(member)
                self._add(Failure.MISSING_FIELD, "", path)
        for name in value:
            if name not in members:
                path = f"{parent}.{shortened(str(name), 40)}"
                self._add(Failure.UNKNOWN_FIELD, "", path)

    def _visit_list(
        self, schema: Mapping[str, UntypedJson], value: list[UntypedJson], path: str
    ) -> None:
        minimum, maximum, items = map(schema.get, ("minItems", "maxItems", "items"))
        # The length of the outermost list is checked elsewhere.
        if path and minimum is not None and len(value) < minimum:
            self.fields_total += _leaves(items) * (minimum - len(value))
            detail = f"{len(value)} for at least {minimum}"
            self._add(Failure.TOO_FEW_ITEMS, detail, path)
        if path and maximum is not None and len(value) > maximum:
            self._add(
                Failure.TOO_MANY_ITEMS, f"{len(value)} for at most {maximum}", path
            )
        for index, item in enumerate(value):
            self.visit(items, item, f"{path}[{index}]")

    def _scalar_is_right(
        self, schema: Mapping[str, UntypedJson], value: UntypedJson, path: str
    ) -> bool:
        """Check enum and bounds; return whether they hold."""
        if "enum" in schema and value not in schema["enum"]:
            self._add(Failure.NOT_IN_ENUM, shortened(repr(value), 60), path)
            return False
        if isinstance(value, bool) or not isinstance(value, int | float):
            return True
        if isinstance(value, float) and not math.isfinite(value):
            self._add(Failure.WRONG_TYPE, str(value), path, RuleReading.RECOMMENDED)
        low = schema.get("minimum")
        high = schema.get("maximum")
        if low is not None and value < low:
            detail = f"{value} for at least {low}"
            self._add(Failure.BELOW_MINIMUM, detail, path)
        elif high is not None and value > high:
            detail = f"{value} for at most {high}"
            self._add(Failure.ABOVE_MAXIMUM, detail, path)
        else:
            return True
        return False

    def _add(
        self, failure: Failure, detail: str, path: str, *reading: RuleReading
    ) -> None:
        if len(self.findings) < _MOST_FAULTS:
            self.findings.append(Flaw(failure, detail, path, *reading))


def _leaves(schema: UntypedJson) -> int:
    """Return the number of scalars in a value of a schema.

    One for a scalar; the sum of the members of an object; for a list, the minimum
    number of items, but at least one, times the scalars of an item.
    """
    schema = schema if isinstance(schema, dict) else {}
    members = schema.get("properties")
    if isinstance(members, dict):
        return sum(_leaves(member) for member in members.values())
    if "items" in schema:
        return _leaves(schema["items"]) * max(1, schema.get("minItems") or 1)
    return 1
