"""The step of a build that makes the instances of every kept record.

Schemas go to worker processes in batches; a finished batch is stored in the run
folder, and the same build, started again after any end, takes it from there. What
a schema's instances are does not depend on the number of workers.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from curation.core.benchmark import SPLITS, split_of
from curation.instances.dataset.make_instances import SchemaInstances
from curation.satisfiability.prove import Answer
from curation.system.atomic_files import atomic_write_bytes
from curation.workers.batches import in_batches
from curation.workers.limits import Limits
from curation.workers.outcomes import Ending
from curation.workers.pool import Pool
from curation.workers.process import Program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from curation.dataset.decisions import DecidedDocument
    from curation.workers.outcomes import ProcessResult
    from curation.workers.pool import BatchResult
    from curation.workers.run_folder import RunFolder

_WORKER = Path(__file__).with_name("worker.py")
#: Seconds for one schema.
DEADLINE = 5.0
#: MiB that a worker may take above what it holds when it is ready.
MEMORY_MB = 512
#: A batch is closed at so many schemas or characters, whichever comes first.
BATCH_SCHEMAS = 32
BATCH_LENGTH = 2**19
#: File of the run folder with the seconds and the memory that instances took.
COSTS = "instances.json"
_SLOWEST = 20
_REASONS = {
    Ending.TIMEOUT: "timed_out",
    Ending.OUT_OF_MEMORY: "out_of_memory",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceTask:
    """One schema whose instances are to be made."""

    config: str
    unique_id: str
    split: str
    schema: str
    dialect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordInstances:
    """What came of one task, and how long it took by the wall clock."""

    task: InstanceTask
    made: SchemaInstances
    seconds: float


def program(seed: int = 0) -> Program:
    """Return what a worker runs."""
    return Program(file=_WORKER, setup={"seed": seed})


def limits() -> Limits:
    """Return what one schema may cost."""
    return replace(Limits(), seconds=DEADLINE, memory_mb=MEMORY_MB)


def unit_of(task: InstanceTask) -> UntypedJson:
    """Return a task as the worker takes it."""
    return {"schema": task.schema, "dialect": task.dialect}


def made_of(outcome: ProcessResult) -> SchemaInstances:
    """Return what came of a schema, be it the end of its process."""
    if outcome.ending is Ending.OK:
        return SchemaInstances.from_json(outcome.answer)
    reason = reason_of(outcome)
    return SchemaInstances(answer=Answer.UNKNOWN, reason=reason, detail=outcome.detail)


def reason_of(outcome: ProcessResult) -> str:
    """Return the word for the end of a process."""
    return _REASONS.get(outcome.ending, "crashed")


class InstanceStep:
    """The instances of all records: made once, then read batch by batch.

    They are read from the run folder, so that memory holds one batch at a time.
    """

    def __init__(
        self, tasks: Sequence[InstanceTask], run: RunFolder, *, seed: int = 0
    ) -> None:
        """Say what is to be made, and where finished batches are kept."""
        self._batches = list(_cut(tasks))
        self._run = run
        self._seed = seed
        #: Most memory held at once by this process and its workers, in MiB.
        self.peak_rss_mb = 0.0
        self._jobs = 0
        self._wall_seconds = 0.0

    def work(self, *, jobs: int, progress: Callable[[int], None]) -> None:
        """Make what is not there yet; `progress` is told how many more are done.

        Raises:
            WorkerDidNotStart: a worker cannot be started.
            CannotCreate: the run folder cannot be written.
        """
        missing = [
            number
            for number in range(len(self._batches))
            if self._run.done(_name(number)) is None
        ]
        there = set(range(len(self._batches))).difference(missing)
        progress(sum(len(self._batches[number]) for number in there))
        if not missing:
            return
        start = time.perf_counter()
        # The lean try is the second attempt.
        with Pool(program(self._seed), jobs=jobs, limits=limits(), attempts=1) as pool:
            failed = self._first(pool, missing, progress)
            self._again(pool, failed, progress)
            self.peak_rss_mb = pool.peak_rss_mb
        self._jobs, self._wall_seconds = jobs, time.perf_counter() - start

    def _first(
        self, pool: Pool, numbers: Sequence[int], progress: Callable[[int], None]
    ) -> dict[int, BatchResult]:
        """Work on batches; return those in which a schema has cost too much."""
        failed = {}
        units = ([unit_of(task) for task in self._batches[each]] for each in numbers)
        for result in pool.run_batches(units):
            number = numbers[result.index]
            if all(each.ending is Ending.OK for each in result.results):
                self._run.store(_name(number), _stored(result.results))
                progress(len(result.results))
            else:
                failed[number] = result
        return failed

    def _again(
        self,
        pool: Pool,
        failed: Mapping[int, BatchResult],
        progress: Callable[[int], None],
    ) -> None:
        """Ask once more for what has cost too much, for its witnesses alone."""
        numbers = sorted(failed)
        lost = [_failures(failed[number]) for number in numbers]
        units = (
            [{**unit_of(self._batches[number][each]), "lean": True} for each in own]
            for number, own in zip(numbers, lost, strict=True)
        )
        for result in pool.run_batches(units):
            number, own = numbers[result.index], lost[result.index]
            outcomes = list(failed[number].results)
            for position, again in zip(own, result.results, strict=True):
                outcomes[position] = merged(outcomes[position], again)
            self._run.store(_name(number), _stored(outcomes))
            progress(len(outcomes))

    def products(self) -> Iterator[RecordInstances]:
        """Yield what came of each task, in the order of the tasks.

        Raises:
            LookupError: a batch has not been made.
        """
        for number, batch in enumerate(self._batches):
            stored = self._run.done(_name(number))
            if stored is None:
                raise LookupError(_name(number))
            for task, each in zip(batch, orjson.loads(stored), strict=True):
                made = SchemaInstances.from_json(each["made"])
                yield RecordInstances(task=task, made=made, seconds=each["seconds"])

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """Return how many instances each config has in each split.

        What time and memory they took is left in the run folder, where what differs
        from run to run belongs.
        """
        counted: dict[str, Counter[str]] = {}
        seconds: list[tuple[float, str]] = []
        for each in self.products():
            task = each.task
            own = counted.setdefault(task.config, Counter())
            own[task.split] += len(each.made.instances)
            seconds.append((each.seconds, f"{task.config}/{task.unique_id}"))
        if seconds:
            costs = self._costs(seconds)
            atomic_write_bytes(self._run.folder / COSTS, orjson.dumps(costs))
        return {
            config: {split: own[split] for split in SPLITS}
            for config, own in counted.items()
        }

    def _costs(self, seconds: list[tuple[float, str]]) -> UntypedJson:
        seconds.sort(reverse=True)
        return {
            "jobs": self._jobs,
            "wall_seconds": round(self._wall_seconds, 3),
            "peak_rss_mb": self.peak_rss_mb,
            "schema_seconds": round(sum(each for each, _ in seconds), 3),
            "slowest": [[name, each] for each, name in seconds[:_SLOWEST]],
        }


def tasks_of(settled: Iterable[DecidedDocument]) -> list[InstanceTask]:
    """Return the task of every record, in the order of the build."""
    tasks = []
    for each in settled:
        record = each.outcome.record
        if each.kept and record is not None:
            task = InstanceTask(
                config=each.outcome.config,
                unique_id=each.seen.unique_id,
                split=split_of(record.skeleton_sha256),
                schema=record.json_schema,
                dialect=record.dialect,
            )
            tasks.append(task)
    return tasks


def _cut(tasks: Sequence[InstanceTask]) -> Iterator[list[InstanceTask]]:
    return in_batches(
        tasks,
        lambda each: len(each.schema),
        most=BATCH_SCHEMAS,
        heaviest=BATCH_LENGTH,
    )


def _name(number: int) -> str:
    return f"instances-{number:05}"


def _failures(result: BatchResult) -> list[int]:
    """Return the positions of the units that gave no answer."""
    return [
        position
        for position, each in enumerate(result.results)
        if each.ending is not Ending.OK
    ]


def merged(first: ProcessResult, again: ProcessResult) -> ProcessResult:
    """Return what the lean try gave, with the seconds of both and the first's end."""
    seconds = first.seconds + again.seconds
    if again.ending is not Ending.OK:
        return replace(first, seconds=seconds)
    answer = again.answer
    if answer["instances"]:
        why = f"without near misses: {reason_of(first)}, {first.detail}"
        answer = {**answer, "detail": why}
    return replace(again, answer=answer, seconds=seconds)


def _stored(outcomes: Sequence[ProcessResult]) -> bytes:
    return orjson.dumps(
        [
            {"made": made_of(each).to_json(), "seconds": round(each.seconds, 4)}
            for each in outcomes
        ]
    )
