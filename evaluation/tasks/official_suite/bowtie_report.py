"""Export a run of the official suite as a report for `bowtie summary`: JSON lines.

An engine is an implementation; `valid` means that its masks let the text be written to
its end (bowtie, `schemas/report.json`). A refused schema is an error there; in the
paper's criteria it passes if all instances are invalid.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from curation.schema.dialects import BY_NAME
from curation.system.atomic_files import atomic_file
from curation.system.errors import BadData, NoInput
from curation.system.file_names import safe_name
from evaluation.core.cases import InstanceResult, Result, Row, WalkVerdict
from evaluation.results.outcomes import FAULTS
from evaluation.tasks.official_suite import NAME
from evaluation.tasks.official_suite.task import CASE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.core.run_header import ParticipantHeader
    from evaluation.results.reader import RecordedRun

#: What the name of an implementation may consist of.
_NAME: Final = re.compile(r"[A-Za-z0-9_.]+")


def write_bowtie(run: RecordedRun, folder: Path) -> list[Path]:
    """Write a report for each draft of a run's task `test-suite`; return the files.

    Schemas and instances are those of the rows: what the run asked.

    Args:
        run: A run of the task.
        folder: Where the reports go.

    Raises:
        NoInput: the run has no such task.
        BadData: its rows do not hold their cases.
        CannotCreate: the folder cannot be written.
    """
    anew = f"csbdata eval --task {NAME}"
    rows: dict[str, dict[str, list[Row]]] = {}
    for row in run.rows():
        if row.task == NAME:
            if CASE not in row.label:
                raise BadData("rows without their cases", str(run.folder), anew)
            rows.setdefault(row.config, {}).setdefault(row.id, []).append(row)
    if not rows:
        raise NoInput(f"no row of task {NAME}", str(run.folder), anew)
    written = []
    for config, own in rows.items():
        path = folder / f"{safe_name(config)}.jsonl"
        with (
            atomic_file(path) as temporary,
            temporary.open("w", encoding="utf-8") as out,
        ):
            for line in _lines(run, config, own):
                out.write(json.dumps(line) + "\n")
        written.append(path)
    return written


def _lines(
    run: RecordedRun, config: str, by_case: Mapping[str, Sequence[Row]]
) -> Iterator[Json]:
    yield _header(run, config, {row.engine for own in by_case.values() for row in own})
    for seq, own in enumerate(by_case.values(), start=1):
        case = json.loads(str(own[0].label[CASE]))
        yield {"seq": seq, "case": case}
        expected = [test["valid"] for test in case["tests"]]
        for row in own:
            yield {"seq": seq, "implementation": row.engine, **_result(row, expected)}
    yield {"did_fail_fast": False}


def _header(run: RecordedRun, config: str, labels: set[str]) -> Json:
    draft = config.partition(" ")[0]
    participants = [engine for engine in run.header.engines if engine.engine in labels]
    return {
        # Bowtie wants the version of who wrote the report.
        "bowtie_version": f"csbdata {run.header.csbdata}",
        "implementations": {
            engine.engine: _implementation(engine, draft) for engine in participants
        },
        "dialect": _uri(draft),
        "started": run.header.started,
        "metadata": {
            "machine": run.raw_header.get("machine"),
            "tokenizer": run.raw_header.get("tokenizer"),
            "limits": run.raw_header.get("limits"),
            "options": {engine.engine: engine.options for engine in participants},
        },
    }


def _implementation(engine: ParticipantHeader, draft: str) -> Json:
    """Return an engine as Bowtie describes an implementation, all places included."""
    name = engine.engine
    if engine.version:
        name = name.replace(f" {engine.version}", "", 1)
    name = "-".join(_NAME.findall(name)).strip("-._") or "engine"
    place = engine.homepage or f"urn:csbdata:engine:{name}"
    return {
        "name": name if name[0].isalpha() and len(name) > 1 else f"engine-{name}",
        "version": engine.version or "unknown",
        "language": "constrained-decoding",
        "homepage": place,
        "issues": place,
        "source": place,
        "dialects": [_uri(draft)],
    }


def _uri(draft: str) -> str:
    dialect = BY_NAME.get(draft)
    return draft if dialect is None else dialect.uri


def _result(row: Row, expected: list[Json]) -> dict[str, Json]:
    if row.result is Result.OK:
        return {"results": [_judged(walk) for walk in row.walks], "expected": expected}
    context: Json = {"outcome": row.result, "phase": row.phase, "message": row.detail}
    caught = row.result in (Result.COMPILE_ERROR, Result.ENGINE_ERROR)
    return {"errored": True, "context": context, "caught": caught, "expected": expected}


def _judged(walked: InstanceResult) -> Json:
    if walked.verdict is WalkVerdict.NOT_RUN or walked.verdict in FAULTS:
        return {"errored": True, "context": {"message": walked.verdict}}
    return {"valid": walked.verdict is WalkVerdict.ACCEPTED}
