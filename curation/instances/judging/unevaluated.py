"""`unevaluatedProperties` for jsonschema, its patterns by ECMA-262.

jsonschema's own asks Python's `re` which names `patternProperties` has evaluated.
Source: JSON Schema core 2020-12, section 11.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from referencing.jsonschema import lookup_recursive_ref

from curation.instances.constraints.keyword_values import array_of, object_of
from curation.schema.keywords import REFERENCE_KEYWORDS
from curation.validation.python_validators import jsonschema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from curation.core.json_types import Json
    from curation.instances.judging.python_validator import PythonValidator

    _Keyword = Callable[
        [PythonValidator, Json, Json, Mapping[str, Json]],
        Iterator[jsonschema.ValidationError],
    ]

#: Keywords that evaluate every property.
_EVALUATING_ALL: Final = ("additionalProperties", "unevaluatedProperties")


def unevaluated_properties(is_match: Callable[[str, str], bool]) -> _Keyword:
    """Return the keyword for jsonschema.

    Args:
        is_match: Says whether a pattern matches somewhere in a text.
    """

    def keyword(
        validator: PythonValidator,
        unevaluated: Json,
        instance: Json,
        schema: Mapping[str, Json],
    ) -> Iterator[jsonschema.ValidationError]:
        if not isinstance(instance, dict):
            return
        beside = {name: schema[name] for name in schema if name != _EVALUATING_ALL[1]}
        known = _evaluated(validator.evolve(schema=beside), instance, is_match)
        for name in instance:
            if name not in known and not validator.evolve(schema=unevaluated).is_valid(
                instance[name]
            ):
                yield jsonschema.ValidationError(f"{name!r} is not evaluated")

    return keyword


def _evaluated(
    validator: PythonValidator,
    instance: dict[str, Json],
    is_match: Callable[[str, str], bool],
) -> set[str]:
    """Return the names that a schema evaluates in an object that it accepts."""
    schema = validator.schema
    if not isinstance(schema, dict):
        return set()
    names = object_of(schema, "properties").keys() & instance.keys()
    patterns = object_of(schema, "patternProperties")
    names |= {
        name
        for name in instance
        if any(is_match(pattern, name) for pattern in patterns)
    }
    if any(keyword in schema for keyword in _EVALUATING_ALL):
        return set(instance)
    for applied in _applied(validator, schema, instance):
        names |= _evaluated(applied, instance, is_match)
    return names


def _applied(
    validator: PythonValidator, schema: dict[str, Json], instance: dict[str, Json]
) -> Iterator[PythonValidator]:
    """Yield a validator of every schema that applies to the same object and holds."""
    resolver = validator._resolver  # noqa: SLF001 - there is no public way
    for keyword in REFERENCE_KEYWORDS:
        if keyword in schema:
            recursive = keyword == "$recursiveRef"
            found = (
                lookup_recursive_ref(resolver)
                if recursive
                else resolver.lookup(schema[keyword])
            )
            yield validator.evolve(schema=found.contents, _resolver=found.resolver)
    for subschema in _in_place(validator, schema, instance):
        applied = validator.evolve(schema=subschema)
        if applied.is_valid(instance):
            yield applied


def _in_place(
    validator: PythonValidator, schema: dict[str, Json], instance: dict[str, Json]
) -> Iterator[Json]:
    """Yield the subschemas that may apply to the same object."""
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from array_of(schema, keyword)
    for name, subschema in object_of(schema, "dependentSchemas").items():
        if name in instance:
            yield subschema
    if "if" in schema:
        holds = validator.evolve(schema=schema["if"]).is_valid(instance)
        if holds:
            yield schema["if"]
        yield schema.get("then" if holds else "else", {})
