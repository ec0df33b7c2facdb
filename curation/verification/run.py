"""The checks of a folder, and their run: all of them, even if an earlier one fails.

The worker process of `csbdata verify` takes one item of one check at a time.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import msgspec

from curation.core.json_types import Json
from curation.json.credentials import cover_credentials
from curation.system.credentials import redacted
from curation.system.progress import Progress, Quiet
from curation.system.user_files import reading_parquet
from curation.system.words import shortened
from curation.verification.check import (
    READABLE,
    CheckBatch,
    CheckItem,
    Finding,
    FolderCheck,
    Verification,
    open_folder,
)
from curation.verification.files import DIGESTS, STRAYS, TEXTS
from curation.verification.labels import LABELS
from curation.verification.records import LEAKAGE, ROWS
from curation.verification.tables import DERIVED, LOADING
from curation.workers.limits import BUSY_MACHINE, Limits, Message, ProcessResult
from curation.workers.pool import BatchResult, Pool
from curation.workers.process import Program

#: In the order of their findings.
CHECKS = (DIGESTS, STRAYS, LOADING, DERIVED, ROWS, LABELS, LEAKAGE, TEXTS)
#: What one item may take (a schema, a row group, a config that `datasets` opens).
_LIMITS = Limits(seconds=300.0, wall_times=BUSY_MACHINE, memory_mb=4096, file_mb=65_536)
#: Characters of an error's text in a finding.
_SHOWN = 200


def start(setup: Json) -> Callable[[Json], Message]:
    """Take the folder's full path; return the handler of one item."""
    folder = Path(str(setup))
    work = {check.name: check.work for check in CHECKS}

    def handle(message: Json) -> Message:
        item = msgspec.convert(message, CheckItem)
        return work[item.check](folder, item)

    return handle


def verify_folder(  # noqa: PLR0913 - a folder, and how to go through it
    folder: Path,
    *,
    jobs: int = 2,
    progress: Progress | None = None,
    checks: Sequence[FolderCheck] = CHECKS,
    whole: bool = False,
    nonce: str = "",
) -> Verification:
    """Return the findings about a built folder, which is only read.

    Args:
        folder: The dataset folder.
        jobs: Number of child processes.
        progress: Shows how many items are done.
        checks: The checks to run, in this order.
        whole: Whether every instance is judged and made again, and not a sample.
        nonce: Seeds the sample, so that whoever changes a folder cannot know it.

    Raises:
        NoInput: no such folder, or it is not a build.
        WorkerDidNotStart: no child process can be started.
    """
    contents = open_folder(folder)
    # Checks that do the same work share it.
    workers = {check.work: check for check in checks}
    batches = [
        [
            msgspec.structs.replace(item, check=check.name, whole=whole, nonce=nonce)
            for item in items
        ]
        for check in workers.values()
        for items in check.batches(contents)
    ]
    outcomes: defaultdict[str, list[tuple[CheckItem, ProcessResult]]]
    outcomes = defaultdict(list)
    results = _run_batches(folder, batches, jobs=jobs, progress=progress or Quiet())
    for batch in sorted(results, key=attrgetter("index")):
        for item, outcome in zip(batches[batch.index], batch.results, strict=True):
            outcomes[item.check].append((item, outcome))
    findings = list(contents.findings)
    counted: dict[str, int] = {}
    for check in checks:
        try:
            with reading_parquet(folder):
                result = check.conclude(contents, outcomes[workers[check.work].name])
        except Exception as error:  # noqa: BLE001 - the folder may hold anything
            text = f"{check.name} cannot be judged: {type(error).__name__}: {error}"
            detail = shortened(text, _SHOWN)
            findings.append(Finding(check=READABLE, where="", detail=detail))
        else:
            findings += result.findings
            counted |= result.counted
    # A name or an error may repeat a credential.
    covered = [
        replace(
            finding,
            where=redacted(cover_credentials(finding.where)),
            detail=redacted(cover_credentials(finding.detail)),
        )
        for finding in findings
    ]
    return Verification(
        findings=tuple(covered),
        counted=counted,
        partial=contents.manifest is not None and bool(contents.manifest.partial),
        questions={check.name: check.question for check in checks},
        nonce="" if whole else nonce,
    )


def _run_batches(
    folder: Path, batches: Sequence[CheckBatch], *, jobs: int, progress: Progress
) -> list[BatchResult]:
    """Return the results of all batches, in no order.

    Raises:
        WorkerDidNotStart: a child cannot be started at all.
    """
    if not batches:
        return []
    results = []
    with tempfile.TemporaryDirectory(prefix="csbdata-verify-") as cache:
        program = Program(
            module=__name__,
            setup=str(folder.resolve()),
            # `datasets` stays off the network, and in a separate folder.
            environment={
                "HF_HOME": cache,
                "HF_DATASETS_OFFLINE": "1",
                "HF_HUB_OFFLINE": "1",
                "HF_HUB_DISABLE_TELEMETRY": "1",
                "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
                "MPLCONFIGDIR": cache,
                "TMPDIR": cache,
            },
        )
        with (
            Pool(program, jobs=jobs, limits=_LIMITS) as pool,
            progress.bar("Verifying", sum(map(len, batches))) as advance,
        ):
            for batch in pool.run_batches(batches):
                results.append(batch)
                advance(len(batch.results))
    return results
