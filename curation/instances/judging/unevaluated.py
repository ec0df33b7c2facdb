"""`unevaluatedProperties` for jsonschema, its patterns by ECMA-262.

jsonschema's own asks Python's `re` which names `patternProperties` has evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from referencing.jsonschema import lookup_recursive_ref

from curation.schema.keywords import REFERENCE_KEYWORDS
from curation.validation.python_validators import jsonschema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curation.core.json_types import UntypedJson

_TAKING_ALL: Final = ("additionalProperties", "unevaluatedProperties")


def unevaluated_properties(is_match: Callable[[str, str], bool]) -> Any:  # noqa: ANN401 - jsonschema's own interface
    """Return the keyword, given how a pattern is matched."""

    def keyword(
        validator: Any,  # noqa: ANN401 - jsonschema's own interface
        rest: UntypedJson,
        instance: UntypedJson,
        schema: UntypedJson,
    ) -> Iterator[jsonschema.ValidationError]:
        if not validator.is_type(instance, "object"):
            return
        beside = {word: schema[word] for word in schema if word != _TAKING_ALL[1]}
        known = _evaluated(validator.evolve(schema=beside), instance, is_match)
        for name in instance:
            if name not in known and not validator.evolve(schema=rest).is_valid(
                instance[name]
            ):
                yield jsonschema.ValidationError(f"{name!r} is not evaluated")

    return keyword


def _evaluated(
    validator: Any,  # noqa: ANN401 - jsonschema's own interface
    instance: dict[str, UntypedJson],
    is_match: Callable[[str, str], bool],
) -> set[str]:
    """Return the names that a schema evaluates in an object that it accepts."""
    schema = validator.schema
    if not isinstance(schema, dict):
        return set()
    names = set(schema.get("properties", ())) & instance.keys()
    patterns = schema.get("patternProperties", ())
    names |= {each for each in instance if any(is_match(one, each) for one in patterns)}
    if any(word in schema for word in _TAKING_ALL):
        return set(instance)
    for inner in _applied(validator, instance):
        names |= _evaluated(inner, instance, is_match)
    return names


def _applied(validator: Any, instance: dict[str, UntypedJson]) -> Iterator[Any]:  # noqa: ANN401 - as above
    """Yield a validator of every schema that applies to the same object and holds."""
    schema, resolver = validator.schema, validator._resolver  # noqa: SLF001 - there is no public way
    for word in REFERENCE_KEYWORDS:
        if word in schema:
            recursive = word == "$recursiveRef"
            found = (
                lookup_recursive_ref(resolver)
                if recursive
                else resolver.lookup(schema[word])
            )
            yield validator.evolve(schema=found.contents, _resolver=found.resolver)
    inner = [each for word in ("allOf", "anyOf", "oneOf") for each in _of(schema, word)]
    dependent = schema.get("dependentSchemas", {})
    inner += [each for name, each in dependent.items() if name in instance]
    if "if" in schema:
        holds = validator.evolve(schema=schema["if"]).is_valid(instance)
        inner += [schema["if"]] if holds else []
        inner += [schema.get("then" if holds else "else", {})]
    for each in inner:
        below = validator.evolve(schema=each)
        if below.is_valid(instance):
            yield below


def _of(schema: dict[str, UntypedJson], word: str) -> list[UntypedJson]:
    value = schema.get(word)
    return value if isinstance(value, list) else []
