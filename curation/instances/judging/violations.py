"""Violations of a value, as jsonschema-rs reports them, and where its text shows them.

`$ref`, `allOf`, `properties`, `items` and the like pass on the failures below them.
`anyOf`, `oneOf`, `not`, `if`, `contains`, `propertyNames`, `dependent...` and
`unevaluated...` decide themselves: they are the keyword that fails.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.keyword_values import (
    DECIDING,
    item_keywords,
    read_array,
    read_names,
    read_number,
)
from curation.instances.model import NearMiss, to_text
from curation.json.pointer import Tokens, at, parse_tokens, pointer, replaced
from curation.json.values import identity, is_number, json_type
from curation.schema.keywords import REFERENCE_KEYWORDS, Shape

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import (
        CompiledSchema,
        FailedAssertion,
    )
    from curation.instances.constraints.conjunction import Goals
    from curation.schema.subschemas import SchemaLocation

#: Stands for the keyword where a schema is `false` and no keyword holds it.
FALSE: Final = "false"
#: Stands for the keyword where several fail.
MIXED: Final = "mixed"
_CONDITIONAL: Final = ("then", "else")
#: Keywords that pass on what fails below them, each for one member of the value.
_DESCENDING: Final = ("properties", "patternProperties", "items", "prefixItems")


class Violation(NamedTuple):
    """One keyword that a value fails."""

    keyword: str
    #: Where the keyword is in the record, references followed.
    schema_pointer: str
    #: Where the value is that fails it.
    instance_pointer: str


def find_violations(compiled: CompiledSchema, value: Json) -> tuple[Violation, ...]:
    """Return the violations of a value, each once, in the validator's order.

    Example:
        >>> schema = {"properties": {"a": {"type": "string"}}}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> tuple(find_violations(compiled, {"a": 1})[0])
        ('type', '/properties/a/type', '/a')
    """
    violations: dict[Violation, None] = {}
    for failed in compiled.errors(value):
        try:
            if failed.of_name and "propertyNames" not in failed.evaluation_path:
                violation = _name_violation(compiled, value, failed)
            else:
                violation = _deciding_violation(compiled, failed)
        except LookupError:
            violation = Violation(
                failed.keyword, failed.schema_pointer, failed.instance_pointer
            )
        violations[violation] = None
    return tuple(violations)


def as_near_miss(compiled: CompiledSchema, value: Json) -> NearMiss | None:
    """Return a value with its violation, or None if the schema accepts it."""
    violations = find_violations(compiled, value)
    if not violations:
        return None
    principal = violations[0]
    refusals = {
        (violation.keyword, violation.instance_pointer) for violation in violations
    }
    single = len(refusals) == 1
    return NearMiss(
        value=value,
        keyword=principal.keyword if single else MIXED,
        schema_pointer=principal.schema_pointer if single else "",
        instance_pointer=principal.instance_pointer if single else "",
        keywords=violations if len(violations) > 1 else (),
    )


def _deciding_violation(compiled: CompiledSchema, failed: FailedAssertion) -> Violation:
    """Follow the applied keywords down to the deciding one.

    Raises:
        LookupError: they lead nowhere in the record.
    """
    location, path = compiled.root, failed.evaluation_path
    instance_tokens = parse_tokens(failed.instance_pointer)
    index = depth = 0
    while index < len(path):
        keyword = path[index]
        index += 1
        if keyword in REFERENCE_KEYWORDS:
            target = compiled.target(location, keyword)
            if target is None:
                raise LookupError(keyword)
            location = target
        elif keyword in _CONDITIONAL:
            return _violation_at(location, "if", instance_tokens[:depth])
        elif keyword in DECIDING:
            return _violation_at(location, keyword, instance_tokens[:depth])
        elif index == len(path):
            return _violation_at(location, keyword, instance_tokens)
        elif (
            isinstance(location.schema[keyword], list)
            or compiled.dialect.applicators.get(keyword) is Shape.MAP
        ):
            location = compiled.child(location, (keyword, path[index]))
            index += 1
            depth += keyword in _DESCENDING
        else:
            location = compiled.child(location, (keyword,))
            depth += 1
    return Violation(
        keyword=FALSE,
        schema_pointer=keyword_pointer(location, ()),
        instance_pointer=failed.instance_pointer,
    )


def _name_violation(
    compiled: CompiledSchema, value: Json, failed: FailedAssertion
) -> Violation:
    """Find the `propertyNames` that refuses a name, from where the object is.

    Raises:
        LookupError: none does that always applies.
    """
    goals: Goals = (compiled.root,)
    instance_tokens = parse_tokens(failed.instance_pointer)
    for token in instance_tokens:
        step = int(token) if isinstance(value, list) else token
        goals = conjoin(compiled, goals).member_goals(step) or ()
        value = at(value, (token,))
    for part in conjoin(compiled, goals).locations:
        if "propertyNames" in part.schema and isinstance(value, dict):
            location = compiled.child(part, ("propertyNames",))
            if not all(compiled.accepts(location, name) for name in value):
                return _violation_at(part, "propertyNames", instance_tokens)
    raise LookupError(failed.schema_pointer)


def _violation_at(
    location: SchemaLocation, keyword: str, instance_tokens: Tokens
) -> Violation:
    return Violation(
        keyword=keyword,
        schema_pointer=keyword_pointer(location, (keyword,)),
        instance_pointer=pointer(instance_tokens),
    )


def keyword_pointer(location: SchemaLocation, tokens: Tokens) -> str:
    """Return the JSON pointer of a location below a schema location.

    Outside of the record the URI of the document comes before it, and `#`.
    """
    text = pointer(location.tokens + tokens)
    return f"{location.document}#{text}" if location.document else text


#: Stands in the text for the value that fails.
_MARK: Final = "csbdata:value"
#: What makes a number none of `integer`.
_FRACTION: Final = re.compile("[.eE]")
_NUMBERS: Final = frozenset({"integer", "number"})


def fails_at(compiled: CompiledSchema, near_miss: NearMiss) -> int:
    """Return the position in the text of a near miss at which it fails, at the latest.

    No valid instance begins with the text up to and including that character; what
    follows decides nothing. A number fails at the character after it, which the text
    of a number alone does not have. Where the exact position is not known (`pattern`,
    `format`, `unevaluated...`, branches), it is the end of the value.

    Args:
        compiled: The schema.
        near_miss: An instance with the only keyword that it fails.
    """
    value, keyword = near_miss.value, near_miss.keyword
    tokens = parse_tokens(near_miss.instance_pointer)
    start = 0
    if tokens:
        start = to_text(replaced(value, tokens, _MARK)).index(_MARK) - 1
    # The keyword is outside of the record, or the value must not be there.
    with suppress(LookupError):
        location = compiled.location_at(parse_tokens(near_miss.schema_pointer)[:-1])
        if isinstance(location.schema, dict):
            return start + _position(compiled, location, keyword, at(value, tokens))
    return start


def _position(
    compiled: CompiledSchema, location: SchemaLocation, keyword: str, value: Json
) -> int:
    """Return the position in the text of a value at which it fails a keyword.

    Raises:
        LookupError: the schema at the location has no such keyword.
    """
    operand, text = location.schema[keyword], to_text(value)
    if keyword == "type":
        is_fraction = is_number(value) and "integer" in read_names(operand)
        fraction = _FRACTION.search(text) if is_fraction else None
        return fraction.start() if fraction else 0
    if keyword in ("enum", "const"):
        operands = (
            [operand] if keyword == "const" else read_array(location.schema, keyword)
        )
        pairs = (zip(text, to_text(candidate), strict=False) for candidate in operands)
        shared = (
            takewhile(lambda pair: pair[0] == pair[1], pair_run) for pair_run in pairs
        )
        return max((len(list(pair_run)) for pair_run in shared), default=0)
    if keyword in ("items", "additionalItems"):
        prefix, _ = item_keywords(location.schema, compiled.dialect)
        return _after_members(value, len(read_array(location.schema, prefix)))
    # The end of a number shows only in the character after it.
    end = len(text) - (not is_number(value))
    if keyword in ("anyOf", "oneOf"):
        types = {
            name
            for branch in compiled.branches(location, keyword)
            for name in conjoin(compiled, (branch,)).types
        }
        if not _NUMBERS.isdisjoint(types):
            types |= _NUMBERS
        return end if json_type(value) in types else 0
    if keyword == "maxLength" and isinstance(value, str):
        return len(to_text(value[: int(operand)])) - 1
    if isinstance(value, dict | list):
        position = _position_of_member(compiled, location, keyword, value)
        return end if position is None else position
    return end


def _position_of_member(
    compiled: CompiledSchema,
    location: SchemaLocation,
    keyword: str,
    value: dict[str, Json] | list[Json],
) -> int | None:
    """Return the position of the first element or name that a keyword refuses."""
    if keyword in ("maxItems", "maxProperties"):
        return _after_members(value, int(read_number(location.schema, keyword)))
    if isinstance(value, list):
        identities: set[bytes] = set()
        for count, element in enumerate(value if keyword == "uniqueItems" else (), 1):
            identities.add(identity(element))
            if len(identities) < count:
                return _after_members(value, count) - (not is_number(element))
        return None
    for count, name in enumerate(value):
        if keyword == "propertyNames":
            names = compiled.child(location, (keyword,))
            is_refused = not compiled.accepts(names, name)
        else:
            is_refused = keyword == "additionalProperties" and any(
                site.tokens[-1:] == (keyword,)
                for site in compiled.member_locations(location, name)
            )
        if is_refused:
            comma = 2 if count else 0
            return _after_members(value, count) + comma + len(to_text(name)) - 1
    return None


def _after_members(value: Json, count: int) -> int:
    """Return the position of what follows the first elements or properties."""
    if isinstance(value, dict):
        return len(to_text(dict(islice(value.items(), count)))) - 1
    return len(to_text(value[:count])) - 1 if isinstance(value, list) else 0
