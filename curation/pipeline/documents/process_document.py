"""One raw document through one rule set: kept as a record, or rejected.

This is the whole of what a worker process does; it is a pure function of the
document's bytes, its provenance, the rule set and the source's other documents.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from curation.core.benchmark import final_config
from curation.core.documents import (
    Document,
    MergedMember,
    RawDocument,
    Reason,
    Rejected,
)
from curation.core.rule import RepairKind
from curation.dataset.decisions import DocumentResult
from curation.dataset.paper_tables import draft_of, raw_figures
from curation.json import text
from curation.json.pointer import pointer
from curation.json.values import objects, tokens
from curation.pipeline.documents.make_record import make_record
from curation.schema.measures import nesting_of_document
from curation.workers.limits import BUSY_MACHINE, Limits, too_big, too_many
from curation.workers.protocol import describe

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.core.rule import Context, Rule
    from curation.rules.sets import RuleSet

LIMITS = Limits(wall_times=BUSY_MACHINE)
#: Characters of a rejection's detail; a pointer can be as long as a document.
LONGEST_DETAIL = 1_000


def apply_rules(raw: RawDocument, rules: RuleSet, context: Context) -> DocumentResult:
    """Return what becomes of a raw document under a rule set.

    Args:
        raw: The document as its source holds it.
        rules: The rule set; only its document rules are applied.
        context: What a rule may know beside the document.
    """
    document = read(raw, rules)
    if isinstance(document, Rejected):
        return DocumentResult(
            config=raw.config, record=None, rejected=document, changes=()
        )
    as_read = document.schema
    for rule in rules.rules:
        result = _result_of(rule, document, context)
        if isinstance(result, Rejected):
            return DocumentResult(
                config=final_config(raw.config, document.raw_field_count),
                record=None,
                rejected=_named(result, rule.name),
                changes=document.changes,
                raw=raw_figures(as_read) if rules.subset_by_raw_file else None,
            )
        if rule.repair is RepairKind.MECHANICAL and result is not document:
            result = replace(result, repaired=(*result.repaired, rule.name))
        document = result
    made = make_record(document, split_by_shingles=rules.split_by_shingles)
    record = made.record
    if not rules.subset_by_raw_file:
        figures = None
        config = final_config(raw.config, record.field_count, vacuous=record.vacuous)
    else:
        config = final_config(raw.config, document.raw_field_count)
        known = record if document.schema is as_read else None
        figures = raw_figures(as_read, known)
    return DocumentResult(
        config=config,
        record=record,
        rejected=None,
        changes=document.changes,
        raw=figures,
        shingles=made.shingles,
        fan_out=made.fan_out,
        draft=draft_of(document.schema),
    )


def too_long_to_read(raw: RawDocument) -> Rejected | None:
    """Return why a document is not even parsed, or None where it may be."""
    refused = too_big(raw.content, LIMITS)
    return None if refused is None else _named(refused, "limits")


def read(raw: RawDocument, rules: RuleSet) -> Document | Rejected:
    """Return the document that a rule set starts from, or why there is none."""
    refused = too_long_to_read(raw)
    if refused is not None:
        return refused
    schema, merged = _parsed(raw.content, rules.policy)
    if isinstance(schema, Rejected):
        return _named(schema, "parse")
    # A JSON value takes two bytes at least, its comma or bracket included.
    refused = too_many(schema, LIMITS) if len(raw.content) >= 2 * LIMITS.nodes else None
    if refused is not None:
        return _named(refused, "limits")
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
    content: bytes, policy: text.Policy
) -> tuple[Json | Rejected, tuple[MergedMember, ...]]:
    """Return what a text holds, and which of its members were merged."""
    schema = text.parse(content, policy)
    if (
        not isinstance(schema, Rejected)
        or schema.reason is not Reason.DUPLICATE_KEYS
        or not policy.merge_equal_members
    ):
        return schema, ()
    found: text.Merged = []
    schema = text.parse(content, policy, found)
    if isinstance(schema, Rejected):
        return schema, ()
    repeated = {id(members): names for members, names in found}
    return schema, tuple(
        MergedMember(pointer=pointer((*tokens(trail), name)), times=times)
        for trail, members in objects(schema)
        for name, times in repeated.get(id(members), {}).items()
    )


def _result_of(rule: Rule, document: Document, context: Context) -> Document | Rejected:
    """Return what a rule makes of a document; its exception ends only the document.

    The build goes on, so that one defect does not hide another, and says so at its end.
    """
    try:
        return rule.apply(document, context)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a rule raises is its defect
        return Rejected(reason=Reason.CRASHED, detail=describe(error))


def _named(rejected: Rejected, rule: str) -> Rejected:
    """Return the rejection with the name of its rule, its detail cut to a line."""
    detail = rejected.detail
    if len(detail) > LONGEST_DETAIL:
        detail = detail[: LONGEST_DETAIL - 3] + "..."
    return Rejected(
        reason=Reason(rejected.reason),
        detail=detail,
        rule=rule,
        pointer=rejected.pointer,
    )
