"""What the two validators say of one instance, with formats on and off.

jsonschema gets the patterns of ECMA-262 that the specification asks for: Python's
`re` differs. Nothing here fetches, and nothing here keeps time: the deadline is
that of the worker process which asks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import regress
from referencing import Registry

from curation.instances.judging.unevaluated import unevaluated_properties
from curation.json.text import canonical
from curation.schema.dialects import DIALECTS, Dialect
from curation.schema.dialects import DRAFT_2019_09 as _SINCE
from curation.validation.python_validators import PYTHON_VALIDATORS, jsonschema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema

#: From so many items on, comparing each pair takes too long.
_MANY_ITEMS: Final = 64
#: Distinct patterns kept compiled.
_REMEMBERED: Final = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """Whether each validator accepts; None where it was not asked, or failed."""

    jsonschema_rs: bool
    #: Formats off.
    jsonschema_rs_plain: bool
    jsonschema: bool | None = None
    #: Formats off.
    jsonschema_plain: bool | None = None
    #: Why jsonschema gave no verdict; empty where it did or was not asked.
    error: str = ""

    @property
    def agree(self) -> bool:
        """Whether all that were asked say the same, formats on and formats off."""
        return (
            not self.error
            and self.jsonschema in (None, self.jsonschema_rs)
            and self.jsonschema_plain in (None, self.jsonschema_rs_plain)
        )

    @property
    def text(self) -> str:
        """The verdicts as the JSON text of one packaged column."""
        return json.dumps(
            {
                "jsonschema_rs": [self.jsonschema_rs, self.jsonschema_rs_plain],
                "jsonschema": [self.jsonschema, self.jsonschema_plain],
                **({"error": self.error} if self.error else {}),
            }
        )


def verdicts(
    compiled: CompiledSchema, value: UntypedJson, *, ask_jsonschema: bool
) -> Verdicts:
    """Ask jsonschema-rs, and jsonschema if wanted, under the record's dialect."""
    on = compiled.is_valid(value)
    off = bool(compiled.validator_without_formats.is_valid(value))
    if not ask_jsonschema:
        return Verdicts(jsonschema_rs=on, jsonschema_rs_plain=off)
    try:
        plain = _accepts(compiled, value, formats=False)
        # A format can only refuse more, but below `not` it can also allow more.
        strict = _accepts(compiled, value, formats=True)
    except Exception as error:  # noqa: BLE001 - whatever the library fails with
        why = f"{type(error).__name__}: {error}"[:200]
        return Verdicts(jsonschema_rs=on, jsonschema_rs_plain=off, error=why)
    return Verdicts(
        jsonschema_rs=on,
        jsonschema_rs_plain=off,
        jsonschema=strict,
        jsonschema_plain=plain,
    )


def _accepts(compiled: CompiledSchema, value: UntypedJson, *, formats: bool) -> bool:
    kind = _VALIDATORS[compiled.dialect.name]
    checker = kind.FORMAT_CHECKER if formats else None
    validator = kind(compiled.schema, registry=Registry(), format_checker=checker)
    return bool(validator.is_valid(value))


@lru_cache(maxsize=_REMEMBERED)
def _regex(pattern: str) -> regress.Regex:
    """Compile a pattern by ECMA-262, with the `u` flag where it allows that."""
    try:
        return regress.Regex(pattern, "u")
    except regress.RegressError:
        return regress.Regex(pattern)


def is_match(pattern: str, text: str) -> bool:
    """Tell whether an ECMA-262 pattern matches somewhere in a text."""
    return _regex(pattern).find(text) is not None


def _pattern(
    validator: Any,  # noqa: ANN401 - jsonschema's own interface
    pattern: str,
    instance: UntypedJson,
    _: UntypedJson,
) -> Iterator[jsonschema.ValidationError]:
    if validator.is_type(instance, "string") and not is_match(pattern, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any,  # noqa: ANN401 - jsonschema's own interface
    members: dict[str, UntypedJson],
    instance: UntypedJson,
    _: UntypedJson,
) -> Iterator[jsonschema.ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, schema in members.items():
        for name, value in instance.items():
            if is_match(pattern, name):
                yield from validator.descend(
                    value, schema, path=name, schema_path=pattern
                )


def _additional_properties(
    validator: Any,  # noqa: ANN401 - jsonschema's own interface
    rest: UntypedJson,
    instance: UntypedJson,
    schema: UntypedJson,
) -> Iterator[jsonschema.ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    declared = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in declared or any(is_match(each, name) for each in patterns):
            continue
        if rest is False:
            yield jsonschema.ValidationError(f"{name!r} is one too many")
        else:
            yield from validator.descend(value, rest, path=name)


def _unique_items(
    validator: Any,  # noqa: ANN401 - jsonschema's own interface
    wanted: UntypedJson,
    instance: UntypedJson,
    schema: UntypedJson,
) -> Iterator[jsonschema.ValidationError]:
    """Compare long arrays by canonical form; jsonschema compares each pair.

    The canonical form is equal where JSON Schema says that values are.
    """
    if not validator.is_type(instance, "array") or len(instance) < _MANY_ITEMS:
        own = PYTHON_VALIDATORS["2020-12"].VALIDATORS["uniqueItems"]
        yield from own(validator, wanted, instance, schema) or ()
    elif wanted and len(set(map(canonical, instance))) < len(instance):
        yield jsonschema.ValidationError("an item stands twice")


_ECMA: Final = {
    "uniqueItems": _unique_items,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}
_NEW: Final = {"unevaluatedProperties": unevaluated_properties(is_match)}


def _extended(dialect: Dialect) -> Any:  # noqa: ANN401 - jsonschema's own classes
    keywords = {**_ECMA, **(_NEW if dialect.order >= _SINCE.order else {})}
    return jsonschema.validators.extend(PYTHON_VALIDATORS[dialect.name], keywords)  # type: ignore[no-untyped-call] # typeshed leaves it open


_VALIDATORS: Final[dict[str, Any]] = {
    dialect.name: _extended(dialect) for dialect in DIALECTS
}
