"""Run the shards of a request as tasks of a Ray cluster, and merge them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

import msgspec

from curation.system.errors import BadUsage, CannotCreate, TemporarilyUnavailable
from curation.system.locks import locked
from curation.system.progress import Progress, Quiet
from curation.workers.fingerprint import fingerprint
from curation.workers.ray_shards import LOCAL, Shard, run_shards
from evaluation.asking.request import RUNS, RunRequest, RunResult, choose_suite
from evaluation.results.merging import join_shards
from evaluation.results.reader import HEADER, open_run
from evaluation.tasks.registry import task_named
from evaluation.walking.code_digest import writing_digest
from evaluation.walking.plan import RunTotals

#: `evaluation.asking.run.run`.
RunFunction: TypeAlias = Callable[[RunRequest, Progress], RunResult]
#: Member of a merged run's header: fingerprint of the request whose shards it has.
_REQUEST: Final = "request"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainRequest:
    """A request that another process can be sent: its suite by name and settings."""

    request: RunRequest
    suite: str = ""
    settings: Any = None
    compat: str = ""

    @classmethod
    def of(cls, request: RunRequest) -> PlainRequest:
        """Return a request in this form."""
        choice = request.suite
        if choice is None:
            return cls(request=request)
        return cls(
            request=replace(request, suite=None),
            suite=choice.spec,
            settings=msgspec.to_builtins(choice.settings),
            compat=choice.compat,
        )

    def unpacked(self) -> RunRequest:
        """Return the request."""
        if not self.suite:
            return self.request
        suite = choose_suite(self.suite, self.settings, self.compat)
        return replace(self.request, suite=suite)


def run_shard(run: RunFunction, plain: PlainRequest, shard: Shard) -> None:
    """Run one shard of a request into its folder."""
    request = replace(
        plain.unpacked(),
        shard=(shard.part, shard.parts),
        run_dir=shard.folder,
        executor=LOCAL,
    )
    if request.jobs is None and not any(task_named(n).timed for n in request.tasks):
        request = replace(request, jobs=shard.cpus)
    run(request, Quiet())


def run_in_shards(
    request: RunRequest, run: RunFunction, progress: Progress
) -> RunResult:
    """Run a request as shards on a Ray cluster.

    The folder is the merged one. A driver that was killed continues with the missing
    shards. If a model writes, each task has a GPU, if the cluster has any.

    Args:
        request: What to measure, with whom.
        run: Runs one shard (`evaluation.asking.run.run`).
        progress: Shows what takes long.

    Raises:
        BadUsage: there is no such executor, the request is one shard itself, or models
            are behind a server.
        CsbdataError: as `csbdata.run`, and `curation.workers.ray_shards`.
    """
    if request.shard != (1, 1):
        raise BadUsage("a shard is not divided again", then="leave --executor out")
    writes = bool(request.suite) or any(
        task_named(name).needs_model for name in request.tasks
    )
    if writes and any(model.over_http for model in request.models):
        raise BadUsage(
            "--executor ray asks no server",
            then="leave it out: the server spreads the work",
        )
    plain = PlainRequest.of(request)
    mark = fingerprint(
        code=writing_digest(),
        request=repr(replace(plain.request, fetch=None, executor=LOCAL)),  # type: ignore[arg-type]  # decides nothing
        suite=[plain.suite, repr(plain.settings), plain.compat],
    )
    folder = request.run_dir or RUNS / mark[:12]
    if (folder / HEADER).exists():
        done = open_run(folder)
        if done.raw_header.get(_REQUEST) != mark:
            raise CannotCreate(
                "this folder is of another run",
                str(folder),
                "choose another --run-dir, or leave it out",
            )
        return RunResult(folder=folder, totals=RunTotals(reused=len(done)))
    parts_folder = folder.with_name(f"{folder.name}.shards")
    busy = TemporarilyUnavailable("another run is at work here", str(folder))
    with locked(parts_folder / "lock", busy):
        folders = run_shards(
            partial(run_shard, run),
            plain,
            executor=request.executor,
            folder=parts_folder,
            fingerprint=mark,
            use_gpus=writes,
            say=progress.say,
        )
        merged = join_shards(folders, folder, **{_REQUEST: mark})
    shutil.rmtree(parts_folder, ignore_errors=True)
    lacking = {
        one.engine: one.unavailable for one in merged.header.engines if one.unavailable
    }
    return RunResult(
        folder=folder, totals=RunTotals(ran=len(merged), unavailable=lacking)
    )
