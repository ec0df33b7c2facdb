"""Verdicts of both validators on an instance, with formats on and off."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import msgspec
from referencing import Registry

from curation.instances.ecma_validators import ECMA_VALIDATORS, Memory, PythonValidator

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.interpretations import Interpretations

#: Longest text kept of an error of jsonschema's.
_SHOWN: Final = 200
#: Keywords whose target depends on how it was reached.
_DYNAMIC: Final = (b"$dynamicRef", b"$recursiveRef")
#: jsonschema's validators of schemas that are in use, by whether formats are asserted.
_VALIDATORS: Final[WeakKeyDictionary[CompiledSchema, dict[bool, PythonValidator]]] = (
    WeakKeyDictionary()
)


class Verdicts(msgspec.Struct, frozen=True, kw_only=True):
    """Whether each validator accepts; None if it was not asked, or failed."""

    jsonschema_rs: bool
    #: Formats off.
    jsonschema_rs_plain: bool
    jsonschema: bool | None = None
    #: Formats off.
    jsonschema_plain: bool | None = None
    #: Why jsonschema gave no verdict; empty where it did or was not asked.
    error: str = ""
    #: What both say of a schema that heeds what its draft ignores; None if the
    #: draft ignores nothing (`curation.instances.constraints.interpretations`).
    heeding: Verdicts | None = None

    @property
    def text(self) -> str:
        """The verdicts as the JSON text of one packaged column."""
        return _text_of(self)

    def as_json(self) -> dict[str, Json]:
        """Return the verdicts as a JSON object."""
        members: dict[str, Json] = {
            "jsonschema_rs": [self.jsonschema_rs, self.jsonschema_rs_plain],
            "jsonschema": [self.jsonschema, self.jsonschema_plain],
        }
        if self.error:
            members["error"] = self.error
        if self.heeding:
            members["heeding"] = self.heeding.as_json()
        return members


@lru_cache(maxsize=256)
def _text_of(own: Verdicts) -> str:
    return json.dumps(own.as_json())


def verdicts_of_each(
    interpretations: Interpretations, value: Json, *, ask_jsonschema: bool
) -> Verdicts:
    """Return the verdicts of the validators on a value, by each interpretation.

    Args:
        interpretations: The schema.
        value: The instance.
        ask_jsonschema: Whether jsonschema is asked too.
    """
    own_verdicts = verdicts(interpretations.own, value, ask_jsonschema=ask_jsonschema)
    heeding = interpretations.heeding
    if heeding is None:
        return own_verdicts
    other = verdicts(heeding, value, ask_jsonschema=ask_jsonschema)
    return msgspec.structs.replace(own_verdicts, heeding=other)


def verdicts(
    compiled: CompiledSchema, value: Json, *, ask_jsonschema: bool
) -> Verdicts:
    """Return the verdicts of the validators on a value under the schema's dialect.

    Args:
        compiled: The schema.
        value: The instance.
        ask_jsonschema: Whether jsonschema is asked too, which takes a hundred times
            as long.

    Example:
        >>> compiled = CompiledSchema.from_json({"format": "date"}, "draft-07")
        >>> verdicts(compiled, "tomorrow", ask_jsonschema=True).text
        '{"jsonschema_rs": [false, true], "jsonschema": [false, true]}'
    """
    on, off = compiled.verdicts(value)
    own = Verdicts(jsonschema_rs=on, jsonschema_rs_plain=off)
    if not ask_jsonschema:
        return own
    try:
        strict, plain = _jsonschema_verdicts(compiled, value)
    except Exception as error:  # noqa: BLE001 - the library may fail with anything
        why = f"{type(error).__name__}: {error}"[:_SHOWN]
        return msgspec.structs.replace(own, error=why)
    return msgspec.structs.replace(own, jsonschema=strict, jsonschema_plain=plain)


def _jsonschema_verdicts(compiled: CompiledSchema, value: Json) -> tuple[bool, bool]:
    validator = _validator(compiled, formats=True)
    strict = _accepts(validator, value)
    if not validator.format_checker.has_refused:
        return strict, strict
    return strict, _accepts(_validator(compiled, formats=False), value)


def _validator(compiled: CompiledSchema, *, formats: bool) -> PythonValidator:
    """Return jsonschema's validator of a schema, which is made once."""
    cache = _VALIDATORS.setdefault(compiled, {})
    validator = cache.get(formats)
    if validator is None:
        make = ECMA_VALIDATORS[compiled.dialect.name]
        memory = Memory(
            formats=make.FORMAT_CHECKER if formats else None,
            is_static=not any(word in compiled.canonical for word in _DYNAMIC),
        )
        validator = make(compiled.value, registry=Registry(), format_checker=memory)
        cache[formats] = validator
    return validator


def _accepts(validator: PythonValidator, value: Json) -> bool:
    validator.format_checker.forget()
    try:
        return bool(validator.is_valid(value))
    except BaseException as error:
        # A registry's map, written in Rust, panics where Python's stack ends.
        if type(error).__name__ != "PanicException":
            raise
        raise RecursionError(str(error)) from error
