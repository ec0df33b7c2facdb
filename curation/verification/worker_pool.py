"""All units of all checks, done in child processes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from curation.verification.core.check import UnitResult
from curation.verification.scan_messages import ScanSetup, ScanUnit
from curation.workers.limits import BUSY_MACHINE, Limits
from curation.workers.pool import Pool
from curation.workers.process import Program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.system.progress import Progress
    from curation.verification.core.check import FolderCheck
    from curation.verification.core.folder_contents import FolderContents

_WORKER = Path(__file__).with_name("scan_worker.py")
#: Seconds for one unit: a schema, a row group, a config that `datasets` opens.
DEADLINE = 300.0
_MEMORY_MB = 4096
_FILE_MB = 65_536


def run_units(
    contents: FolderContents,
    checks: Sequence[FolderCheck],
    *,
    jobs: int,
    progress: Progress,
) -> Mapping[str, Sequence[UnitResult]]:
    """Return the results of each check's units, in order, by the name of the check.

    Args:
        contents: The folder.
        checks: Those whose units are done.
        jobs: Number of child processes.
        progress: Is told how many units are done, of how many.

    Raises:
        WorkerDidNotStart: a child cannot be started at all.
    """
    batches = [
        (check.name, units) for check in checks for units in check.batches(contents)
    ]
    if not batches:
        return {}
    done: dict[int, list[UnitResult]] = {}
    limits = Limits(
        seconds=DEADLINE,
        wall_times=BUSY_MACHINE,
        memory_mb=_MEMORY_MB,
        file_mb=_FILE_MB,
    )
    with tempfile.TemporaryDirectory(prefix="csbdata-verify-") as cache:
        program = Program(
            file=_WORKER,
            setup=ScanSetup(folder=str(contents.folder.resolve())),
            environment=_offline(cache),
        )
        messages = [
            [ScanUnit(check=name, unit=unit) for unit in units]
            for name, units in batches
        ]
        total = sum(map(len, messages))
        with (
            Pool(program, jobs=jobs, limits=limits) as pool,
            progress.bar("Verifying", total) as advance,
        ):
            for batch in pool.run_batches(messages):
                _, units = batches[batch.index]
                done[batch.index] = [
                    UnitResult(unit=unit, result=result)
                    for unit, result in zip(units, batch.results, strict=True)
                ]
                advance(len(units))
    results: dict[str, list[UnitResult]] = {}
    for index, (name, _) in enumerate(batches):
        results.setdefault(name, []).extend(done[index])
    return results


def _offline(cache: str) -> dict[str, str]:
    """Return the environment that keeps `datasets` off the network, in a folder."""
    return {
        "HF_HOME": cache,
        "HF_DATASETS_OFFLINE": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        "MPLCONFIGDIR": cache,
        "TMPDIR": cache,
    }
