"""Violations of a value, as jsonschema-rs reports them: keyword, schema, instance.

`$ref`, `allOf`, `properties`, `items` and the like pass on the failures below them.
`anyOf`, `oneOf`, `not`, `if`, `contains`, `propertyNames`, `dependent...` and
`unevaluated...` decide themselves: they are the keyword that fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.constraints.conjoin import conjoin
from curation.instances.constraints.keyword_values import DECIDING
from curation.instances.values.model import NearMiss
from curation.json.pointer import Tokens, at, pointer, tokens_of
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
    #: Where the keyword stands in the record, references followed.
    schema_pointer: str
    #: Where the value stands that fails it.
    instance_pointer: str


def find_violations(compiled: CompiledSchema, value: Json) -> tuple[Violation, ...]:
    """Return what a value fails, each once, in the validator's order.

    Example:
        >>> schema = {"properties": {"a": {"type": "string"}}}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> tuple(find_violations(compiled, {"a": 1})[0])
        ('type', '/properties/a/type', '/a')
    """
    violations = (
        _violation(compiled, value, failed) for failed in compiled.errors(value)
    )
    return tuple(dict.fromkeys(violations))


def as_near_miss(compiled: CompiledSchema, value: Json) -> NearMiss | None:
    """Return a value with what it violates, or None if the schema accepts it."""
    violations = find_violations(compiled, value)
    if not violations:
        return None
    first = violations[0]
    refusals = {
        (violation.keyword, violation.instance_pointer) for violation in violations
    }
    single = len(refusals) == 1
    return NearMiss(
        value=value,
        keyword=first.keyword if single else MIXED,
        schema_pointer=first.schema_pointer if single else "",
        instance_pointer=first.instance_pointer if single else "",
        keywords=violations if len(violations) > 1 else (),
    )


def _violation(
    compiled: CompiledSchema, value: Json, failed: FailedAssertion
) -> Violation:
    try:
        if failed.of_name and "propertyNames" not in failed.evaluation_path:
            return _name_violation(compiled, value, failed)
        return _deciding_violation(compiled, failed)
    except LookupError:
        return Violation(
            keyword=failed.keyword,
            schema_pointer=failed.schema_pointer,
            instance_pointer=failed.instance_pointer,
        )


def _deciding_violation(compiled: CompiledSchema, failed: FailedAssertion) -> Violation:
    """Follow the keywords passed through down to the one that decides.

    Raises:
        LookupError: they lead nowhere in the record.
    """
    location, path = compiled.root, failed.evaluation_path
    instance_tokens = tokens_of(failed.instance_pointer)
    index = depth = 0
    while index < len(path):
        keyword = path[index]
        index += 1
        if keyword in REFERENCE_KEYWORDS:
            location = _target(compiled, location, keyword)
        elif keyword in _CONDITIONAL:
            return _violation_at(location, "if", instance_tokens[:depth])
        elif keyword in DECIDING:
            return _violation_at(location, keyword, instance_tokens[:depth])
        elif index == len(path):
            return _violation_at(location, keyword, instance_tokens)
        elif _holds_several(compiled, location, keyword):
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
    """Find the `propertyNames` that refuses a name, from where the object stands.

    Raises:
        LookupError: none does that always applies.
    """
    goals: Goals = (compiled.root,)
    instance_tokens = tokens_of(failed.instance_pointer)
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


def _target(
    compiled: CompiledSchema, location: SchemaLocation, keyword: str
) -> SchemaLocation:
    target = compiled.target(location, keyword)
    if target is None:
        raise LookupError(keyword)
    return target


def _holds_several(
    compiled: CompiledSchema, location: SchemaLocation, keyword: str
) -> bool:
    if isinstance(location.schema[keyword], list):
        return True
    return compiled.dialect.applicators.get(keyword) is Shape.MAP


def _violation_at(
    location: SchemaLocation, keyword: str, instance_tokens: Tokens
) -> Violation:
    return Violation(
        keyword=keyword,
        schema_pointer=keyword_pointer(location, (keyword,)),
        instance_pointer=pointer(instance_tokens),
    )


def keyword_pointer(location: SchemaLocation, tokens: Tokens) -> str:
    """Return the JSON pointer of what stands below a schema location.

    Outside of the record the URI of the document comes before it, and `#`.
    """
    text = pointer(location.tokens + tokens)
    return f"{location.document}#{text}" if location.document else text
