"""fastjsonschema's verdict on each record.

A step after deduplication, since compiling is slow and decides nothing about a record.
The verdicts are one table by digest, valid for every build with this version of
fastjsonschema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.core.records import BenchmarkRecord
from curation.system.atomic_files import atomic_write_bytes
from curation.workers.limits import (
    BACKSTOP,
    BUSY_MACHINE,
    Ending,
    Limits,
    refuse_endless,
)
from curation.workers.pool import Pool
from curation.workers.process import Program

if TYPE_CHECKING:
    from curation.workers.ray_pool import OpenPool

_PROGRAM = Program(module="curation.validation.fastjsonschema_worker")
_BATCH = 32
#: Most characters times levels of a schema. Beyond are 5 % of records, and 41 % of the
#: time.
LONGEST = 500_000
TOO_LARGE = "too_large"
_OUT_OF_MEMORY, _CRASHED = "out_of_memory", "crashed"
#: The verdicts on schemas that cost too much, or ended the process.
ENDED = frozenset({TOO_LARGE, _OUT_OF_MEMORY, _CRASHED})


def try_fastjsonschema(
    records: Iterable[BenchmarkRecord],
    cache: Path,
    *,
    jobs: int,
    progress: Callable[[int], None] = lambda _done: None,
    open_pool: OpenPool = Pool,
) -> list[BenchmarkRecord]:
    """Return the records with fastjsonschema's verdict on each, cached by sha256.

    Args:
        records: The records.
        cache: The cache folder.
        jobs: Number of workers.
        progress: Called with the number of records done since the last call.
        open_pool: Opens the pool of workers.

    Raises:
        WorkerDidNotStart: fastjsonschema cannot be run at all.
        TemporarilyUnavailable: it does not come to an end with a schema.
        CannotCreate: the cache folder cannot be written.
    """
    all_records = list(records)
    memory = cache / f"fastjsonschema-{version('fastjsonschema')}.json"
    try:
        verdicts = msgspec.json.decode(memory.read_bytes(), type=dict[str, str])
    except (OSError, ValueError):
        # The file is missing or damaged.
        verdicts = {}
    new: dict[str, str] = {}
    for record in all_records:
        if len(record.json_schema) * (record.depth + 1) > LONGEST:
            verdicts[record.sha256] = TOO_LARGE
        elif record.sha256 not in verdicts:
            new[record.sha256] = record.json_schema
    progress(sum(record.sha256 in verdicts for record in all_records))
    if new:
        for sha256, verdict in _ask(new, jobs, open_pool):
            verdicts[sha256] = verdict
            progress(1)
        text = json.dumps(dict(sorted(verdicts.items())), indent=0)
        memory.parent.mkdir(parents=True, exist_ok=True)
        atomic_write_bytes(memory, text.encode())
    return [
        replace(record, fastjsonschema=verdicts[record.sha256])
        for record in all_records
    ]


def _ask(
    schemas: Mapping[str, str], jobs: int, open_pool: OpenPool
) -> Iterator[tuple[str, str]]:
    digests, texts = list(schemas), list(schemas.values())
    starts = range(0, len(texts), _BATCH)
    batches = (texts[start : start + _BATCH] for start in starts)
    limits = Limits(seconds=BACKSTOP, wall_times=BUSY_MACHINE)
    with open_pool(_PROGRAM, jobs=jobs, limits=limits, attempts=1) as pool:
        for result in pool.run_batches(batches):
            first = result.index * _BATCH
            for offset, outcome in enumerate(result.results):
                sha256 = digests[first + offset]
                refuse_endless(outcome, f"fastjsonschema, schema {sha256[:16]}")
                verdict = _CRASHED
                if outcome.ending is Ending.OK:
                    verdict = str(outcome.answer)
                elif outcome.ending is Ending.OUT_OF_MEMORY:
                    verdict = _OUT_OF_MEMORY
                yield sha256, verdict
