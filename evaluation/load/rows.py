"""The rows of a load run, one a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from evaluation.core.cases import Result
from evaluation.generation.text_generation import Generation
from evaluation.load.arrivals import SchemaChoice
from evaluation.suites.coverage.judgement import Judgement, TextClass
from evaluation.walking.run_folder import whole_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evaluation.load.arrivals import ServiceLimit

#: The file of rows in a run's folder.
ROWS: Final = "rows.jsonl"


class RequestTimes(msgspec.Struct, frozen=True, kw_only=True):
    """The times of one request, in nanoseconds."""

    choice: SchemaChoice
    number: int
    warm_up: bool
    #: Its scheduled arrival, from the beginning of its sitting.
    scheduled_ns: int
    #: By how much later it was sent: it had to wait for a place, or we were late.
    sent_late_ns: int
    #: Its end, from its scheduled arrival.
    over_ns: int
    #: Times between pieces of the answer, in order.
    gaps_ns: tuple[int, ...]
    #: When the sitting began (ISO 8601, UTC): a run that was stopped and continued has
    #: several.
    sitting: str


class LoadRow(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one request; its times count from its scheduled arrival."""

    #: Label of the server and the dialect in which it was asked.
    engine: str
    #: Config and id of the record.
    config: str
    record: str
    times: RequestTimes
    generation: Generation
    #: None if there is no text to judge.
    judgement: Judgement | None
    outcome: TextClass
    #: Fingerprint of everything that decides the row.
    fingerprint: str

    @property
    def id(self) -> str:
        """Its stream and its place there: `one#17`."""
        return f"{self.times.choice}#{self.times.number}"

    @property
    def answered(self) -> bool:
        """Whether a whole answer came."""
        return self.generation.generated

    @property
    def compliant(self) -> bool:
        """Whether the text is valid under the record's own dialect."""
        return self.outcome is TextClass.COMPLIANT

    @property
    def cut_off(self) -> bool:
        """Whether the deadline ended it: its times are at least so long."""
        return self.generation.result is Result.TIMEOUT

    def is_in_time(self, limits: Sequence[ServiceLimit]) -> bool:
        """Return whether a whole answer came within all limits.

        TPOT of an answer of one token is no time at all; if the server does not tell
        how many tokens there were, the answer is not known to be in time.
        """
        generation = self.generation
        short = generation.length is not None and generation.length <= 1
        figures = {
            "ttft": generation.ttft_ns,
            "tpot": 0 if short else generation.tpot_ns,
            "e2e": generation.total_ns,
        }
        return self.answered and all(
            (figure := figures[limit.name]) is not None and figure <= limit.ns
            for limit in limits
        )


def read_rows(folder: Path) -> list[LoadRow]:
    """Read the rows of a run, by engine, config and request; a torn line is left out.

    Of two rows of the same request the later one counts.
    """
    decode = msgspec.json.Decoder(LoadRow).decode
    rows = {}
    for line in whole_lines(folder / ROWS):
        row = decode(line)
        rows[row.engine, row.config, row.id] = row
    return [rows[key] for key in sorted(rows)]
