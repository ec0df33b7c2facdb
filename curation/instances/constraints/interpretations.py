"""Interpretations of one schema by validators.

Formats may be asserted or not (JSON Schema validation, 7.2). Some validators, such as
AJV, *heed* what the draft ignores: siblings of a `$ref` up to draft-07 (core, 8.3) and
keywords of later drafts. A value that is valid under each interpretation is valid for
every validator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from curation.core.documents import NOWHERE, Document, Rejected
from curation.instances.constraints.compiled_schema import CompiledSchema, memo
from curation.json.pointer import Put, Tokens, rewritten
from curation.json.text import parse
from curation.references.bundling import bundle_record
from curation.references.closure import NO_LIBRARY, find_closure
from curation.references.schema import Schema, legal
from curation.schema.dialects import BY_NAME, DRAFT_04, DRAFT_06, DRAFT_07, Dialect
from curation.schema.keywords import CONTAINERS
from curation.schema.subschemas import edited, subschemas
from curation.schema.translation import with_numeric_bounds
from curation.validation.dialect_decision import with_dialect
from curation.workers.limits import too_big

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.core.rule import Library

#: Keywords allowed next to a `$ref` that assert nothing alone.
_SILENT: Final = CONTAINERS | {"$ref", "id", "$id"}
#: By the name of a draft: the keywords that draft-07 knows, and it does not.
_LATER: Final = {
    older.name: DRAFT_07.effective - older.effective - {"$id", "then", "else"}
    for older in (DRAFT_04, DRAFT_06)
}
#: Annotations that the metaschema of draft-07 asks something of, and older ones do not.
_LATER_ANNOTATIONS: Final = frozenset({"examples", "$comment", "readOnly", "writeOnly"})


class Interpretations(msgspec.Struct, frozen=True, kw_only=True):
    """A schema as its draft reads it, and as read with ignored keywords heeded."""

    own: CompiledSchema
    #: None if the draft ignores nothing that another reader heeds.
    heeding: CompiledSchema | None = None
    #: Whether a value must be valid without formats, too.
    without_formats: bool = True

    @property
    def strictest(self) -> CompiledSchema:
        """The one under which most is heeded."""
        return self.heeding or self.own

    def refusing(self, value: Json) -> tuple[CompiledSchema, bool] | None:
        """Return by which interpretation a value is refused, or None by none.

        Returns:
            The schema, and whether formats are asserted.
        """
        for compiled in (self.strictest, self.own) if self.heeding else (self.own,):
            asserted, plain = compiled.verdicts(value)
            if not asserted:
                return compiled, True
            if self.without_formats and not plain:
                return compiled, False
        return None


@memo
def make_interpretations(compiled: CompiledSchema) -> Interpretations:
    """Return the interpretations of a schema.

    Example:
        >>> schema = {"$ref": "#/definitions/a", "type": "string",
        ...           "definitions": {"a": {"minLength": 1}}}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> compiled.is_valid(7), make_interpretations(compiled).refusing(7) is None
        (True, False)
    """
    return Interpretations(own=compiled, heeding=heeding(compiled))


def heeding(compiled: CompiledSchema) -> CompiledSchema | None:
    """Return a schema that asserts what its draft ignores and other validators heed.

    A `$ref` becomes the last member of an `allOf`, so that every pointer into the
    schema stays unchanged. A schema with keywords of later drafts is read by draft-07.

    Returns:
        None if nothing is ignored, or jsonschema-rs cannot use the result.
    """
    dialect = compiled.dialect
    if not dialect.ref_hides_siblings:
        return None
    later = _LATER.get(dialect.name, frozenset())
    is_ported = hides = False
    asserting = dialect.effective - _SILENT
    for subschema in subschemas(compiled.value, DRAFT_07):
        is_ported = is_ported or not later.isdisjoint(subschema)
        hides = hides or ("$ref" in subschema and not asserting.isdisjoint(subschema))
    if not is_ported and not hides:
        return None
    read_by = DRAFT_07 if is_ported else dialect

    def heed(tokens: Tokens, subschema: Json) -> Json:
        if not isinstance(subschema, dict):
            return subschema
        result = subschema
        if is_ported and not _LATER_ANNOTATIONS.isdisjoint(result):
            result = {
                name: value
                for name, value in result.items()
                if name not in _LATER_ANNOTATIONS
            }
        if is_ported and dialect is DRAFT_04:
            # Draft-06 spells the identifier with a dollar.
            result = {
                "$id" if name == "id" else name: value
                for name, value in with_numeric_bounds(result).items()
                if name != "$id"
            }
        return _with_heeded_siblings(result, read_by, is_root=not tokens)

    schema = edited(compiled.value, read_by, heed)
    if schema is compiled.value and not is_ported:
        return None
    rewritten = CompiledSchema(schema, read_by)
    return None if rewritten.fault else rewritten


def _with_heeded_siblings(
    schema: dict[str, Json], dialect: Dialect, *, is_root: bool
) -> dict[str, Json]:
    """Return a schema whose `$ref` hides nothing; itself where it hides nothing."""
    beside = schema.keys() & (dialect.effective - _SILENT)
    if not isinstance(schema.get("$ref"), str) or not beside:
        return schema
    members = schema.get("allOf")
    hidden = {"$ref", "allOf"} if is_root else {"$ref", "allOf", dialect.id_keyword}
    return {
        **{name: value for name, value in schema.items() if name not in hidden},
        "allOf": [
            *(members if isinstance(members, list) else ()),
            {"$ref": schema["$ref"]},
        ],
    }


_NEWEST = "2020-12"


def read_schema(
    text: str,
    dialect: str = "",
    base_uri: str | None = None,
    library: Library = NO_LIBRARY,
) -> CompiledSchema | Rejected:
    """Return a schema, or why it cannot be read.

    Args:
        text: The schema as JSON text.
        dialect: Name of its dialect, if it is standalone like a record; empty to
            decide by `$schema`, and to bring in what its references lead to.
        base_uri: Where its relative references start.
        library: The other documents of its source.
    """
    return as_schema(parsed_text(text), dialect, base_uri, library)


def parsed_text(text: str) -> Json | Rejected:
    """Return the value of a schema's JSON text, or why it is not read."""
    content = text.encode("utf-8", "surrogatepass")
    return too_big(content) or parse(content)


