"""One shard of a build: its part of the work on documents.

Copies in other shards and quotas over all of them are decided where shards are joined,
so some of its instances may not be needed then.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from curation.dataset.decisions import ResultFile
from curation.pipeline.request import BuildRequest, plan_of
from curation.pipeline.shards import (
    FILE,
    VERDICTS,
    ShardHeader,
    read_header,
    refuse_other_shard,
)
from curation.pipeline.steps import BuildSteps
from curation.system.atomic_files import atomic_write_bytes
from curation.system.atomic_folders import refuse_foreign
from curation.system.progress import Progress, Quiet
from curation.workers.run_folder import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardResult:
    """What working on a shard came to."""

    header: ShardHeader
    #: Whether all of it was there already.
    unchanged: bool


def build_shard(
    request: BuildRequest, shard: tuple[int, int], progress: Progress | None = None
) -> ShardResult:
    """Do a shard's part of a build, and leave it in the request's folder.

    The same request after a kill continues where it was.

    Args:
        request: The build; its folder is the shard's.
        shard: Part (from 1) and number of parts.
        progress: Shows what takes time; nothing by default.

    Raises:
        CsbdataError: a source is damaged or cannot be had, the folder cannot be
            written or holds something else, or another run is busy with it.

    Example:
        The second of three shards of a build of the embedded sample::

            build_shard(BuildRequest(out=Path("part-2"), sample=True), (2, 3))
    """
    progress = progress or Quiet()
    refuse_foreign(request.out, FILE, left=("lock", "completions"))
    plan = plan_of(request, progress)
    header = ShardHeader(shard=shard, options=request.options, identity=plan.identity)
    if not request.replace:
        refuse_other_shard(request.out, header)
    with RunFolder.open(request.out, plan.identity.fingerprint) as run:
        header_before = read_header(request.out)
        begun = header_before and msgspec.structs.replace(header_before, documents=None)
        if begun != header:
            _write_header(header, request.out)
        with ResultFile(request.out) as file:
            steps = BuildSteps(
                request=request,
                plan=plan,
                run=run,
                progress=progress,
                file=file,
                shard=shard,
            )
            done = _work(steps)
        finished = msgspec.structs.replace(header, documents=done)
        _write_header(finished, request.out)
    return ShardResult(header=finished, unchanged=header_before == finished)


def _work(steps: BuildSteps) -> int:
    documents, _ = steps.decide()
    if steps.request.fastjsonschema:
        verdicts = steps.compile_records(documents)
        steps.run.store(VERDICTS, msgspec.json.encode(verdicts))
    if steps.request.instances:
        steps.make_instances(documents, enabled=True).store_keys()
    return len(documents)


def _write_header(header: ShardHeader, folder: Path) -> None:
    atomic_write_bytes(folder / FILE, msgspec.json.encode(header))
