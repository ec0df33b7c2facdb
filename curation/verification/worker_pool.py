"""All units of all checks, done in child processes."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from curation.verification.core.check import UnitResult
from curation.workers.limits import Limits
from curation.workers.pool import Pool
from curation.workers.process import Program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from curation.verification.core.check import FolderCheck
    from curation.verification.core.folder_contents import FolderContents

_WORKER = Path(__file__).with_name("scan_worker.py")
#: Seconds for one unit: a schema, a row group, a config that `datasets` opens.
DEADLINE = 300.0
_MEMORY_MB = 4096
_FILE_MB = 65_536


def scan(
    contents: FolderContents,
    checks: Sequence[FolderCheck],
    *,
    jobs: int,
    progress: Callable[[int], None],
) -> Mapping[str, Sequence[UnitResult]]:
    """Return the answers of the children, by the name of the check.

    Raises:
        WorkerDidNotStart: a child cannot be started at all.
    """
    named = [
        (check.name, units) for check in checks for units in check.batches(contents)
    ]
    if not named:
        return {}
    answers: dict[str, list[list[UnitResult]]] = defaultdict(list)
    limits = replace(Limits(), seconds=DEADLINE, memory_mb=_MEMORY_MB, file_mb=_FILE_MB)
    with tempfile.TemporaryDirectory(prefix="csbdata-verify-") as cache:
        program = Program(
            file=_WORKER,
            setup={"folder": str(contents.folder.resolve())},
            environment=_offline(cache),
        )
        batches = [[[name, unit] for unit in units] for name, units in named]
        done: dict[int, list[UnitResult]] = {}
        with Pool(program, jobs=jobs, limits=limits) as pool:
            for result in pool.run_batches(batches):
                _, units = named[result.index]
                done[result.index] = [
                    UnitResult(unit=unit, outcome=outcome)
                    for unit, outcome in zip(units, result.results, strict=True)
                ]
                progress(len(units))
    for index, (name, _) in enumerate(named):
        answers[name].append(done[index])
    return {
        name: [each for batch in batches for each in batch]
        for name, batches in answers.items()
    }


def _offline(cache: str) -> dict[str, UntypedJson]:
    """Return what keeps `datasets` off the network and inside a folder."""
    return {
        "HF_HOME": cache,
        "HF_DATASETS_OFFLINE": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        "MPLCONFIGDIR": cache,
        "TMPDIR": cache,
    }
