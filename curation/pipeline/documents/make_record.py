"""From a document that passed every rule to its row: measures, features, digests."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from curation.core.records import Record
from curation.dataset.features import used
from curation.json import text as jsontext
from curation.json.values import canonical_of_document, write_document
from curation.lint.liveness import liveness
from curation.schema.dialects import BY_NAME, DRAFT_2020_12, declared
from curation.schema.measures import max_fan_out, nesting_of_document, text_size
from curation.schema.shingles import shingles, split_key
from curation.schema.subschemas import skeleton
from curation.validation.metaschemas import valid_under

if TYPE_CHECKING:
    from curation.core.documents import Document


class MadeRecord(NamedTuple):
    """A record, and what was computed beside it."""

    record: Record
    #: What `curation.schema.shingles.shingles` says of it.
    shingles: bytes
    #: Most keys of one object of its schema, arrays not entered.
    fan_out: int


def make_record(document: Document, *, split_by_shingles: bool = True) -> MadeRecord:
    """Return the record of a document.

    Where no rule decided the dialect (rule set `paper` never does), it is the
    one that `$schema` declares, else 2020-12, and `dialect_found` says which. The
    record's cluster is itself alone: others join when all are known.

    Args:
        document: What has passed every rule.
        split_by_shingles: Whether the split follows from the shingles, or else from
            the digest of the skeleton.
    """
    schema = document.schema
    name, found = document.dialect, document.dialect_found
    if name is None:
        stated = declared(schema.get("$schema")) if isinstance(schema, dict) else None
        name = (stated or DRAFT_2020_12).name
        found = "declared" if stated else "assumed"
    dialect = BY_NAME[name]
    text = write_document(schema)
    provenance = document.provenance
    usage, nested = used(schema, dialect), nesting_of_document(schema)
    alive = liveness(schema, dialect)
    stripped = skeleton(schema, dialect)
    sha256 = jsontext.digest_of(canonical_of_document(schema))
    skeleton_sha256 = jsontext.digest(stripped)
    packed = shingles(stripped)
    record = Record(
        json_schema=text,
        unique_id=document.unique_id,
        source=provenance.source,
        path=provenance.path,
        commit=provenance.commit,
        licence=provenance.licence,
        original_repository=provenance.original_repository,
        origin=provenance.origin.value,
        dialect=name,
        dialect_found=found or "",
        valid_under=valid_under(schema),
        field_count=nested.field_count,
        max_fan_out=max_fan_out(schema),
        depth=nested.depth,
        size=text_size(text),
        live=alive.share,
        live_fields=alive.fields,
        vacuous=alive.vacuous,
        features=usage.features,
        formats=usage.formats,
        lints=tuple(sorted({lint.code for lint in document.lints})),
        changes=tuple(dict.fromkeys(change.rule for change in document.changes)),
        repaired=document.repaired,
        sha256=sha256,
        skeleton_sha256=skeleton_sha256,
        split_key=split_key(packed) if split_by_shingles else skeleton_sha256[:16],
        cluster=sha256,
    )
    return MadeRecord(record, packed, nested.fan_out)
