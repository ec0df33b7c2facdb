"""The run: every engine, every task, every case, each into exactly one row.

Where times are results, engines take turns case by case (`turns`); elsewhere they are
taken one after the other, over all workers (`engine_by_engine`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.workers.worker import WorkerDidNotStart
from evaluation.execution.plan import RunPlan, RunTotals
from evaluation.scheduling.engine_by_engine import run_engine
from evaluation.scheduling.lanes import WorkerCores
from evaluation.scheduling.shared_work import Encode, SharedWork
from evaluation.scheduling.turns import run_in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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

    Args:
        participants: The engines.
        plan: What they are asked, and within which limits.
        out: Where rows go; its rows are not measured again.
        advance: Told how many more cases are done.
        say: Called with messages about engines that are slow to load.
    """
    totals = RunTotals()
    totals.unavailable.update(
        (one.label, one.unavailable) for one in participants if one.unavailable
    )
    usable = [one for one in participants if not one.unavailable]
    cores = WorkerCores(plan, say)
    work = SharedWork(plan, out, _encoder(plan.tokenizer), totals, advance, cores)
    in_turn = [task for task in plan.tasks if _takes_turns(task, usable, plan)]
    with cores.off_timed_cores():
        for task in in_turn:
            run_in_turn(usable, task, work)
        others = [task for task in plan.tasks if task not in in_turn]
        for participant in usable if others else ():
            if participant.label in totals.unavailable:
                continue
            try:
                run_engine(participant, others, work)
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
