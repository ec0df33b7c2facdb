"""Read a document and apply the rules: the worker process that does it for a build."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from curation.core.benchmark import final_config, measure_size
from curation.core.documents import (
    Document,
    MergedMember,
    RawDocument,
    Reason,
    Rejected,
)
from curation.core.json_types import Json
from curation.core.records import BenchmarkRecord
from curation.core.rule import Context, RepairKind
from curation.dataset.decisions import DocumentResult
from curation.dataset.features import used
from curation.dataset.paper_tables import raw_figures
from curation.download.packs import open_files
from curation.json import text as jsontext
from curation.json.named_text import YAML_SUFFIXES, parse_named
from curation.json.pointer import pointer
from curation.json.values import canonical_of_part, objects, write_document
from curation.lint.liveness import liveness
from curation.references.closure import NO_LIBRARY, PackLibrary
from curation.rules.guard import with_evidence
from curation.rules.sets import RuleSet, rule_set
from curation.schema.dialects import BY_NAME, DRAFT_2020_12, declared
from curation.schema.measures import max_fan_out, nesting_of_document, text_size
from curation.schema.shingles import shingles, split_key
from curation.schema.subschemas import skeleton
from curation.validation.metaschemas import cut, valid_under
from curation.workers.limits import (
    BACKSTOP,
    BUSY_MACHINE,
    IDENTIFIERS,
    NODES,
    Limits,
    too_big,
    too_identified,
    too_many,
)
from curation.workers.protocol import describe

#: Characters of a rejection's detail; a pointer can be as long as a document.
MAX_DETAIL = 1_000


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
    return replace(rejected, detail=cut(rejected.detail, MAX_DETAIL), rule=rule)


class LibraryFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The other documents of one input, to which a `$ref` may lead."""

    #: A pack, or a folder.
    files: str
    #: Absolute URI without fragment to the path inside; empty where none is read.
    uris: Mapping[str, str]


class BuildSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Configuration of the workers of a build."""

    #: Name of the rule set.
    rules: str
    #: One for each input, in their order.
    libraries: tuple[LibraryFiles, ...]


class DocumentRequest(msgspec.Struct, frozen=True):
    """One raw document, and the position of its input."""

    input: int
    document: RawDocument


def start(setup: Json) -> Callable[[Json], DocumentResult]:
    """Open the rule set and the libraries; return the handler of requests."""
    build_setup = msgspec.convert(setup, BuildSetup)
    rules = rule_set(build_setup.rules)
    contexts = []
    for library in build_setup.libraries:
        documents = NO_LIBRARY
        if library.uris:
            documents = PackLibrary(open_files(Path(library.files)), library.uris)
        contexts.append(Context(library=documents))

    def handle(request: Json) -> DocumentResult:
        document_request = msgspec.convert(request, DocumentRequest)
        return apply_rules(
            document_request.document, rules, contexts[document_request.input]
        )

    return handle


def make_record(
    document: Document, *, split_by_shingles: bool = True
) -> tuple[BenchmarkRecord, bytes]:
    """Return the record of a document, and its shingles.

    Where no rule decided the dialect (rule set `paper` never does), it is the
    dialect in `$schema`, or 2020-12, and `dialect_found` states which. The
    record's cluster is itself alone: others join when all are known.

    Args:
        document: What has passed every rule.
        split_by_shingles: Whether the split follows from the shingles, or from
            the digest of the skeleton.
    """
    schema = document.schema
    name, dialect_source = document.dialect, document.dialect_found
    if name is None:
        uri_dialect = (
            declared(schema.get("$schema")) if isinstance(schema, dict) else None
        )
        name = (uri_dialect or DRAFT_2020_12).name
        dialect_source = "declared" if uri_dialect else "assumed"
    dialect = BY_NAME[name]
    text = write_document(schema)
    usage, nested = used(schema, dialect), nesting_of_document(schema)
    alive = liveness(schema, dialect)
    stripped = skeleton(schema, dialect)
    sha256 = jsontext.compute_digest(canonical_of_part(schema, schema))
    skeleton_sha256 = jsontext.compute_digest(canonical_of_part(stripped, schema))
    packed = shingles(stripped)
    record = BenchmarkRecord(
        json_schema=text,
        unique_id=document.unique_id,
        **msgspec.to_builtins(document.provenance),
        dialect=name,
        dialect_found=dialect_source or "",
        dialect_words=document.dialect_words,
        valid_under=valid_under(schema),
        field_count=nested.field_count,
        max_fan_out=max_fan_out(schema),
        depth=nested.depth,
        size=text_size(text),
        live=alive.share,
        live_size=measure_size(alive.fields),
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
    return record, packed


LIMITS = Limits(seconds=BACKSTOP, wall_times=BUSY_MACHINE)


def apply_rules(raw: RawDocument, rules: RuleSet, context: Context) -> DocumentResult:
    """Return what becomes of a raw document under a rule set.

    Args:
        raw: The document as its source holds it.
        rules: The rule set; only its document rules are applied.
        context: Data for rules, in addition to the document.
    """
    document = read(raw, rules)
    if isinstance(document, Rejected):
        return DocumentResult(
            config=raw.config, record=None, rejected=document, changes=()
        )
    as_read = document.schema
    for rule in rules.rules:
        try:
            result = rule.apply(document, context)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a rule raises is its defect
            # It ends only the document.
            result = Rejected(reason=Reason.CRASHED, detail=describe(error))
        if isinstance(result, Rejected):
            return DocumentResult(
                config=final_config(raw.config, document.raw_field_count),
                record=None,
                rejected=named(result, rule.name),
                changes=document.changes,
                raw=raw_figures(as_read) if rules.subset_by_raw_file else None,
            )
        if rule.repair is RepairKind.MECHANICAL and result is not document:
            result = with_evidence(document, result, rule.name)
        document = result
    record, packed = make_record(document, split_by_shingles=rules.split_by_shingles)
    figures, field_count = None, record.field_count
    if rules.subset_by_raw_file:
        field_count = document.raw_field_count
        record_before = record if document.schema is as_read else None
        figures = raw_figures(as_read, record_before)
    return DocumentResult(
        config=final_config(raw.config, field_count),
        record=record,
        rejected=None,
        changes=document.changes,
        raw=figures,
        shingles=packed,
    )
