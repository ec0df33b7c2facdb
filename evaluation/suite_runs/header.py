"""The header of a run of a suite: everything needed to make it again."""

from __future__ import annotations

import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from curation.system.terminal import command_line
from curation.workers.fingerprint import fingerprint
from evaluation.results.suite_rows import SUITE
from evaluation.setup.machine import cpu_governor, machine
from evaluation.suite_runs.records import digest_of
from evaluation.walking.code_digest import writing_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.core.suite import RecordSet
    from evaluation.suite_runs.request import ChosenSuite


def suite_header(
    chosen: ChosenSuite,
    records: RecordSet,
    participants: Sequence[Mapping[str, Json]],
    asked: Mapping[str, Json],
) -> dict[str, Json]:
    """Return what `run.json` holds.

    Its member `plan` is the fingerprint of what is asked; scoring settings are part
    of it, so that a folder holds the rows of one reading.

    Args:
        chosen: The suite, with its settings.
        records: The records that are asked.
        participants: An entry for each model and condition, its label as `engine`.
        asked: What else decides the responses: seed, repairs, ...
    """
    digest = digest_of(records.records)
    engines: list[Json] = [dict(participant) for participant in participants]
    decided: dict[str, Json] = {
        "code": writing_digest(),
        "suite": chosen.header(),
        "records": digest,
        "engines": engines,
        "asked": dict(asked),
    }
    return {
        "csbdata": version("csbdata"),
        "code": writing_digest(),
        "plan": fingerprint(**decided),
        "shard": "1/1",
        "command": [*command_line()],
        "engines": engines,
        "tasks": [chosen.suite.name],
        "data": {
            "name": records.name,
            "origin": records.origin,
            "sha256": digest,
            "records": len(records.records),
        },
        "settings": {"seed": asked.get("seed", 0)},
        SUITE: {
            **chosen.header(),
            "data": records.name,
            "origin": records.origin,
            "records": len(records.records),
            **asked,
        },
        "machine": machine(),
        "governor": cpu_governor(),
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
