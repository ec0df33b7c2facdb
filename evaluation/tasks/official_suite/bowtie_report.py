"""Export a run of the official suite as a report for `bowtie summary`: JSON lines.

An engine is an implementation; `valid` means that its masks let the text be written to
its end (bowtie, `schemas/report.json`). A refused schema is an error there; in the
paper's criteria it passes if all instances are invalid.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from curation.schema.dialects import BY_NAME
from curation.system.atomic_files import atomic_file
from curation.system.errors import BadData, NoInput
from evaluation.core.cases import Case, InstanceResult, Result, Row, WalkVerdict
from evaluation.results.outcomes import FAULTS
from evaluation.tasks.official_suite import NAME
from evaluation.tasks.official_suite.task import with_suite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.download.acquire import FetchSettings
    from evaluation.core.run_header import ParticipantHeader
    from evaluation.results.reader import RecordedRun

#: What the name of an implementation may consist of.
_NAME: Final = re.compile(r"[A-Za-z0-9_.]+")


def write_bowtie(run: RecordedRun, folder: Path, fetch: FetchSettings) -> list[Path]:
    """Write a report for each draft of a run's task `test-suite`; return the files.

    Schemas and instances come from the suite: rows do not hold them.

    Args:
        run: A run of the task.
        folder: Where the reports go.
        fetch: Where to look for the suite.

    Raises:
        NoInput: the run has no such task.
        BadData: the suite here is of another edition than the run's.
        Unavailable: the suite cannot be had.
        CannotCreate: the folder cannot be written.
    """
    rows: dict[str, list[Row]] = {}
    for row in run.rows():
        if row.task == NAME:
            rows.setdefault(row.config, []).append(row)
    if not rows:
        raise NoInput(
            f"no row of task {NAME}", str(run.folder), f"csbdata eval --task {NAME}"
        )
    cases = _cases(run, fetch)
    _check_suite(run, rows, cases)
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


def _check_suite(
    run: RecordedRun,
    rows: Mapping[str, Sequence[Row]],
    cases: Mapping[tuple[str, str], Case],
) -> None:
    """Check that the cases are those that the run asked.

    Raises:
        BadData: they are of another edition of the suite.
    """
    editions = {case.label.get("suite") for case in cases.values()}
    for row in (row for own in rows.values() for row in own):
        edition = row.label.get("suite")
        if edition is not None and edition not in editions:
            here = ", ".join(sorted(map(str, editions))) or "no suite"
            raise BadData(
                f"the run asked cases of {edition}; here is {here}",
                str(run.folder),
                f"csbdata eval --task {NAME} asks those anew",
            )


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
    by_case: dict[str, list[Row]] = {}
    for row in rows:
        by_case.setdefault(row.id, []).append(row)
    gone = [unit_id for unit_id in by_case if (config, unit_id) not in cases]
    yield _header(run, config, rows, gone)
    for seq, (unit_id, own) in enumerate(by_case.items(), start=1):
        if (config, unit_id) in cases:
            case = cases[config, unit_id]
            yield {"seq": seq, "case": _case(own[0], case)}
            for row in own:
                yield {"seq": seq, "implementation": row.engine, **_result(row, case)}
    yield {"did_fail_fast": False}


def _header(
    run: RecordedRun, config: str, rows: list[Row], gone: Sequence[str]
) -> Json:
    draft = config.partition(" ")[0]
    labels = {row.engine for row in rows}
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
            # Cases of the run that are missing in this edition of the suite.
            "left_out": [*gone],
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


def _case(row: Row, case: Case) -> Json:
    tests: list[Json] = [
        {
            "description": str(walk.label.get("description", "")),
            "instance": json.loads(walk.text),
            "valid": walk.valid,
        }
        for walk in case.walks
    ]
    return {
        "description": str(row.label.get("description", row.id)),
        "schema": json.loads(case.schema),
        "tests": tests,
    }


def _result(row: Row, case: Case) -> dict[str, Json]:
    expected: list[Json] = [walk.valid for walk in case.walks]
    if row.result is Result.OK:
        return {"results": [_judged(walk) for walk in row.walks], "expected": expected}
    context: Json = {"outcome": row.result, "phase": row.phase, "message": row.detail}
    caught = row.result in (Result.COMPILE_ERROR, Result.ENGINE_ERROR)
    return {
        "errored": True,
        "context": context,
        "caught": caught,
        "expected": expected,
    }


def _judged(walked: InstanceResult) -> Json:
    if walked.verdict is WalkVerdict.NOT_RUN or walked.verdict in FAULTS:
        return {"errored": True, "context": {"message": walked.verdict}}
    return {"valid": walked.verdict is WalkVerdict.ACCEPTED}
