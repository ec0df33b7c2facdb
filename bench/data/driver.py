"""What a build's own process takes and holds for a document, the rules left out.

The rules are the workers' part: they cost the same for every document, however many
there are. The rest is one process's, and decides how large a corpus may be: results are
kept on the disk, copies, splits and near-duplicates are decided, files are written.
Here the GitHub records of a build stand for a corpus of any size: each copy of one has
another text, and some of its shingles are drawn anew, so that some copies are
near-duplicates and some are not. Every size has a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from curation.core.documents import Origin, Provenance
from curation.core.records import BenchmarkRecord
from curation.dataset.decisions import DocumentResult, ResultFile, SourceDocument
from curation.dataset.ledger import write_ledger
from curation.dataset.parquet import write_sorted
from curation.pipeline.steps import decide_benchmark, in_clusters
from curation.rules.sets import rule_set
from curation.schema.dialects import BY_NAME
from curation.schema.shingles import shingles, split_key
from curation.schema.subschemas import skeleton
from curation.sources.registry import source_named

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

_SEED = 21
_SHINGLE = 8
#: Of a copy's shingles, the shares that are drawn anew: the first leaves it a
#: near-duplicate, the others do not.
_DRAWN = (0.02, 0.3, 1.0)


def add_options(group: argparse._ArgumentGroup) -> None:
    """Add the numbers of documents."""
    group.add_argument(
        "--documents",
        type=int,
        nargs="+",
        default=[20_000, 40_000, 80_000],
        help="numbers of documents, each measured in a process of its own",
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of each number of documents."""
    if options.build is None:
        raise SystemExit("the part driver needs --build FOLDER")
    return {str(count): _child(options.build, count) for count in options.documents}


def _child(build: Path, count: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.data.driver", str(build), str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def _models(build: Path) -> list[tuple[str, BenchmarkRecord, bytes]]:
    """Return config, record and shingles of the build's GitHub records."""
    frame = pl.scan_parquet(build / "Github_*" / "*.parquet", include_file_paths="at")
    found = []
    for row in frame.collect().iter_rows(named=True):
        config = Path(row["at"]).parent.name
        record = msgspec.convert(row, BenchmarkRecord)
        schema = json.loads(record.json_schema)
        packed = shingles(skeleton(schema, BY_NAME[record.dialect]))
        found.append((config, record, packed))
    return found


def _mutants(
    models: list[tuple[str, BenchmarkRecord, bytes]], count: int
) -> Iterator[tuple[str, BenchmarkRecord, bytes]]:
    """Yield copies of the records, none of which equals another."""
    drawn = random.Random(_SEED)  # noqa: S311 (no secret)
    for number in range(count):
        config, record, packed = models[number % len(models)]
        own = [packed[at : at + _SHINGLE] for at in range(0, len(packed), _SHINGLE)]
        for _ in range(round(drawn.choice(_DRAWN) * len(own))):
            own[drawn.randrange(len(own))] = drawn.randbytes(_SHINGLE)
        mixed = b"".join(sorted(set(own)))
        name = f"{record.unique_id}m{number // len(models)}"
        schema = f'{{"title": "{name}", {record.json_schema.lstrip()[1:]}'
        yield (
            config,
            replace(
                record,
                json_schema=schema,
                unique_id=name,
                sha256=hashlib.sha256(schema.encode()).hexdigest(),
                split_key=split_key(mixed),
            ),
            mixed,
        )


def _peak_mb() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def _work(build: Path, count: int) -> dict[str, Any]:
    """Keep, decide and write so many documents; return seconds and memory."""
    models = _models(build)
    before, clock, seconds = _peak_mb(), time.process_time(), {"make and keep": 0.0}
    with tempfile.TemporaryDirectory() as name, ResultFile(Path(name)) as file:
        held, documents = {}, []
        for position, (config, record, packed) in enumerate(_mutants(models, count)):
            result = DocumentResult(
                config=config, record=record, rejected=None, changes=(), shingles=packed
            )
            held[position] = file.add(msgspec.json.encode(result))
            provenance = Provenance(
                source="github",
                path=f"{record.unique_id}.json",
                commit=record.commit,
                licence=record.licence,
                origin=Origin.UPSTREAM,
            )
            documents.append(
                SourceDocument(
                    "Github", record.unique_id, provenance, record.sha256, position
                )
            )
        seconds["make and keep"] = time.process_time() - clock
        clock = time.process_time()
        sources = {"github": source_named("github")}
        decided = in_clusters(
            decide_benchmark(documents, held, rule_set("clean"), sources)
        )
        seconds["decide"] = time.process_time() - clock
        clock = time.process_time()
        for config, members in groupby(decided, key=lambda one: one.result.config):
            kept = (member.record() for member in members if member.kept)
            write_sorted(Path(name), config, kept)
        write_ledger((document.ledger_row() for document in decided), Path(name))
        seconds["write"] = time.process_time() - clock
        size = sum(path.stat().st_size for path in Path(name).rglob("*.p*"))
    near_duplicates = len(decided) - len({document.cluster for document in decided})
    return {
        "documents": count,
        "ms_a_document": {
            step: round(1000 * taken / count, 3) for step, taken in seconds.items()
        },
        "peak_mb": _peak_mb(),
        "peak_mb_before": before,
        "kb_a_document": round(1024 * (_peak_mb() - before) / count, 2),
        "written_mb": round(size / 2**20, 1),
        "near_duplicates": near_duplicates,
    }


if __name__ == "__main__":
    print(json.dumps(_work(Path(sys.argv[1]), int(sys.argv[2]))))
