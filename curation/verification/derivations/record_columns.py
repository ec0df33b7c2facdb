"""Which columns of a record are not what follows from its schema's text?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.dataset.features import used
from curation.json import text as jsontext
from curation.lint.lint import lints
from curation.lint.liveness import liveness
from curation.schema.dialects import declared
from curation.schema.measures import max_fan_out, nesting, text_size
from curation.schema.skeleton import skeleton_digest
from curation.validation.dialect_decision import MIXED_DRAFTS
from curation.validation.metaschemas import valid_under

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import Json
    from curation.schema.dialects import Dialect

#: The columns that are derived here, besides the text and the dialect.
DERIVED = (
    "field_count",
    "max_fan_out",
    "depth",
    "size",
    "live",
    "live_fields",
    "vacuous",
    "features",
    "formats",
    "lints",
    "valid_under",
    "sha256",
    "skeleton_sha256",
    "dialect_found",
)
#: The lint that says how the dialect was found.
_LINT_OF_DIALECT = {
    "mixed": frozenset({MIXED_DRAFTS}),
    "fitting": frozenset({"other-draft"}),
}
_HOW = frozenset(
    {"assumed", "declared", "fitting", "inferred", "mixed", "repaired", "upgraded"}
)


def wrong_columns(
    row: Mapping[str, Json], schema: Json, dialect: Dialect, *, linted: bool
) -> Iterator[str]:
    """Yield what a record's row says wrongly of its schema.

    Args:
        row: The record's columns by name: those of `DERIVED` and the text.
        schema: The value of its text.
        dialect: Its own dialect.
        linted: Whether the rules that built it flag defects; `paper` never does.
    """
    usage, nested = used(schema, dialect), nesting(schema)
    alive = liveness(schema, dialect)
    text = jsontext.write(schema)
    if text != row["json_schema"]:
        yield "json_schema is not written as a build writes it"
    right: dict[str, Json] = {
        "field_count": nested.field_count,
        "max_fan_out": max_fan_out(schema),
        "depth": nested.depth,
        "size": text_size(text),
        "live": alive.share,
        "live_fields": alive.fields,
        "vacuous": alive.vacuous,
        "features": list(usage.features),
        "formats": list(usage.formats),
        "valid_under": list(valid_under(schema)),
        "lints": _lint_codes(row, schema, dialect) if linted else [],
    }
    for name, value in right.items():
        if row[name] != value:
            yield f"{name} is {row[name]}, but {value} by the schema"
    if jsontext.digest(schema) != row["sha256"]:
        yield "sha256 is not that of the schema's canonical form"
    if skeleton_digest(schema, dialect) != row["skeleton_sha256"]:
        yield "skeleton_sha256 is not that of the schema's skeleton"
    yield from _dialect_faults(row, schema, dialect)


def _lint_codes(row: Mapping[str, Json], schema: Json, dialect: Dialect) -> list[Json]:
    codes = {lint.code for lint in lints(schema, dialect)}
    codes |= _LINT_OF_DIALECT.get(str(row["dialect_found"]), frozenset())
    return [*sorted(codes)]


def _dialect_faults(
    row: Mapping[str, Json], schema: Json, dialect: Dialect
) -> Iterator[str]:
    """Yield what `dialect` and `dialect_found` say against the schema's `$schema`."""
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    said = declared(uri)
    if said is not None and said is not dialect:
        yield f"dialect is {dialect.name}, but the schema declares {said.name}"
    how = row["dialect_found"]
    if how not in _HOW or (how == "declared" and said is None):
        yield f"dialect_found is {how!r}, unlike the schema's `$schema`"
