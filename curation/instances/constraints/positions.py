"""Positions in the text of an instance at which a violation shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.constraints.conjoin import conjoin
from curation.instances.constraints.keyword_values import (
    array_of,
    item_keywords,
    names_of,
    number_of,
)
from curation.instances.values.json_text import text_of
from curation.json.pointer import at, replaced, tokens_of
from curation.json.values import identity, is_number, type_of

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.values.model import NearMiss
    from curation.schema.subschemas import SchemaLocation

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
