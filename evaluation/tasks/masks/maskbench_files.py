"""Export results as MaskBench writes them, for its tables and plots.

A folder an engine: `{Split}---{file}.json` for each schema, `meta.txt`, `log.txt`,
`stats.txt`, `entries.txt`, `histogram.csv`, `ttfm_us.csv`, `masks_us.csv`
(specification: guidance-ai/jsonschemabench, maskbench). Times are whole microseconds. A
crash leaves `pending_file`; of several wrong instances the last is named. Unlike
MaskBench, the end of a text is checked, and `passing` counts schemas with instances
only.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

from curation.instances.dataset.records import maskbench_names
from curation.system.atomic_files import atomic_file, atomic_write_bytes
from curation.system.errors import NoInput
from curation.system.file_names import safe_name
from evaluation.core.cases import Result, Row, WalkVerdict
from evaluation.reporting.quantiles import PERCENTILES, index_percentile
from evaluation.results.measurements import CaseMeasurement, measure
from evaluation.results.outcomes import Outcome, engine_is_right, is_judged_apart
from evaluation.tasks.masks import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.results.reader import RecordedRun

_US = 1_000
_SECOND_US = 1_000_000
#: What its runner logs when a process ends so.
_EXITS = {Result.CRASH: -11, Result.OUT_OF_MEMORY: -6, Result.TIMEOUT: -14}
_STEP = 1.3
#: What `stats.txt` counts last.
_COUNTED = (
    *("num_schemas_ok", "num_compilation_errors"),
    *("num_validation_errors", "num_invalidation_errors"),
    *("num_tests", "num_valid_tests", "num_invalid_tests"),
)
#: Its ids of engines, which its script of results knows and no other.
_IDS = {
    "llguidance": "llg",
    "xgrammar": "xgr",
    "llama_cpp": "llamacpp",
    "llama_cpp_gbnf": "xgr-cpp",
    "outlines_core": "outlines",
}


class MaskBenchResult(TypedDict, total=False):
    """The content of one schema's file; times are in microseconds."""

    #: Its runner writes this before it begins; it stays where the process died.
    pending_file: int
    id: str
    ttfm_us: int
    max_ttfm_us: int
    masks_us: int
    max_mask_us: int
    num_tokens: int
    num_tests: int
    all_mask_us: list[int]
    num_valid_tests: int
    num_invalid_tests: int
    #: Why the schema was refused.
    compile_error: str
    #: Which instance went wrong last, and how.
    validation_error: str


@dataclass(slots=True)
class _Totals:
    """What `stats.txt` and `entries.txt` sum up."""

    ttfm_us: list[int] = field(default_factory=list)
    masks_us: list[int] = field(default_factory=list)
    exits: list[int] = field(default_factory=list)
    #: By the names of `stats.txt`.
    counts: Counter[str] = field(default_factory=Counter)


def write_maskbench(run: RecordedRun, folder: Path) -> list[Path]:
    """Write a folder for each engine of a run's task `masks`; returns the folders.

    Raises:
        NoInput: the run has no such task.
        CannotCreate: a file cannot be written.
    """
    totals: dict[str, _Totals] = {}
    cut_ns = run.header.limits.compile_ns
    keys = [(row.engine, row.config, row.id) for row in run.rows() if row.task == NAME]
    names = maskbench_names((config, id_) for _, config, id_ in keys)
    folders = {engine: folder / safe_name(engine) for engine, _, _ in keys}
    for row in run.rows():
        if row.task == NAME:
            name = names[row.config, row.id]
            content = result_of(row, name)
            case = measure(row, cut_ns)
            _count(totals.setdefault(row.engine, _Totals()), row, case, content)
            path = folders[row.engine] / name
            atomic_write_bytes(path, json.dumps(content, indent=2).encode())
    if not totals:
        raise NoInput(
            f"no row of task {NAME}", str(run.folder), f"csbdata eval --task {NAME}"
        )
    for engine, own in totals.items():
        _write_sums(folders[engine], engine, own, run)
    return [folders[engine] for engine in totals]


