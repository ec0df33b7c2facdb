"""Read a schema from its text, be it a record of a build or anyone's file.

The dialect of a schema that is no record is decided as the rule set `clean` does;
where that rewrites draft-03 or a misspelt `$schema`, the rewritten schema is meant.
Nothing else of the schema is touched.
"""

from __future__ import annotations

from curation.core.documents import Document, Origin, Provenance, Rejected
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.json.text import parse
from curation.validation.dialect_decision import with_dialect

_NOWHERE = Provenance(
    source="local", path="", commit="", licence="NOASSERTION", origin=Origin.LOCAL
)
_NEWEST = "2020-12"


def read_schema(text: str, dialect: str = "") -> CompiledSchema | Rejected:
    """Return a schema, or why it cannot be read.

    Args:
        text: The schema as JSON text.
        dialect: Name of its dialect; empty if that is to be decided.
    """
    schema = parse(text.encode("utf-8", "surrogatepass"))
    if isinstance(schema, Rejected):
        return schema
    if dialect or not isinstance(schema, dict):
        return CompiledSchema.from_json(schema, dialect or _NEWEST)
    document = Document(
        config="local", unique_id="local", provenance=_NOWHERE, schema=schema
    )
    decided = with_dialect(document)
    if isinstance(decided, Rejected):
        return decided
    return CompiledSchema.from_json(decided.schema, decided.dialect or _NEWEST)
