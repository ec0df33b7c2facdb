"""fastjsonschema's verdict on each record.

A step after deduplication, since compiling is slow and decides nothing about a record.
fastjsonschema writes Python source and runs it, and would fetch a `$ref`'s document:
hence its own process, and a handler of every scheme that refuses.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from curation.core.json_types import Json
from curation.core.records import BenchmarkRecord
from curation.workers.limits import (
    BACKSTOP,
    BUSY_MACHINE,
    Ending,
    Limits,
    refuse_endless,
)
from curation.workers.pool import Pool
from curation.workers.process import Program
from curation.workers.ray_pool import OpenPool

_BATCH = 32
#: Most characters times levels of a schema. Beyond are 5 % of records, and 41 % of the
#: time.
MAX_LENGTH = 500_000
#: The verdict on a schema that compiles.
COMPILES = "compiles"
TOO_LARGE = "too_large"
_OUT_OF_MEMORY, _CRASHED = "out_of_memory", "crashed"
#: The verdicts on schemas that cost too much, or ended the process.
ENDED = frozenset({TOO_LARGE, _OUT_OF_MEMORY, _CRASHED})


class RemoteReferenceError(LookupError):
    """The schema needs another document, which is not fetched."""


class _Refusing:
    """Handlers of every URI scheme there is: they refuse."""

    def __contains__(self, scheme: object) -> bool:
        """Return True: there is a handler for every scheme."""
        return True

    def __getitem__(self, scheme: str) -> Callable[[str], NoReturn]:
        """Return the handler that refuses."""

        def refuse(uri: str) -> NoReturn:
            raise RemoteReferenceError(uri)

        return refuse


def verdict(text: str) -> str:
    """Return `compiles`, or the name of the exception with which it ended."""
    import fastjsonschema  # noqa: PLC0415 - only the child needs it

    try:
        handlers: Any = _Refusing()
        fastjsonschema.compile(json.loads(text), handlers=handlers)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - it is the verdict
        # `re.error` and its like mean nothing without their module.
        kind = type(error)
        short = kind.__name__
        return short if short[0].isupper() else f"{kind.__module__}.{short}"
    return COMPILES


def start(_setup: Json) -> Callable[[str], str]:
    """Import fastjsonschema; return the handler of one schema's text."""
    verdict("true")
    return verdict


def fastjsonschema_verdicts(
    records: Iterable[BenchmarkRecord],
    *,
    jobs: int,
    progress: Callable[[int], None] = lambda _done: None,
    open_pool: OpenPool = Pool,
) -> dict[str, str]:
    """Return fastjsonschema's verdict on each record, by its sha256.

    Args:
        records: The records.
        jobs: Number of workers.
        progress: Called with the number of records done since the last call.
        open_pool: Opens the pool of workers.

    Raises:
        WorkerDidNotStart: fastjsonschema cannot be run at all.
        TemporarilyUnavailable: it does not come to an end with a schema.
    """
    verdicts: dict[str, str] = {}
    small: list[BenchmarkRecord] = []
    for record in records:
        if len(record.json_schema) * (record.depth + 1) > MAX_LENGTH:
            verdicts[record.sha256] = TOO_LARGE
        else:
            small.append(record)
    progress(len(verdicts))
    batches = [small[start : start + _BATCH] for start in range(0, len(small), _BATCH)]
    limits = Limits(seconds=BACKSTOP, wall_times=BUSY_MACHINE)
    with open_pool(
        Program(module=__name__), jobs=jobs, limits=limits, attempts=1
    ) as pool:
        texts = ([record.json_schema for record in batch] for batch in batches)
        for finished in pool.run_batches(texts):
            batch = batches[finished.index]
            for record, outcome in zip(batch, finished.results, strict=True):
                sha256 = record.sha256
                refuse_endless(outcome, f"fastjsonschema, schema {sha256[:16]}")
                verdicts[sha256] = _CRASHED
                if outcome.ending is Ending.OK:
                    verdicts[sha256] = str(outcome.answer)
                elif outcome.ending is Ending.OUT_OF_MEMORY:
                    verdicts[sha256] = _OUT_OF_MEMORY
            progress(len(batch))
    return verdicts
