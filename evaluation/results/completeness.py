"""What a run lacks: rows that were not measured, and shards that are not there.

A run that came to its end says in its header how many rows it has (`finished`). One
that was killed says nothing; whatever it has looks like a smaller run.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.results.reader import RecordedRun

#: The shard of a run that was not divided.
WHOLE = "1/1"
#: More parts than this no run is divided into.
_MOST = 100_000


def gaps_of(run: RecordedRun) -> list[str]:
    """Return what a run lacks of what it was asked, a line each; empty if nothing.

    An engine that could not be run is no gap: the header says why it has no rows.
    """
    finished = run.header.finished
    if finished is None:
        of = "" if run.header.asked is None else f" of {run.header.asked:,}"
        return [f"not finished: {len(run):,}{of} rows are there"]
    return [
        f"{part.engine} has {there:,} of {part.rows:,} rows of task {part.task}"
        for part in finished.parts
        if (there := run.row_counts.get((part.engine, part.task), 0)) < part.rows
    ]


def to_finish(run: RecordedRun) -> str:
    """Return the command that goes on with a run; empty where it had none."""
    words = list(run.header.command)
    if words and not any(word.startswith("--run-dir") for word in words):
        words += ["--run-dir", str(run.folder)]
    return shlex.join(words)


def missing_shards(runs: Sequence[RecordedRun]) -> list[str]:
    """Return the shards that engines lack, a line each, where runs are joined.

    Each engine must have all parts of its run for each task: those of one division,
    or a run that was not divided.
    """
    shards: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        for part in run.header.finished.parts if run.header.finished else ():
            own = shards.setdefault((part.engine, part.task), set())
            own.add(run.header.shard)
    return [
        f"{engine} has no shard {', '.join(missing)} of task {task}"
        for (engine, task), there in shards.items()
        if (missing := _missing(there))
    ]


def _missing(there: set[str]) -> list[str]:
    """Return what is missing of the division that lacks least."""
    divisions = {
        int(parts)
        for shard in there
        if (parts := shard.partition("/")[2]).isdecimal() and 0 < int(parts) <= _MOST
    }
    if not divisions:
        return [f"that makes sense (it says {', '.join(sorted(there))})"]
    return min(
        (
            [
                shard
                for part in range(1, parts + 1)
                if (shard := f"{part}/{parts}") not in there
            ]
            for parts in sorted(divisions)
        ),
        key=len,
    )
