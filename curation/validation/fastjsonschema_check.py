"""Does fastjsonschema compile it? Asked of every record once, and remembered.

A step of its own after deduplication, since compiling is slow and says nothing
about a record's right to be here.
"""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from curation.system.atomic_files import atomic_write_bytes
from curation.workers.limits import Limits
from curation.workers.outcomes import Ending
from curation.workers.pool import Pool
from curation.workers.process import Program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from curation.core.records import Record
    from curation.workers.outcomes import ProcessResult

_WORKER = Path(__file__).with_name("fastjsonschema_worker.py")
#: Seconds for one schema. Nine tenths of them take under a tenth of a second.
DEADLINE = 10.0
_BATCH = 32
_ENDINGS = {
    Ending.TIMEOUT: "timed_out",
    Ending.OUT_OF_MEMORY: "out_of_memory",
    Ending.CRASH: "crashed",
}


def tried(
    records: Iterable[Record],
    cache: Path,
    *,
    jobs: int,
    progress: Callable[[int], None] = lambda _done: None,
) -> list[Record]:
    """Return the records, in their order, with fastjsonschema's verdict on each.

    Verdicts are kept in the cache folder by the record's sha256. `progress` is
    told how many more records are done.

    Raises:
        WorkerDidNotStart: fastjsonschema cannot be run at all.
        CannotCreate: the cache folder cannot be written.
    """
    listed = list(records)
    memory = cache / f"fastjsonschema-{version('fastjsonschema')}.json"
    known = _remembered(memory)
    new = {each.sha256: each.json_schema for each in listed if each.sha256 not in known}
    progress(sum(each.sha256 in known for each in listed))
    if new:
        for sha256, verdict in _asked(new, jobs):
            known[sha256] = verdict
            progress(1)
        text = json.dumps(dict(sorted(known.items())), indent=0)
        memory.parent.mkdir(parents=True, exist_ok=True)
        atomic_write_bytes(memory, text.encode())
    return [replace(each, fastjsonschema=known[each.sha256]) for each in listed]


def _remembered(memory: Path) -> dict[str, str]:
    """Return the verdicts kept; none where the file is missing or damaged."""
    try:
        found = json.loads(memory.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _asked(schemas: Mapping[str, str], jobs: int) -> Iterator[tuple[str, str]]:
    digests, texts = list(schemas), list(schemas.values())
    starts = range(0, len(texts), _BATCH)
    batches = (texts[start : start + _BATCH] for start in starts)
    limits = replace(Limits(), seconds=DEADLINE)
    with Pool(Program(file=_WORKER), jobs=jobs, limits=limits, attempts=1) as pool:
        for result in pool.run_batches(batches):
            first = result.index * _BATCH
            for offset, outcome in enumerate(result.results):
                yield digests[first + offset], _verdict(outcome)


def _verdict(outcome: ProcessResult) -> str:
    if outcome.ending is Ending.OK:
        return str(outcome.answer)
    return _ENDINGS.get(outcome.ending, "crashed")
