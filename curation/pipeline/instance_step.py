"""The step of a build that makes the instances of every kept record.

The workers also say which targets take the schema as it stands. Schemas go to them in
batches. Finished batches are stored in the run folder, where the same build, started
again, finds them. Results do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.core.benchmark import split_of
from curation.fit.records import RecordFit
from curation.instances.dataset.make_instances import (
    BATCH_LENGTH,
    BATCH_SCHEMAS,
    InstanceTask,
    RecordInstances,
    SchemaInstances,
)
from curation.instances.dataset.worker import (
    MEMORY_MB,
    InstanceRequest,
    InstanceSetup,
    instances_of,
    merged_instances,
)
from curation.pipeline.instance_worker import FitRequest
from curation.system.errors import CsbdataError
from curation.workers.limits import BUSY_MACHINE, Limits
from curation.workers.outcomes import Ending, ProcessResult, refuse_endless
from curation.workers.pool import BatchResult, Pool, in_batches
from curation.workers.process import Program

if TYPE_CHECKING:
    from curation.dataset.decisions import DecidedDocument
    from curation.workers.ray_pool import OpenPool
    from curation.workers.run_folder import RunFolder


class StoredInstances(msgspec.Struct, frozen=True, kw_only=True):
    """All that a finished batch keeps of one record."""

    #: The targets that take it.
    fit: RecordFit
    instances: SchemaInstances


def batch_name(number: int) -> str:
    """Return the name of the piece of finished work that is a batch of instances."""
    return f"instances-{number:05}"


#: Seconds of processor time after which a search for instances is taken for endless, as
#: it is where patterns or branches double what a validator does: such a record has
#: witnesses alone, or none. The slowest schema of the benchmark takes a sixth of it.
_ENDLESS = 60.0
_WORKER = Path(__file__).with_name("instance_worker.py")


class InstanceStep:
    """The instances of all records: made once, then read batch by batch."""

    def __init__(
        self,
        tasks: Sequence[InstanceTask],
        run: RunFolder,
        *,
        seed: int = 0,
        open_pool: OpenPool = Pool,
    ) -> None:
        """Take the tasks, and the folder that keeps finished batches.

        Args:
            tasks: The schemas, each with what is known of it.
            run: The folder.
            seed: Seed of random choices.
            open_pool: Opens the pool of workers.
        """
        self._batches = list(
            in_batches(
                tasks,
                lambda task: len(task.schema),
                most=BATCH_SCHEMAS,
                heaviest=BATCH_LENGTH,
            )
        )
        self._open_pool = open_pool
        self._run = run
        self._seed = seed
        #: Most memory held at once by this process and its workers, in MiB.
        self.peak_rss_mb = 0.0
        #: Config of the batch that was finished last.
        self.config = ""

    @property
    def count(self) -> int:
        """The number of schemas."""
        return sum(map(len, self._batches))

    def work(self, *, jobs: int, progress: Callable[[int], None]) -> None:
        """Make the batches that are not finished yet.

        Args:
            jobs: Number of workers.
            progress: Called with the number of schemas done since the last call.

        Raises:
            WorkerDidNotStart: a worker cannot be started.
            CannotCreate: the run folder cannot be written.
        """
        missing = [
            number
            for number in range(len(self._batches))
            if self._run.done(batch_name(number)) is None
        ]
        finished = set(range(len(self._batches))).difference(missing)
        progress(sum(len(self._batches[number]) for number in finished))
        if not missing:
            return
        # The lean try is the second attempt.
        setup = msgspec.to_builtins(InstanceSetup(seed=self._seed))
        program = Program(module="curation.pipeline.instance_worker", setup=setup)
        limits = Limits(seconds=_ENDLESS, wall_times=BUSY_MACHINE, memory_mb=MEMORY_MB)
        with self._open_pool(program, jobs=jobs, limits=limits, attempts=1) as pool:
            failed = self._first(pool, missing, progress)
            self._again(pool, failed, progress)
            self.peak_rss_mb = pool.peak_rss_mb

    def _first(
        self, pool: Pool, numbers: Sequence[int], progress: Callable[[int], None]
    ) -> dict[int, BatchResult]:
        """Work on batches; return those in which a schema has cost too much."""
        failed = {}
        for result in pool.run_batches(self._requests(it) for it in numbers):
            number = numbers[result.index]
            if _failures(result):
                failed[number] = result
            else:
                self._store(number, self._stored(number, result))
                progress(len(self._batches[number]))
        return failed

    def _requests(self, number: int) -> list[InstanceRequest | FitRequest]:
        """Return what is asked of a batch: all instances, then all targets."""
        batch = self._batches[number]
        fits = (FitRequest(task.schema) for task in batch)
        return [*map(_request, batch), *fits]

    def _stored(self, number: int, result: BatchResult) -> list[StoredInstances]:
        """Return what is kept of a batch, the targets of failed schemas included.

        Raises:
            CsbdataError: the targets of a schema could not be found, or a worker does
                not come to an end with it.
        """
        batch, size = self._batches[number], len(self._batches[number])
        for task, fit in zip(batch, result.results[size:], strict=True):
            refuse_endless(fit, f"{task.config}/{task.unique_id}")
        return [
            StoredInstances(
                fit=_fit_of(task, fit),
                instances=instances_of(made),
            )
            for task, made, fit in zip(
                batch, result.results[:size], result.results[size:], strict=True
            )
        ]

    def _again(
        self,
        pool: Pool,
        failed: Mapping[int, BatchResult],
        progress: Callable[[int], None],
    ) -> None:
        """Make the schemas that cost too much once more, their witnesses alone."""
        numbers = sorted(failed)
        lost = [_failures(failed[number]) for number in numbers]
        batches = (
            [_request(self._batches[number][position], lean=True) for position in own]
            for number, own in zip(numbers, lost, strict=True)
        )
        for result in pool.run_batches(batches):
            number, own = numbers[result.index], lost[result.index]
            stored = self._stored(number, failed[number])
            for position, again in zip(own, result.results, strict=True):
                first = failed[number].results[position]
                stored[position] = msgspec.structs.replace(
                    stored[position],
                    instances=merged_instances(first, again),
                )
            self._store(number, stored)
            progress(len(stored))

    def _store(self, number: int, batch: Sequence[StoredInstances]) -> None:
        self.config = self._batches[number][0].config
        self._run.store(batch_name(number), msgspec.json.encode(batch))

    def results(self) -> Iterator[RecordInstances]:
        """Yield the instances of each task, in the order of the tasks.

        Raises:
            LookupError: a batch has not been made.
        """
        for task, stored in self._finished_records():
            yield RecordInstances(task=task, result=stored.instances)

    def fits(self) -> Iterator[RecordFit]:
        """Yield the targets that take the schema of each task, in their order.

        Raises:
            LookupError: a batch has not been made.
        """
        return (stored.fit for _, stored in self._finished_records())

    def _finished_records(self) -> Iterator[tuple[InstanceTask, StoredInstances]]:
        for number, batch in enumerate(self._batches):
            stored = self._run.done(batch_name(number))
            if stored is None:
                raise LookupError(batch_name(number))
            records = msgspec.json.decode(stored, type=list[StoredInstances])
            yield from zip(batch, records, strict=True)


def tasks_of(documents: Iterable[DecidedDocument]) -> list[InstanceTask]:
    """Return the task of every record, in the order of the build."""
    tasks = []
    for document in documents:
        record = document.result.whole().record if document.kept else None
        if record is not None:
            task = InstanceTask(
                config=document.result.config,
                unique_id=document.source.unique_id,
                split=split_of(record.split_key),
                schema=record.json_schema,
                dialect=record.dialect,
                examples=document.source.examples,
            )
            tasks.append(task)
    return tasks


def _failures(result: BatchResult) -> list[int]:
    """Return the positions of the schemas of a batch whose instances failed."""
    half = len(result.results) // 2
    return [
        position
        for position, outcome in enumerate(result.results[:half])
        if outcome.ending is not Ending.OK
    ]


def _request(task: InstanceTask, *, lean: bool = False) -> InstanceRequest:
    return InstanceRequest(
        schema=task.schema, dialect=task.dialect, examples=task.examples, lean=lean
    )


def _fit_of(task: InstanceTask, outcome: ProcessResult) -> RecordFit:
    if outcome.ending is not Ending.OK:
        place = f"{task.config}/{task.unique_id}"
        what = f"which targets take it cannot be found ({outcome.detail})"
        raise CsbdataError(what, place, "the same command goes on from here")
    return outcome.answer_as(RecordFit)
