"""Evidence of mechanical repairs: listed, attached to changes, and true."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Document, Origin, Rejected, RepairEvidence
from curation.core.rule import RepairKind
from curation.json.pointer import at, tokens_of
from curation.json.text import parse
from curation.pipeline.process_document import apply_rules
from curation.rules.evidence import counts, listed, with_evidence
from curation.rules.mechanical import misspelt_types
from curation.rules.sets import rule_set
from curation.schema.dialects import DRAFT_07
from curation.sources.registry import source_named
from tests.curation.pinned import pinned
from tests.curation.rules.documents_made import CONTEXT, PROVENANCE, document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.documents import RawDocument
    from curation.core.json_types import UntypedJson

needs_mirror = pytest.mark.skipif(
    "CSBDATA_MIRROR" not in os.environ, reason="CSBDATA_MIRROR is not set"
)
#: The names of dead keywords in the published text.
DEAD = {"_format": "format", "_uniqueItems": "uniqueItems", "_id": "id", "_$id": "$id"}


def repaired(**given: UntypedJson) -> Document:
    """Return a document whose misspelt type was repaired."""
    before = document({"$schema": DRAFT_07.uri, "type": "int"}, **given)
    after = misspelt_types.apply(before, CONTEXT)
    assert isinstance(after, Document)
    return with_evidence(before, after, misspelt_types.name)


def test_every_mechanical_change_says_what_supports_it() -> None:
    """By the list for GitHub's own files; all others by reasoning."""
    rows = {key: row for key, row in listed().items() if key[1] == "misspelt-types"}
    own = next(key[0] for key, row in rows.items() if not row.difference)
    [change] = repaired(config="Github", unique_id=own).changes
    assert change.evidence == RepairEvidence.PUBLISHED
    differing, row = next((key[0], row) for key, row in rows.items() if row.difference)
    [change] = repaired(config="Github", unique_id=differing).changes
    assert change.evidence == RepairEvidence.REASONING
    assert change.note.endswith(row.difference)
    sample = replace(PROVENANCE, origin=Origin.SAMPLE)
    for others in ({"config": "Local"}, {"provenance": sample, "config": "Github"}):
        [change] = repaired(unique_id=own, **others).changes
        assert change.evidence == RepairEvidence.REASONING
    assert repaired().repaired == ("misspelt-types",)


def test_the_list_names_mechanical_rules_alone() -> None:
    """Whatever does not agree has its reason, and nothing else has one."""
    mechanical = {
        rule.name
        for rule in rule_set("clean").rules
        if rule.repair is RepairKind.MECHANICAL
    }
    assert {rule for _, rule in listed()} == mechanical
    for support in listed().values():
        assert bool(support.difference) == (
            support.evidence is RepairEvidence.REASONING
        )
    assert sum(counts("misspelt-types").values()) >= sum(counts("patches").values()) > 0
    assert counts("wrap-library") == {}


def raw_documents(rules: str, ids: set[str]) -> Mapping[str, RawDocument]:
    """Return GitHub's raw documents of a rule set, by id."""
    source = source_named("github")
    [archive] = source.archives[rules]
    read = source.read(pinned(archive, rules))
    return {raw.unique_id: raw for raw in read if raw.unique_id in ids}


def alive(value: UntypedJson) -> UntypedJson:
    """Return a published value with its dead keywords under their own names."""
    if isinstance(value, dict):
        return {DEAD.get(name, name): alive(member) for name, member in value.items()}
    return [alive(item) for item in value] if isinstance(value, list) else value


def text_at(schema: UntypedJson, place: str) -> UntypedJson:
    """Return what stands at a place, or a text that no schema has."""
    try:
        return at(schema, tokens_of(place))
    except LookupError:
        return "(nothing)"


@needs_mirror
def test_the_published_text_agrees_where_the_list_says_so() -> None:
    """At every place of the repair, and nowhere else; rule set `paper` rebuilds it."""
    ids = {unique_id for unique_id, _ in listed()}
    published = raw_documents("paper", ids)
    for unique_id, raw in raw_documents("clean", ids).items():
        done = apply_rules(raw, rule_set("clean"), CONTEXT)
        assert done.record is not None, unique_id
        ours = parse(done.record.json_schema.encode())
        other = apply_rules(published[unique_id], rule_set("paper"), CONTEXT).record
        theirs = alive(parse(other.json_schema.encode())) if other else None
        assert not isinstance(theirs, Rejected)
        assert {key for key in listed() if key[0] == unique_id} == {
            (unique_id, rule) for rule in done.record.repaired
        }
        for rule in done.record.repaired:
            agrees = theirs is not None and all(
                text_at(ours, change.pointer) == text_at(theirs, change.pointer)
                for change in done.changes
                if change.rule == rule
            )
            assert agrees == (not listed()[unique_id, rule].difference), unique_id
