"""The plan of a run through masks, and its totals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evaluation.core.records import Record
    from evaluation.core.run_header import TaskSettings
    from evaluation.core.task import Task
    from evaluation.tokenizers import TokenizerFiles
    from evaluation.walking.engine_worker import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """Everything that a run is about, but for who takes part."""

    tasks: Sequence[Task]
    #: Gives the records anew at each call, in the same order.
    records: Callable[[], Iterable[Record]]
    tokenizer: TokenizerFiles
    settings: TaskSettings
    bounds: Bounds
    jobs: int = 1
    #: How often every case of a task whose times are results is measured, each time in
    #: a process of its own.
    repeats: int = 1
    #: Names of the only cases to run, `CONFIG/ID` or `ID`; empty for all.
    only: frozenset[str] = frozenset()

    @property
    def timed(self) -> bool:
        """Whether any task's times are results: then workers are pinned."""
        return any(task.timed for task in self.tasks)


@dataclass(slots=True, kw_only=True)
class RunTotals:
    """What a run came to."""

    #: Cases whose row was there already.
    reused: int = 0
    #: Cases that were run now.
    ran: int = 0
    #: Cases at which the machine had something else to do on the core, of these.
    disturbed: int = 0
    #: Cases that a busy machine left undecided; the next run asks again.
    undecided: int = 0
    #: Of these, texts for which a server in trouble gave no answer: their rows are
    #: there, and the next run asks again.
    unanswered: int = 0
    #: The limit at which nothing more was asked for; empty if there was none.
    stopped: str = ""
    #: Answers of batches that are not there yet.
    waiting: int = 0
    #: Label of an engine to why it could not be run.
    unavailable: dict[str, str] = field(default_factory=dict)

    def add(self, other: RunTotals) -> None:
        """Add the totals of another part of the run."""
        self.reused += other.reused
        self.ran += other.ran
        self.disturbed += other.disturbed
        self.undecided += other.undecided
        self.unanswered += other.unanswered
        self.waiting += other.waiting
        self.stopped = other.stopped or self.stopped
        self.unavailable.update(other.unavailable)
