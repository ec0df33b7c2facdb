"""Join runs into one: the shards of a run, or runs of other engines or records.

Runs must share their conditions (`evaluation.results.conditions`) and be finished, with
every shard; a case that is in two runs must be the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import msgspec
import orjson

from curation.core.json_types import UntypedJson
from curation.system.atomic_files import atomic_file
from curation.system.atomic_folders import refuse_foreign
from curation.system.errors import BadConfiguration, BadData
from evaluation.core.cases import Row
from evaluation.core.run_header import FinishedHeader, FinishedPart
from evaluation.results.conditions import (
    ConditionDifference,
    differences,
    participant_difference,
)
from evaluation.results.reader import (
    HEADER,
    WHOLE,
    RecordedRun,
    gaps_of,
    missing_shards,
    open_run,
    to_finish,
)
from evaluation.results.suite_rows import SUITE, is_suite_run, joined_facts

_LINES = "rows-1-of-1.jsonl"
#: Files of records and responses in the folder of a run in which models write.
_LINES_OF_SUITES = ("records.jsonl", "responses.jsonl")


def merge(folders: Sequence[Path], out: Path, **more: str) -> RecordedRun:
    """Join runs into a new folder, and open it.

    Args:
        folders: Those of the runs.
        out: The new one.
        more: Members that its header has besides.

    Raises:
        BadConfiguration: the runs were not made in the same way; says in what.
        BadData: a run was not finished, a shard is missing, or two runs have different
            results of the same case.
        CannotCreate: `out` is there already, or cannot be written.
    """
    runs = [open_run(folder) for folder in folders]
    check_joinable(runs)
    refuse_foreign(out)
    written: Counter[tuple[str, str]] = Counter()
    with atomic_file(out / _LINES) as temporary, temporary.open("wb") as file:
        for row in _rows(runs):
            file.write(orjson.dumps(row) + b"\n")
            written[row.engine, row.task] += 1
    for name in _LINES_OF_SUITES:
        _join_lines(folders, out, name)
    header = {**_header(runs, written), **more}
    with atomic_file(out / HEADER) as temporary:
        temporary.write_bytes(orjson.dumps(header, option=orjson.OPT_INDENT_2))
    return open_run(out)


def _join_lines(folders: Sequence[Path], out: Path, name: str) -> None:
    paths = [folder / name for folder in folders if (folder / name).exists()]
    lines = dict.fromkeys(
        line for path in paths for line in path.read_bytes().splitlines(keepends=True)
    )
    if paths:
        with atomic_file(out / name) as temporary:
            temporary.write_bytes(b"".join(lines))


def check_joinable(runs: Sequence[RecordedRun]) -> None:
    """Check that runs are whole, and were made in the same way.

    Raises:
        BadConfiguration: the runs were not made in the same way; says in what.
        BadData: a run was not finished, or a shard is missing.
    """
    for run in runs:
        if gaps := gaps_of(run):
            raise BadData("; ".join(gaps), str(run.folder), to_finish(run))
    # Each with each: what one run has none of, such as data, two others may have.
    for first, other in combinations(runs, 2):
        if unlike := _differences_of_parts(first.raw_header, other.raw_header):
            raise BadConfiguration(
                f"not the {', '.join(map(str, unlike))} of {first.folder}",
                str(other.folder),
                "run it anew in the same way, or use csbdata results compare",
            )
    check_participants(runs)
    if missing := missing_shards(runs):
        raise BadData(
            "; ".join(missing),
            ", ".join(str(run.folder) for run in runs),
            "name the runs of these shards too",
        )


def _differences_of_parts(
    first: Mapping[str, UntypedJson], other: Mapping[str, UntypedJson]
) -> list[ConditionDifference]:
    """Return the conditions that runs do not share; each may have ids of its own.

    A run whose tasks read no data has none, and goes with every other.
    """
    parts = [bool(head.get("only")) for head in (first, other) if head.get("data")]
    named = all(parts)
    return [
        difference
        for difference in differences(first, other)
        if not (named and difference.condition.name == "--id")
    ]


def check_participants(runs: Sequence[RecordedRun]) -> None:
    """Check that participants of one label are the same in all runs.

    Raises:
        BadConfiguration: two are not; says in what.
    """
    first_entries: dict[str, tuple[RecordedRun, Mapping[str, UntypedJson]]] = {}
    for run in runs:
        for entry in run.raw_header.get("engines") or ():
            first, expected = first_entries.setdefault(entry["engine"], (run, entry))
            difference = participant_difference(expected, entry)
            if difference:
                raise BadConfiguration(
                    f"another {entry['engine']} than in {first.folder} ({difference})",
                    str(run.folder),
                    "run it anew in the same way, or use csbdata results compare",
                )


def _header(
    runs: Sequence[RecordedRun], written: Counter[tuple[str, str]]
) -> dict[str, UntypedJson]:
    heads = [run.raw_header for run in runs]
    plans = {head.get("plan") for head in heads}
    parts = {
        (part.engine, part.task): FinishedPart(
            engine=part.engine, task=part.task, rows=written[part.engine, part.task]
        )
        for run in runs
        if run.header.finished
        for part in run.header.finished.parts
    }
    joined: dict[str, UntypedJson] = {
        **heads[0],
        # Runs of other engines beside it are another plan: no command goes on here.
        "plan": plans.pop() if len(plans) == 1 else None,
        "shard": WHOLE,
        "engines": _participants(heads),
        "tasks": [*dict.fromkeys(task for run in runs for task in run.header.tasks)],
        "finished": msgspec.to_builtins(FinishedHeader(parts=tuple(parts.values()))),
        "merged": [{"run": run.folder.name, "shard": run.header.shard} for run in runs],
    }
    for name in ("data", "models", "writing"):
        joined[name] = next((head[name] for head in heads if head.get(name)), None)
    if suites := [head[SUITE] for head in heads if is_suite_run(head)]:
        joined[SUITE] = joined_facts(suites)
    joined["only"] = sorted({name for head in heads for name in head.get("only") or ()})
    joined["sources"] = {
        task: source
        for head in heads
        for task, source in (head.get("sources") or {}).items()
    }
    return joined


def _participants(
    heads: Sequence[Mapping[str, UntypedJson]],
) -> list[Mapping[str, UntypedJson]]:
    """Return who takes part, each once; where one run had it, it was there."""
    entries: dict[str, Mapping[str, UntypedJson]] = {}
    for head in heads:
        for entry in head.get("engines") or ():
            earlier = entries.setdefault(entry["engine"], entry)
            if earlier.get("unavailable"):
                entries[entry["engine"]] = entry
    return list(entries.values())


def _rows(runs: Sequence[RecordedRun]) -> Iterator[Row]:
    """Yield the rows of all runs, each case once.

    Raises:
        BadData: two runs have different results of the same case.
    """
    origins: dict[tuple[str, ...], str] = {}
    for run in runs:
        for row in run.all_rows():
            key = (row.engine, row.task, row.config, row.id, str(row.repetition))
            if key not in origins:
                origins[key] = row.fingerprint
                yield row
            elif origins[key] != row.fingerprint:
                raise BadData(
                    f"another result of {'/'.join(key[:-1])} than in a run before it",
                    str(run.folder),
                    "leave one of them out",
                )
