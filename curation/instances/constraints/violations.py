"""Violations of a value, as jsonschema-rs reports them, and where its text shows them.

`$ref`, `allOf`, `properties`, `items` and the like pass on the failures below them.
`anyOf`, `oneOf`, `not`, `if`, `contains`, `propertyNames`, `dependent...` and
`unevaluated...` decide themselves: they are the keyword that fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.keyword_values import (
    DECIDING,
    array_of,
    item_keywords,
    names_of,
    number_of,
)
from curation.instances.values.model import NearMiss, text_of
from curation.json.pointer import Tokens, at, pointer, replaced, tokens_of
from curation.json.values import identity, is_number, type_of
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


#: Stands in the text for the value that fails.
_MARK: Final = "csbdata:value"
#: What makes a number none of `integer`.
_FRACTION: Final = re.compile("[.eE]")


class _Failure(NamedTuple):
    """A value that fails one keyword."""

    compiled: CompiledSchema
    location: SchemaLocation
    keyword: str
    value: Json
    text: str

    @property
    def end(self) -> int:
        """Position of the value's last character; of a number, of the one after it."""
        return len(self.text) - (not is_number(self.value))

    @property
    def limit(self) -> int:
        """The keyword's value, a count."""
        return int(number_of(self.location.schema, self.keyword))


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
    tokens = tokens_of(near_miss.instance_pointer)
    start = 0
    if tokens:
        start = text_of(replaced(value, tokens, _MARK)).index(_MARK) - 1
    try:
        location = compiled.location_at(tokens_of(near_miss.schema_pointer)[:-1])
        own = at(value, tokens)
        failure = _Failure(compiled, location, keyword, own, text_of(own))
        return start + _POSITIONS[keyword](failure)
    except LookupError:
        # The keyword stands outside of the record, or the value must not be there.
        return start


def _mistyped(failure: _Failure) -> int:
    names = names_of(failure.location.schema["type"])
    if is_number(failure.value) and "integer" in names:
        fraction = _FRACTION.search(failure.text)
        return fraction.start() if fraction else 0
    return 0


def _unlisted(failure: _Failure) -> int:
    schema = failure.location.schema
    listed = [schema["const"]] if failure.keyword == "const" else schema["enum"]
    texts = map(text_of, listed if isinstance(listed, list) else ())
    return max((_common(failure.text, text) for text in texts), default=0)


def _common(text: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    pairs = enumerate(zip(text, other, strict=False))
    shorter = min(len(text), len(other))
    return next((place for place, (one, two) in pairs if one != two), shorter)


def _at_end(failure: _Failure) -> int:
    return failure.end


def _too_long(failure: _Failure) -> int:
    text = failure.value if isinstance(failure.value, str) else ""
    return len(text_of(text[: failure.limit])) - 1


def _after_elements(value: Json, count: int) -> int:
    """Return the position of what follows the first elements or properties."""
    if isinstance(value, dict):
        return len(text_of(dict(islice(value.items(), count)))) - 1
    return len(text_of(value[:count])) - 1 if isinstance(value, list) else 0


def _too_many(failure: _Failure) -> int:
    return _after_elements(failure.value, failure.limit)


def _undeclared_element(failure: _Failure) -> int:
    prefix, _ = item_keywords(failure.location.schema, failure.compiled.dialect)
    count = len(array_of(failure.location.schema, prefix)) if prefix else 0
    return _after_elements(failure.value, count)


def _repeated(failure: _Failure) -> int:
    elements = failure.value if isinstance(failure.value, list) else []
    identities: set[bytes] = set()
    for count, element in enumerate(elements, 1):
        identities.add(identity(element))
        if len(identities) < count:
            return _after_elements(elements, count) - (not is_number(element))
    return failure.end


def _refused_name(failure: _Failure, is_refused: Callable[[str], bool]) -> int:
    """Return the position of the end of the first name that is refused."""
    members = failure.value if isinstance(failure.value, dict) else {}
    for count, name in enumerate(members):
        if is_refused(name):
            ahead = _after_elements(members, count)
            return ahead + (2 if count else 0) + len(text_of(name)) - 1
    return failure.end


def _undeclared(failure: _Failure) -> int:
    def is_refused(name: str) -> bool:
        places = failure.compiled.member_locations(failure.location, name)
        return any(place.tokens[-1:] == (failure.keyword,) for place in places)

    return _refused_name(failure, is_refused)


def _misnamed(failure: _Failure) -> int:
    names = failure.compiled.child(failure.location, ("propertyNames",))
    return _refused_name(
        failure, lambda name: not failure.compiled.accepts(names, name)
    )


def _outside_branches(failure: _Failure) -> int:
    """Return the position at which no branch is left; the type may tell."""
    compiled = failure.compiled
    kind = type_of(failure.value)
    types = {
        name
        for branch in compiled.branches(failure.location, failure.keyword)
        for name in conjoin(compiled, (branch,)).types
    }
    numbers = {"integer", "number"}
    may_be = kind in types or (kind in numbers and not numbers.isdisjoint(types))
    return failure.end if may_be else 0


#: For each keyword the position, counted from the start of the value.
_POSITIONS: Final[Mapping[str, Callable[[_Failure], int]]] = {
    "type": _mistyped,
    "enum": _unlisted,
    "const": _unlisted,
    "maxLength": _too_long,
    "maxItems": _too_many,
    "maxProperties": _too_many,
    "items": _undeclared_element,
    "additionalItems": _undeclared_element,
    "uniqueItems": _repeated,
    "additionalProperties": _undeclared,
    "propertyNames": _misnamed,
    "anyOf": _outside_branches,
    "oneOf": _outside_branches,
    **dict.fromkeys(
        (
            *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
            *("multipleOf", "minLength", "pattern", "format", "minItems", "contains"),
            *("minContains", "maxContains", "unevaluatedItems", "required"),
            *("minProperties", "dependencies", "dependentRequired"),
            *("dependentSchemas", "unevaluatedProperties", "not", "if"),
        ),
        _at_end,
    ),
}
