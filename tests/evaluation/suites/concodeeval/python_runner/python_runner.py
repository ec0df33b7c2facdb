"""Run Python representations in a child process, and compare what they accept.

A witness must be accepted. A near miss must be refused if the code says the keyword
that refuses it, and accepted if only a comment says it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from curation.workers.limits import Ending, Limits
from curation.workers.pool import Pool
from curation.workers.process import Program
from evaluation.suites.concodeeval.python_code import COMMENTED, ROOT_CLASS
from tests.evaluation.suites.concodeeval.python_runner.python_messages import (
    AcceptedInstances,
    CodeToRun,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curation.workers.limits import ProcessResult
    from evaluation.core.records import Instance

_PROGRAM: Final = Program(file=Path(__file__).with_name("python_worker.py"), setup={})
#: Seconds for one representation, and MiB above what the process holds when ready.
_SECONDS: Final = 10.0
_MEMORY_MB: Final = 512
_BATCH: Final = 32
_ROUNDED: Final = "multipleOf"


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonComparison:
    """What running one representation has shown."""

    #: Instances on which the code says what it must.
    agreed: int
    #: Near misses of `multipleOf` that it accepts: JSON texts. pydantic takes what is
    #: within a billionth of a multiple for one, validators do not.
    rounded: tuple[str, ...] = ()
    #: Others on which it does not: JSON text and the keyword, empty for a witness.
    differing: tuple[tuple[str, str], ...] = ()
    #: Why the code did not run; empty where it did.
    error: str = ""


def compare_python(
    codes: Iterable[tuple[str, tuple[Instance, ...]]], *, jobs: int = 1
) -> Iterator[PythonComparison]:
    """Yield what running each representation shows, in order.

    Args:
        codes: Representations, each with instances of its schema.
        jobs: Number of child processes.

    Raises:
        WorkerDidNotStart: a child process cannot be started.
    """
    listed = list(codes)
    units = [
        CodeToRun(
            code=code,
            root=ROOT_CLASS,
            instances=tuple(instance.text for instance in instances),
        )
        for code, instances in listed
    ]
    batches = [units[start : start + _BATCH] for start in range(0, len(units), _BATCH)]
    limits = replace(Limits(), seconds=_SECONDS, memory_mb=_MEMORY_MB)
    with Pool(_PROGRAM, jobs=jobs, limits=limits) as pool:
        done = sorted(pool.run_batches(batches), key=lambda result: result.index)
    outcomes = [outcome for result in done for outcome in result.results]
    for (_, instances), outcome in zip(listed, outcomes, strict=True):
        yield _compared(instances, outcome)


def _compared(
    instances: tuple[Instance, ...], outcome: ProcessResult
) -> PythonComparison:
    if outcome.ending is not Ending.OK:
        error = f"{outcome.ending}: {outcome.detail}"
        return PythonComparison(agreed=0, error=error)
    accepted = msgspec.convert(outcome.answer, AcceptedInstances).accepted
    wrong = [
        instance
        for instance, said in zip(instances, accepted, strict=True)
        if said is not _must_accept(instance)
    ]
    rounded = [one for one in wrong if one.keyword == _ROUNDED and not one.valid]
    return PythonComparison(
        agreed=len(instances) - len(wrong),
        rounded=tuple(one.text for one in rounded),
        differing=tuple((one.text, one.keyword) for one in wrong if one not in rounded),
    )


def _must_accept(instance: Instance) -> bool:
    return instance.valid or instance.keyword in COMMENTED
