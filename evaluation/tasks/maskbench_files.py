"""Export results as MaskBench writes them, for its tables and plots.

A folder an engine: `{Split}---{file}.json` for each schema, `meta.txt` and `log.txt`
(specification: guidance-ai/jsonschemabench, maskbench), which its script of results
counts. Times are whole microseconds. A crash leaves `pending_file`; the last of several
wrong instances is named. Unlike MaskBench, the end of a text is checked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from curation.instances.dataset.records import maskbench_names
from curation.system.atomic_files import EXPORTED, atomic_write_bytes, refuse_foreign
from curation.system.errors import NoInput
from curation.system.user_files import safe_name
from evaluation.core.cases import Result, Row, WalkVerdict
from evaluation.results.attempts import steps_ns
from evaluation.results.description import partial_data
from evaluation.results.outcomes import did_compile, engine_is_right, is_judged_apart
from evaluation.results.reader import list_gaps
from evaluation.tasks.masks import NAME

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.results.reader import RecordedRun

_US = 1_000
#: What its runner logs when a process ends so.
_EXITS = {Result.CRASH: -11, Result.OUT_OF_MEMORY: -6, Result.TIMEOUT: -14}
#: Its ids of engines, which its script of results knows and no other.
_IDS = {
    "llguidance": "llg",
    "xgrammar": "xgr",
    "llama_cpp": "llamacpp",
    "llama_cpp_gbnf": "xgr-cpp",
    "outlines_core": "outlines",
}


def write_maskbench(run: RecordedRun, folder: Path) -> list[Path]:
    """Write a folder for each engine of a run's task `masks`; returns the paths.

    `notice.txt` lists the gaps of a run and why its data are partial, if so.

    Raises:
        NoInput: the run has no such task.
        CannotCreate: a file cannot be written, or the folder holds something else.
    """
    keys = run.attempts(NAME).select("config", "id").rows()
    if not keys:
        raise NoInput(
            f"no row of task {NAME}", str(run.folder), f"csbdata eval --task {NAME}"
        )
    refuse_foreign(folder, EXPORTED)
    atomic_write_bytes(folder / EXPORTED, b"")
    names = maskbench_names(keys)
    exits: dict[str, list[int]] = {}
    for row in run.rows(NAME):
        statuses = exits.setdefault(row.engine, [])
        if row.result in _EXITS:
            statuses.append(_EXITS[row.result])
        name = names[row.config, row.id]
        _write(folder / safe_name(row.engine) / name, make_result(row, name))
    paths = []
    for engine, statuses in exits.items():
        paths.append(folder / safe_name(engine))
        _write(paths[-1] / "meta.txt", _meta(engine, run))
        log = "".join(f"Exit code: {status}\n" for status in statuses)
        atomic_write_bytes(paths[-1] / "log.txt", log.encode())
    if notice := [*list_gaps(run), *partial_data(run.header)]:
        paths.append(folder / "notice.txt")
        atomic_write_bytes(paths[-1], "\n".join([*notice, ""]).encode())
    return paths


def _write(path: Path, content: dict[str, Json]) -> None:
    atomic_write_bytes(path, json.dumps(content, indent=2).encode())


def make_result(row: Row, name: str) -> dict[str, Json]:
    """Return the content of one schema's file, of this name; times in microseconds.

    Its runner writes `pending_file` before it begins; it stays where the process died.
    `compile_error` is the reason of a rejection, `validation_error` the last instance
    that went wrong, and how.
    """
    if row.result in {*_EXITS, Result.TOO_MUCH_OUTPUT, Result.PROTOCOL_ERROR}:
        return {"pending_file": 1}
    walks = [walk for walk in row.walks if not is_judged_apart(walk)]
    right = [walk.valid for walk in walks if engine_is_right(walk)]
    times = [time // _US for time in steps_ns(walks)]
    compile_us = row.compile_ns // _US if row.compile_ns and did_compile(row) else 0
    result: dict[str, Json] = {
        "id": name,
        "ttfm_us": compile_us,
        "max_ttfm_us": compile_us,
        "masks_us": sum(times),
        "max_mask_us": max(times, default=0),
        "num_tokens": len(times),
        "num_tests": len(walks),
        "all_mask_us": [*times],
        "num_valid_tests": right.count(True),
        "num_invalid_tests": right.count(False),
    }
    if row.result is Result.COMPILE_ERROR:
        return {**result, "compile_error": row.detail}
    error = _validation_error(row)
    return {**result, "validation_error": error} if error else result


def _validation_error(row: Row) -> str:
    error = ""
    walks = [walk for walk in row.walks if not is_judged_apart(walk)]
    for index, walk in enumerate(walks):
        if engine_is_right(walk) is False:
            expected = "accept" if walk.valid else "reject"
            error = f"test #{index}: should {expected} but didn't"
        elif engine_is_right(walk) is None:
            error = f"test #{index}: EXN {walk.verdict} {walk.detail}".strip()
        if walk.verdict is WalkVerdict.ENGINE_ERROR:
            return f"test #{index}: EXN {walk.detail}"
    return error


def _meta(engine: str, run: RecordedRun) -> dict[str, Json]:
    participant = run.header.participant(engine)
    return {
        "id": _IDS.get(participant.name or "", safe_name(engine)),
        "name": engine,
        "module": participant.name,
        "module_version": participant.version,
        "cmd": run.raw_header.get("command"),
        "info": {
            "options": participant.options,
            "machine": run.raw_header.get("machine"),
            "tokenizer": run.header.tokenizer.name,
            "end_checked": True,
        },
    }
