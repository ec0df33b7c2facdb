"""The step of a build that makes the instances of every kept record.

The workers also find the targets that accept the schema unchanged. They get schemas in
batches. Finished batches are stored in the run folder, where the same build, started
again, finds them. Results do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from curation.core.benchmark import assign_split
from curation.core.json_types import Json
from curation.dataset.decisions import DecidedDocument
from curation.fit.records import RecordFit, record_fit
from curation.instances.dataset import worker
from curation.instances.dataset.make_instances import (
    BATCH_LENGTH,
    BATCH_SCHEMAS,
    InstanceTask,
    SchemaInstances,
)
from curation.instances.dataset.worker import (
    MEMORY_MB,
    InstanceRequest,
    InstanceSetup,
    read_answer,
)
from curation.system.errors import CsbdataError
from curation.workers.limits import (
    BACKSTOP,
    BUSY_MACHINE,
    Ending,
    Limits,
    Message,
    ProcessResult,
    refuse_endless,
)
from curation.workers.pool import Pool, in_batches
from curation.workers.process import Program
from curation.workers.ray_pool import OpenPool
from curation.workers.run_folder import RunFolder


class StoredInstances(msgspec.Struct, frozen=True, kw_only=True):
    """All that a finished batch keeps of one record."""

    #: The targets that take it.
    fit: RecordFit
    instances: SchemaInstances


def start(setup: Json) -> Callable[[Json], Json]:
    """Take the set-up of the worker of instances; return the handler of a request.

    A request is one for instances, or the text of a schema whose targets are asked.
    """
    make = worker.start(setup)

    def handle(request: Json) -> Json:
        if isinstance(request, str):
            return [list(names) for names in record_fit(request)]
        return make(request)

    return handle


def batch_name(number: int) -> str:
    """Return the name of the piece of finished work that is a batch of instances."""
    return f"instances-{number:05}"


class InstanceStep:
    """The instances of all records: made once, then read batch by batch."""

    def __init__(
        self, tasks: Sequence[InstanceTask], run: RunFolder, open_pool: OpenPool = Pool
    ) -> None:
        """Take the schemas, and the folder that keeps finished batches."""
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
        #: The number of schemas.
        self.count = len(tasks)
        #: Most memory held at once by this process and its workers, in MiB.
        self.peak_rss_mb = 0.0
        #: Config of the batch finished last.
        self.config = ""

    def work(self, *, jobs: int, progress: Callable[[int], None]) -> None:
        """Make the batches that are not finished yet.

        Args:
            jobs: Number of workers.
            progress: Called with the number of schemas done since the last call.

        Raises:
            WorkerDidNotStart: a worker cannot be started.
            CannotCreate: the run folder cannot be written.
            CsbdataError: the targets of a schema could not be found, or a worker does
                not come to an end with it: no clock decides the content of a dataset.
        """
        missing = {
            number: batch
            for number, batch in enumerate(self._batches)
            if self._run.done(batch_name(number)) is None
        }
        progress(self.count - sum(map(len, missing.values())))
        if not missing:
            return
        program = Program(module=__name__, setup=InstanceSetup())
        limits = Limits(seconds=BACKSTOP, wall_times=BUSY_MACHINE, memory_mb=MEMORY_MB)
        # The lean try is the second attempt.
        with self._open_pool(program, jobs=jobs, limits=limits, attempts=1) as pool:
            # All instances of a batch, then all targets.
            requests: Iterator[list[Message]] = (
                [*map(_request, batch), *(task.schema for task in batch)]
                for batch in missing.values()
            )
            # The results of batches with schemas that have cost too much.
            failed: dict[int, Sequence[ProcessResult]] = {}
            numbers = list(missing)
            for finished in pool.run_batches(requests):
                number, results = numbers[finished.index], finished.results
                count = len(missing[number])
                if all(result.ending is Ending.OK for result in results[:count]):
                    self._store(number, results)
                    progress(count)
                else:
                    failed[number] = results
            lean = {
                number: [
                    _request(task, lean=True)
                    for task, result in zip(
                        missing[number], failed[number], strict=False
                    )
                    if result.ending is not Ending.OK
                ]
                for number in sorted(failed)
            }
            numbers = list(lean)
            for finished in pool.run_batches(lean.values()):
                number = numbers[finished.index]
                self._store(number, failed[number], finished.results)
                progress(len(missing[number]))
            self.peak_rss_mb = pool.peak_rss_mb

    def _store(
        self,
        number: int,
        results: Sequence[ProcessResult],
        lean: Iterable[ProcessResult] = (),
    ) -> None:
        """Store a batch: of instances and targets, and of lean tries where needed."""
        batch, again = self._batches[number], iter(lean)
        stored = []
        for task, generated, fit in zip(
            batch, results[: len(batch)], results[len(batch) :], strict=True
        ):
            record_name = f"{task.config}/{task.unique_id}"
            refuse_endless(generated, record_name)
            refuse_endless(fit, record_name)
            if fit.ending is not Ending.OK:
                fault = f"which targets take it cannot be found ({fit.detail})"
                raise CsbdataError(
                    fault, record_name, "the same command goes on from here"
                )
            second = None if generated.ending is Ending.OK else next(again, None)
            instances = read_answer(generated, second)
            stored.append(
                StoredInstances(fit=fit.answer_as(RecordFit), instances=instances)
            )
        self.config = batch[0].config
        self._run.store(batch_name(number), msgspec.json.encode(stored))

    def records(self) -> Iterator[tuple[InstanceTask, StoredInstances]]:
        """Yield each task with its instances and targets, in the order of the tasks.

        Raises:
            LookupError: a batch has not been made.
        """
        for number, batch in enumerate(self._batches):
            stored = self._run.done(batch_name(number))
            if stored is None:
                raise LookupError(batch_name(number))
            records = msgspec.json.decode(stored, type=list[StoredInstances])
            yield from zip(batch, records, strict=True)


def make_tasks(documents: Iterable[DecidedDocument]) -> list[InstanceTask]:
    """Return the task of every record, in the order of the build."""
    tasks = []
    for document in documents:
        record = document.result.whole().record if document.kept else None
        if record is not None:
            task = InstanceTask(
                config=document.result.config,
                unique_id=document.source.unique_id,
                split=assign_split(record.split_key),
                schema=record.json_schema,
                dialect=record.dialect,
                examples=document.source.examples,
            )
            tasks.append(task)
    return tasks


def _request(task: InstanceTask, *, lean: bool = False) -> InstanceRequest:
    return InstanceRequest(
        schema=task.schema, dialect=task.dialect, examples=task.examples, lean=lean
    )
