"""Join the shards of one run.

Shards must be finished and share their conditions (`evaluation.results.conditions`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import orjson

from curation.core.json_types import UntypedJson
from curation.system.atomic_files import atomic_file
from curation.system.atomic_folders import refuse_foreign
from curation.system.errors import BadConfiguration, BadData
from evaluation.core.run_header import FinishedHeader, FinishedPart
from evaluation.results.conditions import differences, participant_difference
from evaluation.results.reader import (
    HEADER,
    WHOLE,
    RecordedRun,
    gaps_of,
    open_run,
)

_LINES = "rows-1-of-1.jsonl"
#: Files of records and responses in the folder of a run in which models write.
_LINES_OF_SUITES = ("records.jsonl", "responses.jsonl")


def join_shards(folders: Sequence[Path], out: Path, **more: str) -> RecordedRun:
    """Join all shards of a run into a new folder, and open it.

    Args:
        folders: Those of the shards.
        out: The new one.
        more: Members that its header has besides.

    Raises:
        BadConfiguration: the shards were not made in the same way; says in what.
        BadData: a shard was not finished, or an engine lacks one.
        CannotCreate: `out` is there already, or cannot be written.
    """
    runs = [open_run(folder) for folder in folders]
    _check_shards(runs)
    refuse_foreign(out)
    written: Counter[tuple[str, str]] = Counter()
    with atomic_file(out / _LINES) as temporary, temporary.open("wb") as file:
        for row in (row for run in runs for row in run.all_rows()):
            file.write(orjson.dumps(row) + b"\n")
            written[row.engine, row.task] += 1
    for name in _LINES_OF_SUITES:
        paths = [folder / name for folder in folders if (folder / name).exists()]
        if paths:
            with atomic_file(out / name) as temporary:
                temporary.write_bytes(b"".join(path.read_bytes() for path in paths))
    parts = {
        (part.engine, part.task): FinishedPart(
            engine=part.engine, task=part.task, rows=written[part.engine, part.task]
        )
        for run in runs
        if run.header.finished
        for part in run.header.finished.parts
    }
    header: dict[str, UntypedJson] = {
        **runs[0].raw_header,
        "shard": WHOLE,
        "finished": msgspec.to_builtins(FinishedHeader(parts=tuple(parts.values()))),
        **more,
    }
    with atomic_file(out / HEADER) as temporary:
        temporary.write_bytes(orjson.dumps(header, option=orjson.OPT_INDENT_2))
    return open_run(out)


def _check_shards(runs: Sequence[RecordedRun]) -> None:
    first, *others = runs
    for run in runs:
        if gaps := gaps_of(run):
            raise BadData("; ".join(gaps), str(run.folder), "the same command goes on")
    for run in others:
        if unlike := differences(first.raw_header, run.raw_header):
            raise BadConfiguration(
                f"not the {', '.join(map(str, unlike))} of {first.folder}",
                str(run.folder),
                "run it anew in the same way",
            )
    check_participants(runs)
    whole = {f"{part}/{len(runs)}" for part in range(1, len(runs) + 1)}
    shards: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        for part in run.header.finished.parts if run.header.finished else ():
            shards.setdefault((part.engine, part.task), set()).add(run.header.shard)
    for (engine, task), present in shards.items():
        if missing := sorted(whole - present):
            raise BadData(
                f"{engine} has no shard {', '.join(missing)} of task {task}",
                ", ".join(str(run.folder) for run in runs),
            )


def check_participants(runs: Sequence[RecordedRun]) -> None:
    """Check that participants of one label are the same in all runs.

    Raises:
        BadConfiguration: two are not; says in what.
    """
    first_entries: dict[str, tuple[RecordedRun, Mapping[str, UntypedJson]]] = {}
    for run in runs:
        for entry in run.raw_header.get("engines") or ():
            first, expected = first_entries.setdefault(entry["engine"], (run, entry))
            if difference := participant_difference(expected, entry):
                raise BadConfiguration(
                    f"another {entry['engine']} than in {first.folder} ({difference})",
                    str(run.folder),
                    "run it anew in the same way",
                )