def as_schema(
    schema: Json | Rejected,
    dialect: str = "",
    base_uri: str | None = None,
    library: Library = NO_LIBRARY,
) -> CompiledSchema | Rejected:
    """Return `read_schema` of the result of `parsed_text`."""
    if isinstance(schema, Rejected):
        return schema
    if dialect or not isinstance(schema, dict):
        return CompiledSchema.from_json(schema, dialect or _NEWEST)
    document = Document(
        config="local",
        unique_id="local",
        provenance=NOWHERE,
        schema=schema,
        base_uri=base_uri,
    )
    decided = with_dialect(document)
    if isinstance(decided, Rejected):
        return decided
    chosen_dialect = BY_NAME[decided.dialect or _NEWEST]
    return CompiledSchema.from_json(
        _alone(Schema(decided.schema, chosen_dialect, base_uri or ""), library),
        chosen_dialect.name,
    )


def _alone(schema: Schema, library: Library) -> Json:
    """Return a schema whose references stay inside it, legally spelled.

    Where one of them is lost, nothing is brought in.
    """
    closure = find_closure(schema, library)
    value = schema.value
    if not isinstance(closure, Rejected):
        value = bundle_record(closure, "")[0]
    references = Schema(value, schema.dialect).references
    return rewritten(
        value,
        {
            (*reference.tokens, reference.keyword): Put(legal(reference.text))
            for reference in references
            if isinstance(reference.value, str)
            and legal(reference.value) != reference.value
        },
    )
