"""The faults of an answer's value by the schema of its row.

The keywords are those that the published verifier knows: `type`, `enum`, `minimum`,
`maximum`, `minItems`, `maxItems`, `items`, `properties`, `required`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from curation.core.json_types import UntypedJson
from curation.system.words import shortened
from evaluation.suites.ifstruct.answer_text import Flaw
from evaluation.suites.ifstruct.settings import Failure, RuleReading

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


def schema_flaws(
    schema: UntypedJson, value: UntypedJson, path: str = "", *, is_yaml: bool
) -> Iterator[Flaw]:
    """Yield the faults of a value and of all inside it.

    Args:
        schema: The schema; anything but an object requires nothing.
        value: The value.
        path: Its path, for messages; empty for the outermost list, whose length is
            checked elsewhere.
        is_yaml: Whether a scalar of another type may be text without its quotes.
    """
    schema = schema if isinstance(schema, dict) else {}
    members = schema.get("properties")
    types = schema.get("type", ())
    types = (types,) if isinstance(types, str) else types
    kind = kind_of(value)
    has_type = kind in types or (kind == "integer" and "number" in types)
    if types and not has_type:
        is_scalar = isinstance(value, bool | int | float)
        coerced = is_yaml and set(types) == {"string"} and (is_scalar or value is None)
        failure = Failure.COERCED_SCALAR if coerced else Failure.WRONG_TYPE
        detail = f" ({value!r})"[:40] * is_scalar
        yield Flaw(failure, f"{kind}{detail} for {' or '.join(sorted(types))}", path)
    elif isinstance(members, dict) and isinstance(value, dict):
        for name, member in members.items():
            inner = f"{path}.{name}"
            if name in value:
                yield from schema_flaws(member, value[name], inner, is_yaml=is_yaml)
            elif name in schema.get("required", ()):
                yield Flaw(Failure.MISSING_FIELD, "", inner)
        for name in (name for name in value if name not in members):
            yield Flaw(Failure.UNKNOWN_FIELD, "", f"{path}.{shortened(str(name), 40)}")
    elif "items" in schema and isinstance(value, list):
        if path:
            yield from _length_flaws(schema, len(value), path)
        for index, item in enumerate(value):
            inner = f"{path}[{index}]"
            yield from schema_flaws(schema["items"], item, inner, is_yaml=is_yaml)
    else:
        yield from _scalar_flaws(schema, value, path)


def _length_flaws(
    schema: Mapping[str, UntypedJson], count: int, path: str
) -> Iterator[Flaw]:
    minimum, maximum = map(schema.get, ("minItems", "maxItems"))
    if minimum is not None and count < minimum:
        yield Flaw(Failure.TOO_FEW_ITEMS, f"{count} for at least {minimum}", path)
    if maximum is not None and count > maximum:
        yield Flaw(Failure.TOO_MANY_ITEMS, f"{count} for at most {maximum}", path)


def _scalar_flaws(
    schema: Mapping[str, UntypedJson], value: UntypedJson, path: str
) -> Iterator[Flaw]:
    if "enum" in schema and value not in schema["enum"]:
        yield Flaw(Failure.NOT_IN_ENUM, shortened(repr(value), 60), path)
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if isinstance(value, float) and not math.isfinite(value):
        yield Flaw(Failure.WRONG_TYPE, str(value), path, RuleReading.RECOMMENDED)
    low, high = map(schema.get, ("minimum", "maximum"))
    if low is not None and value < low:
        yield Flaw(Failure.BELOW_MINIMUM, f"{value} for at least {low}", path)
    elif high is not None and value > high:
        yield Flaw(Failure.ABOVE_MAXIMUM, f"{value} for at most {high}", path)
