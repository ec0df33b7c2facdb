"""A run of the official suite as a report that reads like Bowtie's: JSON lines.

Header, then each case and what each engine made of it, then a footer. An engine is
an implementation; `valid` is that the text can be written to its end under the
engine's masks (specification: bowtie-json-schema/bowtie, io/report.json; our header
says `csbdata_version` where Bowtie's says its own).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from curation.schema.dialects import BY_NAME
from curation.system.atomic_files import atomic_file
from curation.system.errors import NoInput
from evaluation.core.cases import Result, WalkVerdict
from evaluation.tasks.official_suite import NAME
from evaluation.tasks.official_suite.task import with_suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.download.acquire import FetchSettings
    from evaluation.core.cases import Case, InstanceResult, Row
    from evaluation.results.reader import RecordedRun


def write_bowtie(run: RecordedRun, folder: Path, fetch: FetchSettings) -> list[Path]:
    """Write a report for each draft of a run's task `test-suite`; returns the files.

    The suite is asked again for its schemas and instances, which rows do not hold.

    Args:
        run: A run of the task.
        folder: Where the reports go.
        fetch: Where to look for the suite.

    Raises:
        NoInput: the run has no such task.
        Unavailable: the suite cannot be had.
        CannotCreate: the folder cannot be written.
    """
    rows: dict[str, list[Row]] = {}
    for row in run.rows():
        if row.task == NAME:
            rows.setdefault(row.config, []).append(row)
    if not rows:
        raise NoInput(
            f"no unit of task {NAME}", str(run.folder), f"csbdata eval --task {NAME}"
        )
    cases = _cases(run, fetch)
    written = []
    for config, own in rows.items():
        path = folder / f"{quote(config.replace(' ', '-'), safe='')}.jsonl"
        with (
            atomic_file(path) as temporary,
            temporary.open("w", encoding="utf-8") as out,
        ):
            for line in _lines(run, config, own, cases):
                out.write(json.dumps(line) + "\n")
        written.append(path)
    return written


def _cases(run: RecordedRun, fetch: FetchSettings) -> dict[tuple[str, str], Case]:
    task = with_suite(fetch, lambda _message: None)
    return {
        (case.config, case.id): case for case in task.cases((), run.header.settings)
    }


def _lines(
    run: RecordedRun,
    config: str,
    rows: list[Row],
    cases: Mapping[tuple[str, str], Case],
) -> Iterator[Json]:
    yield _header(run, config, rows)
    by_case: dict[str, list[Row]] = {}
    for row in rows:
        by_case.setdefault(row.id, []).append(row)
    for seq, (unit_id, own) in enumerate(by_case.items(), start=1):
        case = cases.get((config, unit_id))
        yield {"seq": seq, "case": _case(own[0], case)}
        for row in own:
            yield {"seq": seq, "implementation": row.engine, **_result(row)}
    yield {"did_fail_fast": False}


def _header(run: RecordedRun, config: str, rows: list[Row]) -> Json:
    draft = config.partition(" ")[0]
    there = {row.engine for row in rows}
    participants = [engine for engine in run.header.engines if engine.engine in there]
    return {
        "csbdata_version": run.raw_header.get("csbdata"),
        "implementations": {
            engine.engine: {
                "name": engine.name,
                "version": engine.version,
                "language": "constrained decoding",
                "options": engine.options,
                "dialects": [_uri(draft)],
            }
            for engine in participants
        },
        "dialect": _uri(draft),
        "started": run.raw_header.get("started"),
        "metadata": {
            "machine": run.raw_header.get("machine"),
            "tokenizer": run.raw_header.get("tokenizer"),
            "limits": run.raw_header.get("limits"),
        },
    }


def _uri(draft: str) -> str:
    known = BY_NAME.get(draft)
    return draft if known is None else known.uri


def _case(row: Row, case: Case | None) -> Json:
    """Return the case; without schema and instances if the suite has it no more."""
    tests: list[dict[str, Json]] = [
        {"description": str(walk.label.get("description", "")), "valid": walk.valid}
        for walk in row.walks
    ]
    found: dict[str, Json] = {"description": str(row.label.get("description", row.id))}
    if case is not None:
        found["schema"] = json.loads(case.schema)
        for test, walk in zip(tests, case.walks, strict=False):
            test["instance"] = json.loads(walk.text)
    return {**found, "tests": [*tests]}


def _result(row: Row) -> dict[str, Json]:
    if row.result is Result.OK:
        return {"results": [_judged(walk) for walk in row.walks]}
    context: Json = {"outcome": row.result, "phase": row.phase, "message": row.detail}
    caught = row.result in (Result.COMPILE_ERROR, Result.ERROR)
    return {"context": context, "caught": caught}


def _judged(walked: InstanceResult) -> Json:
    if walked.verdict in (WalkVerdict.NOT_RUN, WalkVerdict.LIED):
        return {"errored": True, "context": {"message": walked.verdict}}
    return {"valid": walked.verdict is WalkVerdict.ACCEPTED}
