"""The tables of decided documents are those of the folder that they are written to."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
import pytest

from curation.core.documents import Origin, Provenance, RawDocument
from curation.core.rule import Context
from curation.dataset.decisions import ResultFile, SourceDocument
from curation.dataset.ledger import write_ledger
from curation.dataset.parquet import write_sorted
from curation.fit.records import record_fit
from curation.packaging.plot_tables import tables_of_documents, tables_of_folder
from curation.pipeline.process_document import apply_rules
from curation.pipeline.steps import decide_benchmark
from curation.references.library import NO_LIBRARY
from curation.rules.sets import rule_set
from curation.sources.registry import source_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.dataset.decisions import DecidedDocument

#: Config, source and schema; the last is rejected.
DOCUMENTS: list[tuple[str, str, UntypedJson]] = [
    (
        "Snowplow",
        "snowplow",
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "properties": {"a": {"type": "string", "format": "date"}, "b": {}},
            "allOf": [{"required": ["a"], "minProperties": 1, "maxProperties": 9}],
        },
    ),
    ("Snowplow", "snowplow", {"type": "object", "required": ["naïve"]}),
    ("Kubernetes", "kubernetes", {"properties": {"c": {"items": {"minimum": 1}}}}),
    ("Kubernetes", "kubernetes", {"type": 1}),
]


@contextmanager
def decided(
    folder: Path, rules_name: str, origins: Sequence[Origin]
) -> Iterator[list[DecidedDocument]]:
    """Give the decisions about the documents, which lie in a file of the folder."""
    rules, context = rule_set(rules_name), Context(library=NO_LIBRARY)
    with ResultFile(folder) as file:
        documents, results = [], {}
        for at, ((config, source, schema), origin) in enumerate(
            zip(DOCUMENTS, origins, strict=True)
        ):
            provenance = Provenance(
                source=source,
                path=f"{at}.json",
                commit="c",
                licence="MIT",
                origin=origin,
            )
            raw = RawDocument(
                config=config,
                unique_id=f"made-{at}",
                provenance=provenance,
                content=json.dumps(schema).encode(),
            )
            digest = sha256(raw.content).hexdigest()
            documents.append(
                SourceDocument(config, raw.unique_id, provenance, digest, at)
            )
            results[at] = file.add(
                msgspec.json.encode(apply_rules(raw, rules, context))
            )
        sources = {name: source_named(name) for name in ("snowplow", "kubernetes")}
        yield decide_benchmark(documents, results, rules, sources)


@pytest.mark.parametrize("rules", ["clean", "paper"])
@pytest.mark.parametrize("samples", [0, 1, 4])
def test_documents_and_folder_give_the_same_tables(
    rules: str, samples: int, tmp_path: Path
) -> None:
    """So does `csbdata card` what the build did, with rows of the sample and without.

    Where nothing but the sample is there, its rows count.
    """
    origins = [Origin.SAMPLE] * samples + [Origin.UPSTREAM] * (4 - samples)
    folder = tmp_path / "folder"
    folder.mkdir()
    with decided(tmp_path, rules, origins) as documents:
        kept = [document for document in documents if document.kept]
        fits = {it.result.sha256: record_fit(it.record().json_schema) for it in kept}
        for config, members in groupby(kept, key=lambda one: one.result.config):
            records = [member.record() for member in members]
            asked = (replace(it, **fits[it.sha256]._asdict()) for it in records)
            write_sorted(folder, config, asked)
        write_ledger((document.ledger_row() for document in documents), folder)
        tables = tables_of_documents(documents, fits)
    assert tables is not None
    assert tables == tables_of_folder(folder)
    counted, left_out = sum(tables.table_1.values()), sum(tables.left_out.values())
    assert counted + left_out == sum(document.kept for document in documents) > 1
    assert left_out == (samples == 1)
    assert tables.asked == counted
    assert tables.targets["vllm"] > tables.targets.get("openai-strict", 0)


def test_without_a_record_there_are_no_tables(tmp_path: Path) -> None:
    """None stands for them, from documents as from a folder."""
    (tmp_path / "empty").mkdir()
    assert tables_of_documents([], {}) is None
    assert tables_of_folder(tmp_path / "empty") is None
