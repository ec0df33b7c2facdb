"""What is decided of records together, and of documents on their way to it."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NoReturn

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.documents import Origin, Provenance, RawDocument, Reason
from curation.core.rule import Context, Rule
from curation.dataset.decisions import ResultFile, SourceDocument
from curation.pipeline.process_document import (
    BuildSetup,
    DocumentRequest,
    LibraryFiles,
    apply_rules,
    request_of,
)
from curation.pipeline.read_batches import NO_RULE, find_rule_faults
from curation.pipeline.steps import decide_benchmark, in_clusters
from curation.references.library import NO_LIBRARY
from curation.rules.sets import CLEAN, rule_set
from curation.sources.registry import source_named
from tests.builds import write_build
from tests.curation.rules.documents_made import CONTEXT, PROVENANCE, raw_document
from tests.made import rejected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.documents import Document
    from curation.core.json_types import UntypedJson
    from curation.core.records import BenchmarkRecord


#: Forty properties, a few of which differ: some pairs are near-duplicates.
SCHEMAS = st.lists(
    st.sets(st.integers(40, 46), max_size=3).map(
        lambda more: {
            "type": "object",
            "properties": {f"p{at}": {"type": "string"} for at in (*range(40), *more)},
        }
    ),
    min_size=1,
    max_size=5,
)


def _records(
    schemas: Sequence[UntypedJson], rules_name: str = "clean"
) -> dict[str, BenchmarkRecord]:
    """Return the records of Snowplow documents that hold these schemas, by name."""
    rules, context = rule_set(rules_name), Context(library=NO_LIBRARY)
    documents, results = [], []
    for position, schema in enumerate(schemas):
        raw = RawDocument(
            config="Snowplow",
            unique_id=f"made-{position}",
            provenance=Provenance(
                source="snowplow",
                path=f"{position}.json",
                commit="c",
                licence="MIT",
                origin=Origin.UPSTREAM,
            ),
            content=json.dumps(schema).encode(),
        )
        digest = sha256(raw.content).hexdigest()
        documents.append(
            SourceDocument(raw.config, raw.unique_id, raw.provenance, digest, position)
        )
        results.append(apply_rules(raw, rules, context))
    sources = {"snowplow": source_named("snowplow")}
    with TemporaryDirectory() as name, ResultFile(Path(name)) as file:
        held = {
            place: file.add(msgspec.json.encode(result))
            for place, result in enumerate(results)
        }
        decided = in_clusters(decide_benchmark(documents, held, rules, sources))
        return {one.source.unique_id: one.record() for one in decided if one.kept}


@given(schemas=SCHEMAS, others=SCHEMAS)
@settings(max_examples=10)
def test_others_change_no_column_but_cluster_and_weight(
    schemas: list[UntypedJson], others: list[UntypedJson]
) -> None:
    """A record is a function of its document; its cluster alone knows of others."""
    alone, together = _records(schemas), _records([*schemas, *others])
    for name, record in alone.items():
        both = together[name]
        assert replace(both, cluster=record.cluster, weight=record.weight) == record
        assert together[name].cluster <= record.cluster


def test_a_record_weighs_one_over_its_cluster() -> None:
    """Two near-duplicates weigh half each, and a stranger to both weighs one."""
    one = {"type": "object", "properties": {f"p{at}": {"const": 1} for at in range(40)}}
    schemas = [one, {**one, "required": ["p0"]}, {"type": "string", "minLength": 3}]
    weights = [record.weight for record in _records(schemas).values()]
    assert sorted(weights) == [0.5, 0.5, 1.0]


def test_others_do_change_a_cluster() -> None:
    """It has the name of its smallest digest, whichever of the two that is."""
    one = {"type": "object", "properties": {f"p{at}": {"const": 1} for at in range(40)}}
    other = {**one, "required": ["p0"]}
    names = {
        record.cluster
        for schemas in ([one], [other], [one, other])
        for record in _records(schemas).values()
    }
    both = _records([one, other]).values()
    assert len(names) == 2
    assert {record.cluster for record in both} == {min(names)}


def test_paper_draws_each_record_alone() -> None:
    """By the beginning of its skeleton's digest, as the published edition did."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    (paper,) = _records([schema], "paper").values()
    (clean,) = _records([schema]).values()
    assert paper.split_key == paper.skeleton_sha256[:16]
    assert clean.split_key != clean.skeleton_sha256[:16]


@given(st.binary(), st.none() | st.just("https://schemas.example/"))
def test_a_document_arrives_with_every_byte(content: bytes, base: str | None) -> None:
    """Its bytes need not be UTF-8, and its origin is an `Origin` again."""
    provenance = replace(PROVENANCE, origin=Origin.SAMPLE)
    raw = raw_document(content, provenance=provenance, base_uri=base)
    line = msgspec.json.encode(request_of(raw, 3))
    request = msgspec.json.decode(line, type=DocumentRequest)
    assert (request.input, request.raw_document()) == (3, raw)
    assert request.provenance.origin is Origin.SAMPLE


def test_a_setup_arrives_as_it_was() -> None:
    """The rule set by name, the path of modules, and a library for each input."""
    setup = BuildSetup(
        rules="clean",
        libraries=(LibraryFiles(files="/packs/x", uris={"https://a/b": "b.json"}),),
    )
    line = msgspec.json.encode(setup)
    assert msgspec.json.decode(line, type=BuildSetup) == setup


def _raise(_document: Document, _context: Context) -> NoReturn:
    raise ZeroDivisionError("a slip")


SLIP = Rule(name="slip", summary="Raises.", source="a test", apply=_raise)


def test_what_a_rule_raises_names_the_rule() -> None:
    """The document is `crashed`, by that rule, with what it raised and where."""
    rules = replace(CLEAN, rules=(SLIP,))
    result = apply_rules(raw_document(), rules, CONTEXT)
    assert result.rejected is not None
    assert (result.rejected.reason, result.rejected.rule) == (Reason.CRASHED, "slip")
    assert "ZeroDivisionError: a slip (test_rule_faults.py:" in result.rejected.detail


def test_memory_that_runs_out_is_no_slip_of_the_rule() -> None:
    """Its outcome has a name of its own."""

    def take_all(_document: Document, _context: Context) -> NoReturn:
        raise MemoryError

    rules = replace(CLEAN, rules=(replace(SLIP, apply=take_all),))
    with pytest.raises(MemoryError):
        apply_rules(raw_document(), rules, CONTEXT)


def test_the_rules_that_raised_are_found_again_in_the_build(tmp_path: Path) -> None:
    """Even where the build was there already; a process that died is none of them."""
    crashed = Reason.CRASHED
    gone = [
        rejected("a", "Snowplow", crashed, rule="slip", detail="ValueError: 1"),
        rejected("b", "Snowplow", crashed, rule="slip", detail="ValueError: 2"),
        rejected("c", "Snowplow", crashed, rule=NO_RULE, detail="SIGSEGV"),
        rejected("d", "Snowplow", Reason.EMPTY, rule="slip", detail=""),
    ]
    (fault,) = find_rule_faults(write_build(tmp_path, gone=gone))
    assert str(fault) == (
        "rule slip raised for 2 documents, first Snowplow/a (ValueError: 1)"
    )
