"""Runs joined into one: the shards of a run, or runs of other engines beside it.

Only what was asked in the same way is joined: the same version of csbdata, the same
code, data, tokenizer, limits, settings and machine. An engine may come from one run
or from several shards; the same case in two runs must be the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from curation.system.atomic_files import atomic_file
from curation.system.errors import BadConfiguration, BadData, CannotCreate
from evaluation.results.reader import HEADER, open_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from evaluation.results.reader import RecordedRun

#: Parts of a header that have to be the same, and what they are called.
SAME = {
    "csbdata": "version of csbdata",
    "code": "code of csbdata",
    "data": "data",
    "tokenizer": "tokenizer",
    "limits": "limits",
    "settings": "settings",
    "limit": "limit",
    "machine": "machine",
}
_LINES = "units-1-of-1.jsonl"


def merge(folders: Sequence[Path], out: Path) -> RecordedRun:
    """Join runs into a new folder, and open it.

    Raises:
        BadConfiguration: the runs were not made in the same way; says in what.
        BadData: two of them have different results of the same case.
        CannotCreate: `out` is there already, or cannot be written.
    """
    runs = [open_run(folder) for folder in folders]
    header = _header(runs)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CannotCreate("is there already", str(out), "choose another --out")
    with atomic_file(out / _LINES) as temporary, temporary.open("wb") as file:
        for line in _lines(runs):
            file.write(line)
    with atomic_file(out / HEADER) as temporary:
        temporary.write_bytes(orjson.dumps(header, option=orjson.OPT_INDENT_2))
    return open_run(out)


def missing_shards(runs: Sequence[RecordedRun]) -> list[str]:
    """Return the shards (`2/3`) that are missing from runs that were divided."""
    given = {run.header.shard for run in runs}
    wholes = {int(shard.partition("/")[2]) for shard in given if "/" in shard}
    return [
        f"{part}/{whole}"
        for whole in sorted(wholes)
        for part in range(1, whole + 1)
        if f"{part}/{whole}" not in given
    ]


def _header(runs: Sequence[RecordedRun]) -> dict[str, UntypedJson]:
    first = runs[0]
    for other in runs[1:]:
        for name, called in SAME.items():
            wanted, found = first.raw_header.get(name), other.raw_header.get(name)
            if wanted != found:
                raise BadConfiguration(
                    f"not the {called} of {first.folder}{_difference(wanted, found)}",
                    str(other.folder),
                    "run it anew in the same way, or use csbdata results compare",
                )
    engines = _engines(runs)
    tasks = dict.fromkeys(task for run in runs for task in run.tasks)
    return {
        **first.raw_header,
        "engines": list(engines.values()),
        "tasks": list(tasks),
        "shard": "1/1",
        "merged": [
            {"run": run.folder.name, "shard": run.raw_header.get("shard")}
            for run in runs
        ],
    }


def _difference(first: UntypedJson, other: UntypedJson) -> str:
    """Return which member differs, of a part that has several."""
    if isinstance(first, dict) and isinstance(other, dict):
        names = [
            name
            for name in dict.fromkeys((*first, *other))
            if first.get(name) != other.get(name)
        ]
        return (
            f" ({', '.join(f'{n} {other.get(n)}, not {first.get(n)}' for n in names)})"
        )
    return f" ({other}, not {first})"


def _engines(runs: Sequence[RecordedRun]) -> dict[str, Mapping[str, UntypedJson]]:
    found: dict[str, Mapping[str, UntypedJson]] = {}
    for run in runs:
        for engine in run.raw_header.get("engines") or ():
            known = found.setdefault(engine["engine"], engine)
            if known != engine:
                raise BadConfiguration(
                    f"another {engine['engine']} than in {runs[0].folder}"
                    f"{_difference(known, engine)}",
                    str(run.folder),
                )
    return found


def _lines(runs: Sequence[RecordedRun]) -> Iterator[bytes]:
    seen: dict[tuple[str, ...], str] = {}
    for run in runs:
        for row in run.rows():
            key = (row.engine, row.task, row.config, row.id)
            if key not in seen:
                seen[key] = row.fingerprint
                yield orjson.dumps(row) + b"\n"
            elif seen[key] != row.fingerprint:
                raise BadData(
                    f"another result of {'/'.join(key)} than in a run before it",
                    str(run.folder),
                    "leave one of them out",
                )
