"""A record's schema: validation, expected types and required paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import jsonschema_rs
from referencing import Registry
from referencing.exceptions import Unresolvable

from curation.core.json_types import Json, UntypedJson
from curation.json.text import plain
from curation.json.values import type_of
from curation.schema.dialects import DRAFT_2020_12, declared
from curation.validation.metaschemas import RUST_VALIDATORS, refuse
from curation.validation.python_validators import PYTHON_VALIDATORS, SchemaError

_SHOWN: Final = 200


#: Returns why an instance is refused; None if it is accepted.
_Check: TypeAlias = Callable[[Json], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSchema:
    """A record's schema with a compiled validator."""

    #: Why no answer can be judged by it; empty if it can be used.
    unusable: str
    check: _Check

    def refusal(self, instance: Json) -> str | None:
        """Return why the schema refuses an instance; None if it accepts."""
        return self.unusable or self.check(instance)


def dialect_of(schema: Json) -> str:
    """Return the name of the dialect that a schema declares, by default 2020-12."""
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    return (declared(uri) or DRAFT_2020_12).name


def compile_schema(schema: Json, dialect: str | None) -> TargetSchema:
    """Compile a schema; formats are annotations, as in the paper.

    Args:
        schema: The schema. No validator ever fetches a reference.
        dialect: Its dialect, to be validated by jsonschema alone, as the authors did.
            None for the declared one, by jsonschema-rs; by jsonschema if only that
            accepts the schema.
    """
    value: UntypedJson = plain(schema)
    if dialect is None:
        dialect = dialect_of(schema)
        validator = _rust_validator(value, dialect)
        if validator is not None:
            return TargetSchema(unusable="", check=_rust_check(validator))
    return _python_target(value, dialect)


def _rust_validator(value: UntypedJson, dialect: str) -> jsonschema_rs.Validator | None:
    if dialect not in RUST_VALIDATORS:
        return None
    try:
        return RUST_VALIDATORS[dialect](value, validate_formats=False, retriever=refuse)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return None


def _rust_check(validator: jsonschema_rs.Validator) -> _Check:
    def check(instance: Json, /) -> str | None:
        try:
            if validator.is_valid(instance):
                return None
            failure = next(iter(validator.iter_errors(instance)), None)
        except ValueError as error:
            return _line(f"the validator failed: {error}")
        return _line(failure.message) if failure else "refused"

    return check


def _python_target(value: UntypedJson, dialect: str) -> TargetSchema:
    # Its library has no common type for validators of all dialects.
    validator_class: Any = PYTHON_VALIDATORS[dialect]
    unusable = ""
    try:
        validator_class.check_schema(value)
    except (SchemaError, RecursionError) as error:
        message = getattr(error, "message", "") or type(error).__name__
        unusable = _line(f"the schema is invalid: {message}")
    except Exception as error:  # noqa: BLE001 - a schema can make the library raise anything
        unusable = _line(f"no validator takes the schema: {error!r}")
    if not isinstance(value, dict | bool):
        unusable, value = "the schema is no object and no boolean", False
    validator = validator_class(value, registry=Registry())
    return TargetSchema(unusable=unusable, check=_python_check(validator))


def _python_check(validator: Any) -> _Check:  # noqa: ANN401 - as above
    def check(instance: Json, /) -> str | None:
        try:
            failure = next(validator.iter_errors(instance), None)
        except Unresolvable as error:
            return _line(f"a reference of the schema has no target: {error}")
        except RecursionError:
            return "the validator failed: nested too deeply"
        except Exception as error:  # noqa: BLE001 - for one, a pattern that is invalid
            return _line(f"the validator failed: {error!r}")
        return _line(failure.message) if failure else None

    return check


def _line(message: str) -> str:
    text = " ".join(message.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


_INDEX: Final = re.compile(r"\[(-?\d+)\]")


@dataclass(frozen=True, slots=True)
class PublishedTypes:
    """The types as the published code looks them up: by name, and no further.

    Paths are texts, read back into steps. Each object on the way has only
    `type: object`, each array `type: array`. In a list of types the one that is not
    null is expected, so that null is wrong even if it is allowed; with a reference, a
    union, or two such types nothing is expected, and every value wrong. A float is
    never an integer, 1.0 included.
    """

    schema: Json

    def accepts(self, path: tuple[str | int, ...], value: Json) -> bool:
        """Return whether a leaf of the answer has the type expected there."""
        expected = self._type(str(path[0]))
        if isinstance(value, float):
            return expected == "number"
        kind = type_of(value)
        return kind == expected or (kind == "integer" and expected == "number")

    def _type(self, path: str) -> str | None:
        schema: Json = self.schema
        for index, part in enumerate(_INDEX.split(path)):
            for step in filter(None, (part,) if index % 2 else part.split(".")):
                holder = "array" if index % 2 else "object"
                if not isinstance(schema, dict) or schema.get("type") != holder:
                    return None
                schema = schema.get("items" if index % 2 else "properties")
                if not index % 2:
                    schema = schema.get(step) if isinstance(schema, dict) else None
        kind = schema.get("type") if isinstance(schema, dict) else None
        if isinstance(kind, list):
            names = [name for name in kind if name != "null"]
            kind = names[0] if len(names) == 1 else None
        return kind if isinstance(kind, str) else None
