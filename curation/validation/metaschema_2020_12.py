"""A fast equivalent of jsonschema's `Draft202012Validator.check_schema`.

jsonschema-rs walks the same metaschema some fifty times faster; for `format` it calls
jsonschema's own checkers, each distinct text once. Both gave the same verdict on every
raw file of the paper's sources. What jsonschema-rs cannot read is left to jsonschema.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache

import jsonschema_rs

from curation.core.json_types import Json
from curation.json.pointer import pointer
from curation.json.text import plain
from curation.json.values import searchable
from curation.system.escaping import shortened
from curation.validation.metaschemas import Complaint, refuse
from curation.validation.python_validators import PYTHON_VALIDATORS, SchemaError

_SLOW = PYTHON_VALIDATORS["2020-12"]
#: The formats that the metaschema of 2020-12 uses.
FORMATS = ("regex", "uri", "uri-reference")
#: Distinct texts remembered for each format.
_REMEMBERED = 65_536
#: Longest message kept; jsonschema-rs repeats whole schemas in some.
_SHOWN = 240
#: A line feed at the end of a text, as JSON writes it.
_LINE_END = b'\\n"'


def _conforms(name: str) -> Callable[[str], bool]:
    """Return jsonschema's own check of a format, remembering its answers."""
    conforms = _SLOW.FORMAT_CHECKER.conforms

    @lru_cache(maxsize=_REMEMBERED)
    def check(text: str) -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return bool(conforms(text, name))
            except (OverflowError, RecursionError):
                return False

    return check


@lru_cache(maxsize=1)
def _quick() -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator(
        dict(_SLOW.META_SCHEMA),
        formats={name: _conforms(name) for name in FORMATS},
        validate_formats=True,
        retriever=refuse,
    )


def rust_complaint(schema: Json) -> Complaint | None:
    """Return the first error that jsonschema-rs finds, or None.

    Raises:
        ValueError: jsonschema-rs cannot read the value.
    """
    validator = _quick()
    if validator.is_valid(schema):
        return None
    error = next(iter(validator.iter_errors(schema)))
    path = pointer(tuple(map(str, error.instance_path)))
    return Complaint(pointer=path, message=shortened(error.message, _SHOWN))


def python_complaint(schema: Json) -> Complaint | None:
    """Return the first error that jsonschema finds, or None.

    Raises:
        RecursionError: nested too deeply for jsonschema.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _SLOW.check_schema(schema)
        except SchemaError as error:
            path = pointer(tuple(map(str, error.absolute_path)))
            return Complaint(pointer=path, message=shortened(error.message, _SHOWN))
        except OverflowError as error:
            return Complaint(pointer="", message=str(error))
    return None


def complaint(schema: Json) -> Complaint | None:
    """Return why `check_schema` refuses a schema, or None if it accepts it."""
    try:
        error = rust_complaint(schema)
    except ValueError:
        return _complaint_of_plain(plain(schema))
    if error is not None and _LINE_END in searchable(schema):
        # The `$` of Python's patterns also stands before a last line feed.
        return python_complaint(plain(schema))
    return error


def _complaint_of_plain(schema: Json) -> Complaint | None:
    try:
        return rust_complaint(schema)
    except ValueError:
        return python_complaint(schema)
