"""The run: every engine, every task, every case, each into exactly one row.

Where times are results, engines take turns case by case (`turns`); elsewhere they are
taken one after the other, with a worker on every core (`engine_by_engine`).
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from curation.workers.worker import WorkerDidNotStart
from evaluation.execution.plan import RunPlan, RunTotals
from evaluation.scheduling.engine_by_engine import run_engine
from evaluation.scheduling.shared_work import Encode, SharedWork
from evaluation.scheduling.turns import run_in_turn
from evaluation.setup.machine import usable_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evaluation.core.task import Task
    from evaluation.execution.results_folder import ResultsFolder
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles


def run(
    participants: Sequence[EngineUnderTest],
    plan: RunPlan,
    out: ResultsFolder,
    advance: Callable[[int], None] = lambda _steps: None,
    say: Callable[[str], None] = lambda _message: None,
) -> RunTotals:
    """Put every case to every engine and write its row, but for those finished.

    An engine that cannot be loaded is named in the totals; the others go on.
    """
    totals = RunTotals()
    totals.unavailable.update(
        (one.label, one.unavailable) for one in participants if one.unavailable
    )
    usable = [one for one in participants if not one.unavailable]
    own = usable_cores()
    work = SharedWork(plan, out, _encoder(plan.tokenizer), totals, advance, own, say)
    in_turn = [task for task in plan.tasks if _takes_turns(task, usable, plan)]
    with _off_timed_cores(own, plan):
        for task in in_turn:
            run_in_turn(usable, task, work, _cores_of(own, plan))
        others = [task for task in plan.tasks if task not in in_turn]
        for participant in usable if others else ():
            if participant.label in totals.unavailable:
                continue
            try:
                run_engine(participant, others, work, _cores_of(own, plan))
            except WorkerDidNotStart as fault:
                totals.unavailable[participant.label] = fault.what
    out.record_unavailable(totals.unavailable)
    return totals


def _takes_turns(
    task: Task, participants: Sequence[EngineUnderTest], plan: RunPlan
) -> bool:
    """Return whether the engines of a task take turns: where times are compared."""
    return task.takes_turns and len(participants) * plan.repeats > 1


def _encoder(tokenizer: TokenizerFiles) -> Encode:
    """Return the tokenizer's encoder, loaded when it is first needed."""
    loaded: list[Encode] = []

    def encode(texts: Sequence[str]) -> list[list[int] | None]:
        if not loaded:
            loaded.append(tokenizer.encoder())
        return loaded[0](texts)

    return encode


def _cores_of(own: Sequence[int], plan: RunPlan) -> list[int | None]:
    """Return the core of every worker: from the last one down where times count."""
    if not plan.timed:
        return [None] * plan.jobs
    return [own[-1 - index % len(own)] for index in range(plan.jobs)]


@contextmanager
def _off_timed_cores(own: Sequence[int], plan: RunPlan) -> Iterator[None]:
    """Keep this process off the cores on which times are taken."""
    left = set(own) - {core for core in _cores_of(own, plan) if core is not None}
    if not left or not plan.timed or not hasattr(os, "sched_setaffinity"):
        yield
        return
    os.sched_setaffinity(0, left)
    try:
        yield
    finally:
        os.sched_setaffinity(0, set(own))
