"""jsonschema with patterns by ECMA-262, as the specification asks; Python's differ.

Source: JSON Schema core, section 6.4.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import regress

from curation.instances.judging.unevaluated import unevaluated_properties
from curation.json.text import canonical
from curation.schema.dialects import DIALECTS, DRAFT_2019_09, Dialect
from curation.validation.python_validators import PYTHON_VALIDATORS, jsonschema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from curation.instances.judging.python_validator import PythonValidator

#: From so many items on, comparing each pair takes too long.
_MANY_ITEMS: Final = 64
#: Distinct patterns kept compiled.
_REMEMBERED: Final = 16_384


@lru_cache(maxsize=_REMEMBERED)
def _regex(pattern: str) -> regress.Regex:
    """Compile a pattern by ECMA-262, with the `u` flag where it allows that."""
    try:
        return regress.Regex(pattern, "u")
    except regress.RegressError:
        return regress.Regex(pattern)


def is_match(pattern: str, text: str) -> bool:
    r"""Return whether an ECMA-262 pattern matches somewhere in a text.

    Example:
        >>> is_match(r"^\d$", "\u0663")
        False
    """
    return _regex(pattern).find(text) is not None


def _pattern(
    _: PythonValidator, pattern: str, instance: Json, __: Mapping[str, Json]
) -> Iterator[jsonschema.ValidationError]:
    if isinstance(instance, str) and not is_match(pattern, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: PythonValidator,
    members: Mapping[str, Json],
    instance: Json,
    _: Mapping[str, Json],
) -> Iterator[jsonschema.ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, schema in members.items():
        for name, value in instance.items():
            if is_match(pattern, name):
                yield from validator.descend(
                    value, schema, path=name, schema_path=pattern
                )


def _additional_properties(
    validator: PythonValidator,
    additional: Json,
    instance: Json,
    schema: Mapping[str, Mapping[str, Json]],
) -> Iterator[jsonschema.ValidationError]:
    if not isinstance(instance, dict):
        return
    declared = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in declared or any(is_match(pattern, name) for pattern in patterns):
            continue
        if additional is False:
            yield jsonschema.ValidationError(f"{name!r} is one too many")
        else:
            yield from validator.descend(value, additional, path=name)


def _unique_items(
    validator: PythonValidator,
    wanted: Json,
    instance: Json,
    schema: Mapping[str, Json],
) -> Iterator[jsonschema.ValidationError]:
    """Compare long arrays by canonical form; jsonschema compares each pair.

    The canonical form is equal where JSON Schema says that values are.
    """
    if not isinstance(instance, list) or len(instance) < _MANY_ITEMS:
        own = PYTHON_VALIDATORS["2020-12"].VALIDATORS["uniqueItems"]
        yield from own(validator, wanted, instance, schema) or ()
    elif wanted and len(set(map(canonical, instance))) < len(instance):
        yield jsonschema.ValidationError("an item stands twice")


def _any_of(
    validator: PythonValidator,
    branches: Sequence[Json],
    instance: Json,
    _: Mapping[str, Json],
) -> Iterator[jsonschema.ValidationError]:
    """Ask branches until one accepts; jsonschema lists what is wrong with each."""
    if not any(
        validator.evolve(schema=branch).is_valid(instance) for branch in branches
    ):
        yield jsonschema.ValidationError("no branch accepts it")


def _one_of(
    validator: PythonValidator,
    branches: Sequence[Json],
    instance: Json,
    _: Mapping[str, Json],
) -> Iterator[jsonschema.ValidationError]:
    """Ask branches until two accept; jsonschema lists what is wrong with each."""
    accepting = (
        branch
        for branch in branches
        if validator.evolve(schema=branch).is_valid(instance)
    )
    if len(list(islice(accepting, 2))) != 1:
        yield jsonschema.ValidationError("not exactly one branch accepts it")


_KEYWORDS: Final = {
    "anyOf": _any_of,
    "oneOf": _one_of,
    "uniqueItems": _unique_items,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}
_KEYWORDS_SINCE_2019: Final = {
    "unevaluatedProperties": unevaluated_properties(is_match)
}
#: typeshed leaves it without types.
_extend: Final[Callable[..., Any]] = jsonschema.validators.extend


def _extended(dialect: Dialect) -> Any:  # noqa: ANN401 - jsonschema's own classes
    is_new = dialect.order >= DRAFT_2019_09.order
    keywords = {**_KEYWORDS, **(_KEYWORDS_SINCE_2019 if is_new else {})}
    return _extend(PYTHON_VALIDATORS[dialect.name], keywords)


#: Dialect name to jsonschema's validator class with these keywords.
ECMA_VALIDATORS: Final[Mapping[str, Any]] = {
    dialect.name: _extended(dialect) for dialect in DIALECTS
}
