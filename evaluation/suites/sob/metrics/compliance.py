"""Does a schema accept an answer? Each schema is compiled once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import jsonschema_rs
from referencing import Registry
from referencing.exceptions import Unresolvable

from curation.json.text import plain
from curation.schema.dialects import DRAFT_2020_12, declared
from curation.validation.python_validators import PYTHON_VALIDATORS, SchemaError
from curation.validation.rust_validators import RUST_VALIDATORS, refuse

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from evaluation.suites.sob.metrics.rules import ScoringRules

_SHOWN: Final = 200


class _Check(Protocol):
    """Says why an instance is refused; None if it is accepted."""

    def __call__(self, instance: Json, /) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSchema:
    """A record's schema, ready to judge answers."""

    schema: Json
    #: Name of the dialect that it was read in.
    dialect: str
    #: Why no answer can be judged by it; empty where it can be used.
    unusable: str
    check: _Check

    def refusal(self, instance: Json) -> str | None:
        """Return why the schema refuses an instance; None if it accepts."""
        return self.unusable or self.check(instance)


def dialect_of(schema: Json, rules: ScoringRules) -> str:
    """Return the name of the dialect that a reading reads a schema in."""
    if rules.dialect is not None:
        return rules.dialect
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    found = declared(uri)
    return found.name if found else DRAFT_2020_12.name


def compile_schema(schema: Json, rules: ScoringRules) -> TargetSchema:
    """Return the schema ready to judge; formats are annotations, as in the paper.

    The recommended reading asks jsonschema-rs and, for the few schemas that only the
    other takes, jsonschema. The published reading asks jsonschema alone, which is what
    the authors used. Neither ever fetches a reference.
    """
    dialect = dialect_of(schema, rules)
    value: UntypedJson = plain(schema)
    if rules.dialect is None and dialect in RUST_VALIDATORS:
        try:
            fast = RUST_VALIDATORS[dialect](
                value, validate_formats=False, retriever=refuse
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
            pass
        except ValueError:
            pass
        else:
            return TargetSchema(
                schema=schema, dialect=dialect, unusable="", check=_fast_check(fast)
            )
    return _slow(schema, value, dialect)


def _fast_check(validator: jsonschema_rs.Validator) -> _Check:
    def check(instance: Json, /) -> str | None:
        value: UntypedJson = plain(instance)
        try:
            if validator.is_valid(value):
                return None
            failure = next(iter(validator.iter_errors(value)), None)
        except ValueError as error:
            return _line(f"the validator failed: {error}")
        return _line(failure.message) if failure else "refused"

    return check


def _slow(schema: Json, value: UntypedJson, dialect: str) -> TargetSchema:
    # Its library has no common type for validators of all dialects.
    validator_class: Any = PYTHON_VALIDATORS[dialect]
    unusable = ""
    try:
        validator_class.check_schema(value)
    except (SchemaError, RecursionError) as error:
        message = getattr(error, "message", "") or type(error).__name__
        unusable = _line(f"the schema is invalid: {message}")
    except Exception as error:  # noqa: BLE001 - whatever a schema makes a library raise
        unusable = _line(f"no validator takes the schema: {error!r}")
    validator = validator_class(value, registry=Registry())
    return TargetSchema(
        schema=schema, dialect=dialect, unusable=unusable, check=_slow_check(validator)
    )


def _slow_check(validator: Any) -> _Check:  # noqa: ANN401 - as above
    def check(instance: Json, /) -> str | None:
        try:
            failure = next(validator.iter_errors(plain(instance)), None)
        except Unresolvable as error:
            return _line(f"the schema refers to what is not there: {error}")
        except RecursionError:
            return "the validator failed: nested too deeply"
        except Exception as error:  # noqa: BLE001 - a pattern that is none, for one
            return _line(f"the validator failed: {error!r}")
        return _line(failure.message) if failure else None

    return check


def _line(message: str) -> str:
    text = " ".join(message.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