def result_of(row: Row, name: str) -> MaskBenchResult:
    """Return the content of one schema's file, of this name."""
    if row.result in {*_EXITS, Result.TOO_MUCH_OUTPUT, Result.PROTOCOL_ERROR}:
        return {"pending_file": 1}
    measured = measure(row, None)
    walks = [walk for walk in row.walks if not is_judged_apart(walk)]
    steps = (*measured.ordinary.between_ns, *measured.length_misses.between_ns)
    times = [time // _US for time in steps]
    ttfm = None if measured.compile_ns is None else measured.compile_ns // _US
    result: MaskBenchResult = {
        "id": name,
        "ttfm_us": ttfm or 0,
        "max_ttfm_us": ttfm or 0,
        "masks_us": sum(times),
        "max_mask_us": max(times, default=0),
        "num_tokens": len(times),
        "num_tests": len(walks),
        "all_mask_us": times,
        "num_valid_tests": measured.valid.count,
        "num_invalid_tests": measured.invalid.count,
    }
    if row.result is Result.COMPILE_ERROR:
        return {**result, "compile_error": row.detail}
    error = _validation_error(row)
    return {**result, "validation_error": error} if error else result


def _validation_error(row: Row) -> str:
    walks = [walk for walk in row.walks if not is_judged_apart(walk)]
    error = ""
    for index, walk in enumerate(walks):
        if engine_is_right(walk) is False:
            error = f"test #{index}: should {'accept' if walk.valid else 'reject'}"
            error += " but didn't"
        elif engine_is_right(walk) is None:
            error = f"test #{index}: EXN {walk.verdict} {walk.detail}".strip()
        if walk.verdict is WalkVerdict.ENGINE_ERROR:
            return f"test #{index}: EXN {walk.detail}"
    return error


def _count(
    totals: _Totals, row: Row, case: CaseMeasurement, content: MaskBenchResult
) -> None:
    counts = totals.counts
    counts["num_schemas"] += 1
    if row.result in _EXITS:
        totals.exits.append(_EXITS[row.result])
    if case.compile_cut_ns is not None:
        totals.ttfm_us.append(case.compile_cut_ns // _US)
    if "id" not in content:
        return
    counts["num_tests"] += content["num_tests"]
    if "compile_error" in content:
        counts["num_compilation_errors"] += 1
        return
    totals.ttfm_us.append(content["ttfm_us"])
    totals.masks_us += content["all_mask_us"]
    counts["num_valid_tests"] += content["num_valid_tests"]
    counts["num_invalid_tests"] += content["num_invalid_tests"]
    counts["num_schemas_ok"] += case.outcome is Outcome.PASSED
    # Both kinds are counted where both occur; its own table books one of them.
    counts["num_validation_errors"] += case.valid.count < case.valid.of
    counts["num_invalidation_errors"] += case.invalid.count < case.invalid.of


def _write_sums(folder: Path, engine: str, totals: _Totals, run: RecordedRun) -> None:
    totals.ttfm_us.sort()
    totals.masks_us.sort()
    meta = _meta(engine, run)
    texts = {
        "meta.txt": json.dumps(meta, indent=2),
        "log.txt": "".join(f"Exit code: {status}\n" for status in totals.exits),
        "stats.txt": json.dumps({"meta": meta, **_stats(totals)}, indent=2),
        "entries.txt": json.dumps(_entries(totals), indent=2),
        "histogram.csv": _histogram(totals.masks_us),
        "ttfm_us.csv": fractions_left(totals.ttfm_us),
        "masks_us.csv": fractions_left(totals.masks_us),
    }
    for name, text in texts.items():
        with atomic_file(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


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


def _stats(totals: _Totals) -> dict[str, Json]:
    return {
        "ttfm_us": sum(totals.ttfm_us),
        "max_ttfm_us": max(totals.ttfm_us, default=None),
        "masks_us": sum(totals.masks_us),
        "avg_mask_us": _mean(totals.masks_us),
        "max_mask_us": max(totals.masks_us, default=None),
        "num_tokens": len(totals.masks_us),
        "num_schemas": totals.counts["num_schemas"],
        "num_crashes_or_timeouts": len(totals.exits),
        "num_timeouts": totals.exits.count(-14),
        "num_segv": totals.exits.count(-11),
        "num_abort": totals.exits.count(-6),
        **{name: totals.counts[name] for name in _COUNTED},
    }


def _entries(totals: _Totals) -> dict[str, Json]:
    counts = totals.counts
    entries: dict[str, Json] = {}
    for name, times in (("TBM", totals.masks_us), ("TTFM", totals.ttfm_us)):
        entries[f"{name} avg"] = _mean(times)
        for percent in PERCENTILES:
            entries[f"{name} p{percent:g}"] = index_percentile(times, percent)
    return {
        **entries,
        "tokens": len(totals.masks_us),
        "schemas": counts["num_schemas"],
        "passing": counts["num_schemas_ok"],
        "compile error": counts["num_compilation_errors"],
        "segmentation fault": totals.exits.count(-11),
        "out of memory": totals.exits.count(-6),
        "timeout": totals.exits.count(-14),
        "validation error": counts["num_validation_errors"],
        "invalidation error": counts["num_invalidation_errors"],
    }


def _mean(times: Sequence[int]) -> int | None:
    return sum(times) // len(times) if times else None


def fractions_left(ordered: Sequence[int]) -> str:
    """Return, for cut-offs that grow by 1.3, the share of times not below (CSV)."""
    lines = ["cutoff time,frac left"]
    cutoff = 1
    for count, time in enumerate(ordered):
        while time > cutoff:
            lines.append(f"{cutoff / 1000},{(len(ordered) - count) / len(ordered)}")
            cutoff = int(cutoff * _STEP) + 1
    return "\n".join(lines) + "\n"


def _histogram(ordered: Sequence[int]) -> str:
    """Return the percentage of times above each power of ten (CSV)."""
    lines = ["above us,frac"]
    for power in range(1, 10):
        if ordered:
            above = len(ordered) - bisect_right(ordered, 10**power)
            share = 100 * above / len(ordered)
            lines.append(f"{_named(10**power):10},{share:.15g}")
    return "\n".join(lines) + "\n"


def _named(us: int) -> str:
    if us < _US:
        return f"{us}us"
    return f"{us // _US}ms" if us < _SECOND_US else f"{us // _SECOND_US}s"
