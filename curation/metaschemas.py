"""Under which drafts is a schema valid? The metaschemas, checked quickly.

jsonschema-rs decides. It gives the same verdict as jsonschema's `check_schema`
without formats but where `doubtful` says so; the tests prove that over generated
and real schemas. `format` is left out: patterns and references have rules of
their own. Nothing here fetches.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema
import jsonschema_rs

from curation.check_schema import Complaint, refuse
from curation.dialects import DIALECTS, Dialect
from curation.jsontext import plain
from curation.schema_walk import pointer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.documents import Json

_QUICK = {
    "draft-04": jsonschema_rs.Draft4Validator,
    "draft-06": jsonschema_rs.Draft6Validator,
    "draft-07": jsonschema_rs.Draft7Validator,
    "2019-09": jsonschema_rs.Draft201909Validator,
    "2020-12": jsonschema_rs.Draft202012Validator,
}
_SLOW = {
    "draft-03": jsonschema.Draft3Validator,
    "draft-04": jsonschema.Draft4Validator,
    "draft-06": jsonschema.Draft6Validator,
    "draft-07": jsonschema.Draft7Validator,
    "2019-09": jsonschema.Draft201909Validator,
    "2020-12": jsonschema.Draft202012Validator,
}
#: Longest message kept of an error: some repeat the whole schema.
_MESSAGE = 300


@cache
def _quick(name: str) -> Any:  # noqa: ANN401 - jsonschema-rs has no common base to name
    """Return jsonschema-rs's validator of schemas of one dialect, built once."""
    metaschema = dict(_SLOW[name].META_SCHEMA)
    return _QUICK[name](metaschema, validate_formats=False, retriever=refuse)


def is_valid(schema: Json, dialect: Dialect) -> bool:
    """Tell whether a schema is valid under a dialect's metaschema, formats aside."""
    return bool(_quick(dialect.name).is_valid(plain(schema)))


def valid_under(schema: Json) -> tuple[str, ...]:
    """Return the names of the dialects under which a schema is valid, oldest first."""
    value = plain(schema)
    return tuple(each.name for each in DIALECTS if _quick(each.name).is_valid(value))


def complaint(schema: Json, dialect: Dialect) -> Complaint | None:
    """Return the first error under a dialect's metaschema, or None.

    First is the one whose pointer, then message, sorts first.
    """
    validator, value = _quick(dialect.name), plain(schema)
    if validator.is_valid(value):
        return None
    return _first(
        (tuple(map(str, each.instance_path)), each.message)
        for each in validator.iter_errors(value)
    )


def slow_complaint(schema: Json, dialect: Dialect) -> Complaint | None:
    """Return what jsonschema's own `check_schema` says, formats aside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _SLOW[dialect.name].check_schema(plain(schema), format_checker=None)
        except jsonschema.SchemaError as error:
            return _first([(tuple(map(str, error.absolute_path)), error.message)])
        except (OverflowError, RecursionError) as error:
            return Complaint(pointer="", message=f"{type(error).__name__}: {error}")
    return None


def _first(errors: Iterable[tuple[tuple[str, ...], str]]) -> Complaint:
    tokens, message = min(errors)
    return Complaint(pointer=pointer(tokens), message=message[:_MESSAGE])
