"""One request of a stream with what came of it, as a row of a run, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from evaluation.core.cases import Result
from evaluation.generation.generation_rows import row_from_generation, text_from_row
from evaluation.open_loop.settings import TASK, SchemaChoice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluation.core.cases import Row
    from evaluation.core.task import RunRows
    from evaluation.generation.generation_rows import GeneratedText
    from evaluation.generation.judgement import Judgement
    from evaluation.generation.text_generation import Generation
    from evaluation.open_loop.settings import ServiceLimit
    from evaluation.open_loop.workload import PlannedRequest

#: Member of a row's label that holds what follows.
_LABEL = "open_loop"


class RequestTimes(msgspec.Struct, frozen=True, kw_only=True):
    """When things happened to one request, in nanoseconds."""

    choice: SchemaChoice
    number: int
    warm_up: bool
    #: When it was to arrive, from the beginning of its sitting.
    scheduled_ns: int
    #: By how much later it was sent: it had to wait for a place, or we were late.
    sent_late_ns: int
    #: When it was over, from its scheduled arrival.
    over_ns: int
    #: Times between pieces of the answer, in order.
    gaps_ns: tuple[int, ...]
    #: When the sitting began (ISO 8601, UTC): a run that was ended and begun again has
    #: several.
    sitting: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredRequest:
    """What came of one request; its times count from its scheduled arrival."""

    engine: str
    times: RequestTimes
    text: GeneratedText

    @property
    def answered(self) -> bool:
        """Whether a whole answer came."""
        return self.text.generation.generated

    @property
    def cut_off(self) -> bool:
        """Whether the deadline ended it: its times are at least so long."""
        return self.text.generation.result is Result.TIMEOUT

    def is_in_time(self, limits: Sequence[ServiceLimit]) -> bool:
        """Return whether a whole answer came within all limits.

        TPOT of an answer of one token is no time at all; where the server does not
        tell how many tokens there were, nothing is known to be in time.
        """
        made = self.text.generation
        short = made.length is not None and made.length <= 1
        figures = {
            "ttft": made.ttft_ns,
            "tpot": 0 if short else made.tpot_ns,
            "e2e": made.total_ns,
        }
        return self.answered and all(
            (figure := figures[limit.name]) is not None and figure <= limit.ns
            for limit in limits
        )


def row_of_request(  # noqa: PLR0913 - the parts of a row
    planned: PlannedRequest,
    generation: Generation,
    times: RequestTimes,
    *,
    engine: str,
    judgement: Judgement | None,
    fingerprint: str,
) -> Row:
    """Return the row of one request."""
    row = row_from_generation(
        generation,
        planned.request,
        engine=engine,
        judgement=judgement,
        fingerprint=fingerprint,
    )
    label = {**row.label, _LABEL: msgspec.to_builtins(times)}
    return replace(row, task=TASK, id=planned.id, label=label)


def answered_requests(run: RunRows) -> Iterator[AnsweredRequest]:
    """Yield the requests of a run, those of the warm-up included."""
    for row in run.rows():
        if row.task == TASK:
            yield AnsweredRequest(
                engine=row.engine,
                times=msgspec.convert(row.label[_LABEL], RequestTimes),
                text=text_from_row(row),
            )
