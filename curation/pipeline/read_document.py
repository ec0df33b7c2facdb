"""Read one raw document: limits, JSON or YAML, members of one name."""

from __future__ import annotations

from dataclasses import replace

from curation.core.documents import (
    Document,
    MergedMember,
    RawDocument,
    Reason,
    Rejected,
)
from curation.core.json_types import Json
from curation.json import text as jsontext
from curation.json.named_text import YAML_SUFFIXES, parse_named
from curation.json.pointer import pointer
from curation.json.values import objects
from curation.rules.sets import RuleSet
from curation.schema.measures import nesting_of_document
from curation.workers.limits import (
    IDENTIFIERS,
    NODES,
    too_big,
    too_identified,
    too_many,
)

#: Characters of a rejection's detail; a pointer can be as long as a document.
LONGEST_DETAIL = 1_000


def too_long_to_read(raw: RawDocument) -> Rejected | None:
    """Return why a document is not even parsed, or None if it may be."""
    refused = too_big(raw.content)
    return None if refused is None else named(refused, "limits")


def read(raw: RawDocument, rules: RuleSet) -> Document | Rejected:
    """Return the document that a rule set starts from, or a rejection."""
    refused = too_long_to_read(raw)
    if refused is not None:
        return refused
    schema, merged = _parsed(raw.content, rules.policy)
    if isinstance(schema, Rejected):
        uri = raw.base_uri or ""
        yaml = parse_named(uri, raw.content) if uri.endswith(YAML_SUFFIXES) else None
        return named(yaml if isinstance(yaml, Rejected) else schema, "parse")
    # A JSON value takes two bytes at least, its comma or bracket included.
    refused = too_many(schema) if len(raw.content) >= 2 * NODES else None
    # With fewer of them the walk has nothing to visit.
    if refused is None and raw.content.count(b'id"') > IDENTIFIERS:
        refused = too_identified(schema)
    if refused is not None:
        return named(refused, "limits")
    return Document(
        config=raw.config,
        unique_id=raw.unique_id,
        provenance=raw.provenance,
        schema=schema,
        base_uri=raw.base_uri,
        raw_field_count=nesting_of_document(schema).field_count,
        merged=merged,
    )


def _parsed(
    content: bytes, policy: jsontext.Policy
) -> tuple[Json | Rejected, tuple[MergedMember, ...]]:
    schema = jsontext.parse(content, policy)
    if (
        not isinstance(schema, Rejected)
        or schema.reason is not Reason.DUPLICATE_KEYS
        or not policy.merge_equal_members
    ):
        return schema, ()
    merged: jsontext.Merged = []
    schema = jsontext.parse(content, policy, merged)
    if isinstance(schema, Rejected):
        return schema, ()
    repeated = {id(members): names for members, names in merged}
    return schema, tuple(
        MergedMember(pointer=pointer((*tokens, name)), times=times)
        for tokens, members in objects(schema)
        for name, times in repeated.get(id(members), {}).items()
    )


def named(rejected: Rejected, rule: str) -> Rejected:
    """Return a rejection of a rule, its detail cut."""
    detail = rejected.detail
    if len(detail) > LONGEST_DETAIL:
        detail = detail[: LONGEST_DETAIL - 3] + "..."
    return replace(rejected, detail=detail, rule=rule)
