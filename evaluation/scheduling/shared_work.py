"""What all parts of a run share: its cases, what is finished, and where rows go."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

import orjson

from evaluation.core.cases import Result
from evaluation.data.sampling import is_in_shard
from evaluation.execution.code_digest import measuring_digest
from evaluation.execution.reproducers import is_engine_defect, write_reproducer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evaluation.core.cases import Case, Row, Sample
    from evaluation.core.task import Task
    from evaluation.execution.plan import RunPlan, RunTotals
    from evaluation.execution.results_folder import ResultsFolder
    from evaluation.scheduling.lanes import WorkerCores
    from evaluation.setup.selected_engines import EngineUnderTest

#: Turns texts into token ids; None where no tokens spell the text.
Encode: TypeAlias = "Callable[[Sequence[str]], list[list[int] | None]]"


@dataclass(frozen=True, slots=True)
class SharedWork:
    """What all parts of a run share."""

    plan: RunPlan
    out: ResultsFolder
    encode: Encode
    totals: RunTotals
    advance: Callable[[int], None]
    cores: WorkerCores

    def cases(self, task: Task) -> Iterator[Case]:
        """Yield the cases of a task that the plan wants."""
        samples = self.plan.samples() if task.needs_data else ()
        return wanted_cases(task, samples, self.plan)

    def is_finished(self, fingerprint: str) -> bool:
        """Return whether a row is there already; then it is counted."""
        found = fingerprint in self.out.finished
        if found:
            self.totals.found += 1
            self.advance(1)
        return found

    def tokens(self, case: Case) -> list[list[int] | None]:
        """Return the tokens of a case's texts."""
        return self.encode([walk.text for walk in case.walks]) if case.walks else []

    def write(self, participant: EngineUnderTest, case: Case, row: Row) -> None:
        """Write a row that was measured now."""
        self.out.write(row)
        self.totals.ran += 1
        self.totals.disturbed += row.quiet is False
        self.advance(1)
        if is_engine_defect(row):
            path = write_reproducer(row, case, participant, self.plan, self.out)
            self.totals.reproducers.append(path)

    def write_copy(self, row: Row) -> None:
        """Write the row of a case that was not asked, as another one tells it."""
        self.out.write(row)
        self.totals.ran += 1
        self.advance(1)


def wanted_cases(
    task: Task, samples: Iterable[Sample], plan: RunPlan
) -> Iterator[Case]:
    """Yield the cases of the shard; samples are those of the shard alone already."""
    for case in task.cases(samples, plan.settings):
        names = {case.id, f"{case.config}/{case.id}"}
        if plan.only and not names & plan.only:
            continue
        if task.needs_data or is_in_shard(case.config, case.id, plan.shard):
            yield case


class TimedOutCases:
    """What has ended at a deadline in one task, for the cases that repeat it."""

    def __init__(self, task: Task) -> None:
        """Take the task, which says what repeats what."""
        self._repeats = task.repeats
        self._rows: dict[str, Row] = {}

    def note(self, case: Case, row: Row) -> None:
        """Remember a row if it ended at a deadline."""
        if self._repeats is not None and row.result is Result.TIMEOUT:
            self._rows[self._repeats(case)] = row

    def row_of(self, case: Case, fingerprint: str) -> Row | None:
        """Return the row of a case that need not be asked; None for any other."""
        if self._repeats is None or self._repeats(case) not in self._rows:
            return None
        known = self._rows[self._repeats(case)]
        return replace(known, id=case.id, label=case.label, fingerprint=fingerprint)


def case_fingerprint(mark: str, case: Case, repetition: int = 0) -> str:
    """Return the fingerprint of a row: of the case, and of all that measures it."""
    walks = [[walk.text, walk.valid, walk.label] for walk in case.walks]
    parts: list[object] = [mark, case.task, case.config, case.id, case.schema]
    parts += [walks, case.label]
    if repetition:
        parts.append(repetition)
    return sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def participant_fingerprint(
    participant: EngineUnderTest, plan: RunPlan, task: Task
) -> str:
    """Return the fingerprint of what decides a row, but for the case."""
    parts = [
        participant.identity,
        plan.tokenizer.digest,
        asdict(plan.bounds),
        measuring_digest(),
        task.name,
    ]
    return sha256(orjson.dumps(parts)).hexdigest()
