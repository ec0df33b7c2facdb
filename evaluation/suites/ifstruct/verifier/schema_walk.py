"""The walk over every object and list of an answer: fields, types, values, lengths.

The rules are those of the published verifier. A whole number is a Python `int`: `1.0`
is none, and a boolean is never a number. An object has no members but those of its
schema, whatever `additionalProperties` says. A list of enum values holds by equality.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from curation.system.escaping import shortened
from evaluation.suites.ifstruct.verifier.findings import Failure, StructureFinding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson
    from evaluation.suites.ifstruct.verifier.schema_tree import SchemaNode

#: Findings that are kept: an answer of many faults is not a list of them all.
_MOST: Final = 200
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
    """Return JSON's word for what a value is; YAML's other values by Python's."""
    return _KINDS.get(type(value), type(value).__name__)


@dataclass(slots=True, kw_only=True)
class SchemaWalk:
    """A walk over one answer; `findings` and the two counts grow as it goes."""

    #: Whether a scalar that is no text may be text without its quotes.
    is_yaml: bool = False
    #: Whether `1.0` counts as a whole number, as in JSON Schema.
    whole_floats: bool = False
    #: Whether NaN and infinities count as numbers.
    non_finite: bool = True
    findings: list[StructureFinding] = field(default_factory=list)
    #: Scalars that there should be, and those without fault. A field that is missing
    #: counts with all the scalars that it would hold.
    fields_total: int = 0
    fields_passed: int = 0

    def visit(self, node: SchemaNode, value: UntypedJson, place: str) -> None:
        """Compare a value with what it has to be, and then what it holds.

        `place` is the path that a finding names.
        """
        if node.types and not self._has_type(node, value):
            self._refuse_type(node, value, place)
        elif node.properties is not None and isinstance(value, dict):
            self._visit_object(node, node.properties, value, place)
        elif node.items is not None and isinstance(value, list):
            self._visit_list(node, node.items, value, place)
        else:
            self.fields_total += 1
            self.fields_passed += self._scalar_is_right(node, value, place)

    def _has_type(self, node: SchemaNode, value: UntypedJson) -> bool:
        """Return whether a value has one of the types."""
        kind = kind_of(value)
        if kind in node.types or (kind == "integer" and "number" in node.types):
            return True
        return (
            self.whole_floats
            and isinstance(value, float)
            and "integer" in node.types
            and value.is_integer()
        )

    def _refuse_type(self, node: SchemaNode, value: UntypedJson, place: str) -> None:
        self.fields_total += node.leaves
        wanted = " or ".join(sorted(node.types))
        coerced = (
            self.is_yaml
            and node.types == {"string"}
            and isinstance(value, bool | int | float | None)
        )
        failure = Failure.COERCED_SCALAR if coerced else Failure.WRONG_TYPE
        shown = f" ({value!r})" if isinstance(value, bool | int | float) else ""
        self._add(failure, f"{kind_of(value)}{shown[:40]} for {wanted}", place)

    def _visit_object(
        self,
        node: SchemaNode,
        members: Mapping[str, SchemaNode],
        value: dict[UntypedJson, UntypedJson],
        place: str,
    ) -> None:
        for name, member in members.items():
            path = f"{place}.{name}"
            if name in value:
                self.visit(member, value[name], path)
            elif name in node.required:
                self.fields_total += member.leaves
                self._add(Failure.MISSING_FIELD, "", path)
        for found in value:
            if found not in members:
                path = f"{place}.{shortened(str(found), 40)}"
                self._add(Failure.UNKNOWN_FIELD, "", path)

    def _visit_list(
        self,
        node: SchemaNode,
        items: SchemaNode,
        value: list[UntypedJson],
        place: str,
    ) -> None:
        least, most = node.min_items, node.max_items
        # The outermost list's length is checked where the wish for it is.
        if place and least is not None and len(value) < least:
            self.fields_total += items.leaves * (least - len(value))
            detail = f"{len(value)} for at least {least}"
            self._add(Failure.TOO_FEW_ITEMS, detail, place)
        if place and most is not None and len(value) > most:
            self._add(Failure.TOO_MANY_ITEMS, f"{len(value)} for at most {most}", place)
        for index, item in enumerate(value):
            self.visit(items, item, f"{place}[{index}]")

    def _scalar_is_right(
        self, node: SchemaNode, value: UntypedJson, place: str
    ) -> bool:
        """Return whether an enum and bounds hold."""
        if node.enum is not None and value not in node.enum:
            self._add(Failure.NOT_IN_ENUM, shortened(repr(value), 60), place)
            return False
        if isinstance(value, bool) or not isinstance(value, int | float):
            return True
        if not self.non_finite and not math.isfinite(value):
            self._add(Failure.NOT_FINITE, str(value), place)
            return False
        if node.minimum is not None and value < node.minimum:
            detail = f"{_number(value)} for at least {node.minimum}"
            self._add(Failure.BELOW_MINIMUM, detail, place)
            return False
        if node.maximum is not None and value > node.maximum:
            detail = f"{_number(value)} for at most {node.maximum}"
            self._add(Failure.ABOVE_MAXIMUM, detail, place)
            return False
        return True

    def _add(self, failure: Failure, detail: str, place: str) -> None:
        if len(self.findings) < _MOST:
            self.findings.append(StructureFinding(failure, detail, place))


def _number(value: float) -> str:
    """Return a number as a message shows it; a huge one is cut."""
    try:
        return f"{value}"[:40]
    except ValueError:
        return "a number of more than 4,300 digits"
