"""Engines take turns: each case is put to all of them before the next one.

So all meet the machine in the same state; in which order, is drawn for each case.
"""

from __future__ import annotations

import random
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.workers.worker import WorkerDidNotStart
from evaluation.execution.engine_worker import PendingCase
from evaluation.scheduling.lanes import wait_for
from evaluation.scheduling.shared_work import (
    TimedOutCases,
    case_fingerprint,
    participant_fingerprint,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evaluation.core.cases import Case
    from evaluation.core.task import Task
    from evaluation.execution.engine_worker import EngineWorker
    from evaluation.scheduling.shared_work import SharedWork
    from evaluation.setup.selected_engines import EngineUnderTest


@dataclass(slots=True)
class _Contestant:
    """One measurement of one engine, which takes turns with others on a core."""

    participant: EngineUnderTest
    repetition: int
    worker: EngineWorker
    mark: str
    late: TimedOutCases


@dataclass(slots=True)
class _Seat:
    """A core with all contestants on it, of which one at a time is at work."""

    contestants: list[_Contestant]
    #: Who is to be asked what next; first the one who is at work.
    turns: deque[tuple[_Contestant, PendingCase]] = field(default_factory=deque)
    busy: bool = False


def run_in_turn(
    participants: Sequence[EngineUnderTest],
    task: Task,
    work: SharedWork,
) -> None:
    """Put each case to every engine before the next case, in an order that is drawn.

    So all meet the machine in the same state. Each repetition of an engine has a
    process of its own: what a process has by chance, its place in memory for one, is
    part of what repetitions show.
    """
    own = [one for one in participants if one.label not in work.totals.unavailable]
    with ExitStack() as stack:
        seats = [
            _Seat(
                [
                    _Contestant(
                        participant,
                        repetition,
                        stack.enter_context(work.cores.worker(participant, place)),
                        participant_fingerprint(participant, work.plan, task),
                        TimedOutCases(task),
                    )
                    for participant in own
                    for repetition in range(work.plan.repeats)
                ]
            )
            for place in range(work.plan.jobs)
        ]
        rounds = _rounds(work.cases(task), work)
        while _fill(seats, rounds, work):
            busy = [seat.turns[0][0].worker for seat in seats if seat.busy]
            wait_for(busy)
            for seat in seats:
                if seat.busy:
                    _collect_turn(seat, seats, work)


def _rounds(
    cases: Iterable[Case], work: SharedWork
) -> Iterator[tuple[Case, list[list[int] | None]]]:
    """Yield cases with the tokens of their texts, the next one ahead of its turn."""
    ahead: deque[tuple[Case, list[list[int] | None]]] = deque()
    for case in cases:
        ahead.append((case, work.tokens(case)))
        if len(ahead) > 1:
            yield ahead.popleft()
    yield from ahead


def _fill(
    seats: Sequence[_Seat],
    rounds: Iterator[tuple[Case, list[list[int] | None]]],
    work: SharedWork,
) -> bool:
    """Give every seat that waits its next turn; return whether any is at work."""
    for seat in seats:
        while not seat.busy:
            if not seat.turns:
                found = next(rounds, None)
                if found is None:
                    break
                seat.turns.extend(_turns(seat, *found, work))
                continue
            contestant, pending = seat.turns[0]
            row = contestant.late.row_of(pending.case, pending.fingerprint)
            if row is None:
                contestant.worker.give([pending])
                seat.busy = True
            else:
                work.write_copy(row)
                seat.turns.popleft()
    return any(seat.busy for seat in seats)


def _turns(
    seat: _Seat, case: Case, tokens: Sequence[Sequence[int] | None], work: SharedWork
) -> list[tuple[_Contestant, PendingCase]]:
    """Return who has still to be asked a case, in an order drawn for it."""
    found = []
    for contestant in seat.contestants:
        repetition = contestant.repetition
        fingerprint = case_fingerprint(contestant.mark, case, repetition)
        if not work.is_finished(fingerprint):
            pending = PendingCase(
                case=case,
                tokens=tokens,
                fingerprint=fingerprint,
                repetition=repetition,
            )
            found.append((contestant, pending))
    seed = f"{work.plan.settings.seed} {case.config} {case.id}"
    random.Random(seed).shuffle(found)  # noqa: S311 - drawn again alike, not secret
    return found


def _collect_turn(seat: _Seat, seats: Sequence[_Seat], work: SharedWork) -> None:
    """Write the row of whoever is at work, once it is complete.

    An engine that cannot be loaded takes no part any more, on any core.
    """
    contestant, _ = seat.turns[0]
    try:
        rows = contestant.worker.collect()
    except WorkerDidNotStart as fault:
        label = contestant.participant.label
        work.totals.unavailable[label] = fault.what
        for other in seats:
            _dismiss(other, label)
        return
    for case, row in rows:
        contestant.late.note(case, row)
        work.write(contestant.participant, case, row)
        seat.turns.popleft()
        seat.busy = False


def _dismiss(seat: _Seat, label: str) -> None:
    """Take an engine off a seat, with all that it was to be asked."""
    if seat.busy and seat.turns[0][0].participant.label == label:
        seat.busy = False
        seat.turns[0][0].worker.close()
    seat.contestants = [
        one for one in seat.contestants if one.participant.label != label
    ]
    seat.turns = deque(
        (one, pending) for one, pending in seat.turns if one.participant.label != label
    )
