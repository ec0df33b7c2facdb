"""The parent's side of the worker of instances: what runs, its limits, its results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.instances.dataset.make_instances import SchemaInstances
from curation.satisfiability import Satisfiability
from curation.workers.limits import BUSY_MACHINE, Limits
from curation.workers.outcomes import Ending
from curation.workers.process import Program

if TYPE_CHECKING:
    from curation.workers.outcomes import ProcessResult

_WORKER = Path(__file__).with_name("worker.py")
#: Seconds for one schema.
DEADLINE = 5.0
#: MiB that a worker may take above what it holds when it is ready.
MEMORY_MB = 512
_REASONS = {
    Ending.TIMEOUT: "timed_out",
    Ending.OUT_OF_MEMORY: "out_of_memory",
}
_CRASHED = "crashed"
#: How the detail begins of a record that has witnesses alone, since it cost too much.
LEAN = "without near misses: "


def program(seed: int = 0) -> Program:
    """Return what a worker runs."""
    return Program(file=_WORKER, setup={"seed": seed})


def limits() -> Limits:
    """Return what one schema may cost."""
    return Limits(seconds=DEADLINE, wall_times=BUSY_MACHINE, memory_mb=MEMORY_MB)


def instances_of(outcome: ProcessResult) -> SchemaInstances:
    """Return a worker's answer; without one, the end of its process is the reason."""
    if outcome.ending is Ending.OK:
        return msgspec.convert(outcome.answer, SchemaInstances)
    reason = _reason_of(outcome)
    return SchemaInstances(
        answer=Satisfiability.UNKNOWN, reason=reason, detail=outcome.detail
    )


def merged_instances(first: ProcessResult, again: ProcessResult) -> SchemaInstances:
    """Return the instances of a lean try, after a first one that cost too much.

    Args:
        first: The result of the first try, which gave no answer.
        again: The result of the lean try.

    Returns:
        Witnesses, with a detail that says why there are no near misses. If the lean
        try failed too, the end of the first one is the reason.
    """
    if again.ending is not Ending.OK:
        return instances_of(first)
    made = instances_of(again)
    if not made.instances:
        return made
    why = f"{LEAN}{_reason_of(first)}, {first.detail}"
    return msgspec.structs.replace(made, detail=why)


def _reason_of(outcome: ProcessResult) -> str:
    """Return the reason in the ledger for the end of a process."""
    return _REASONS.get(outcome.ending, _CRASHED)


def cost_too_much(reason: str, detail: str) -> bool:
    """Return whether a record has no instances, or fewer, because of what they cost.

    Args:
        reason: Its reason in the ledger of instances.
        detail: Its detail there.
    """
    return reason in {*_REASONS.values(), _CRASHED} or detail.startswith(LEAN)
