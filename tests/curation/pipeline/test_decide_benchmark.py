"""What is decided of all records together."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.documents import Origin, Provenance, RawDocument
from curation.core.rule import Context
from curation.dataset.decisions import ResultFile, SourceDocument
from curation.pipeline.process_document import apply_rules
from curation.pipeline.steps import decide_benchmark, in_clusters
from curation.references.library import NO_LIBRARY
from curation.rules.sets import rule_set
from curation.sources.registry import source_named

if TYPE_CHECKING:
    from collections.abc import Sequence

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
