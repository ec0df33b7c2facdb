"""The rows of a load run, one a request, and their tables.

Rates, goodput, latencies, and pairs of streams.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import msgspec

from evaluation.core.cases import Result
from evaluation.generation.text_generation import Generation
from evaluation.load.arrivals import SchemaChoice, ServiceLimit
from evaluation.reporting.bootstrap import ratio_over
from evaluation.reporting.quantiles import Quantiles
from evaluation.reporting.tables import (
    Cell,
    Duration,
    Rate,
    Ratio,
    Table,
    quantile_cell,
)
from evaluation.results.suite_tables import total_cost
from evaluation.suites.coverage.judgement import Judgement, TextClass
from evaluation.walking.run_folder import read_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    #: Participant and choice of schemas.
    StreamKey: TypeAlias = tuple[str, SchemaChoice]
    #: Returns a time of one request in nanoseconds; None where it has none.
    Figure: TypeAlias = "Callable[[LoadRow], float | None]"

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

    #: Label of the server and the way in which it was asked.
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

    Of two rows of the same request the later one counts; each warm-up was paid for.

    Raises:
        BadData: another line is damaged.
    """
    rows = {}
    for row in read_lines(folder / ROWS, LoadRow):
        sitting = row.times.sitting if row.times.warm_up else ""
        rows[row.engine, row.config, row.id, sitting] = row
    return [rows[key] for key in sorted(rows)]


_PERCENTS: Final = (50.0, 90.0, 99.0)
_SECOND: Final = 1e9
_NOTE: Final = (
    "Open loop: arrivals are drawn in advance and wait for no answer; every time "
    "counts from when the request was to arrive, so a queue here counts too. "
    "schemas: one for all; marked, the same made new for each by a $comment; each its "
    "own. valid: the text satisfies its schema, of all requests. span: from the first "
    "arrival to the last end. Requests of the warm-up count nowhere."
)
_LATENCY_NOTE: Final = (
    "Of whole answers; what the deadline cut off is at least that, and a failed "
    "request has no time. ttft: to the first piece. tpot: mean time of each later "
    "token of an answer, as the server counts them. itl: between two pieces, of all "
    "answers; a piece may hold several tokens. e2e: to the last piece. sent late: how "
    "much after its arrival a request left here."
)
_PAIR_NOTE: Final = (
    "Geometric mean of b / a over the requests that arrived at the same moment of both "
    "streams and were answered whole, with a 95 % interval by bootstrap: over schemas, "
    "or over requests where all have one schema. Neighbours in a queue are not "
    "independent: near its limit a server's interval is wider than this."
)


def report(
    rows: Iterable[LoadRow], limits: Sequence[ServiceLimit]
) -> tuple[Table, ...]:
    """Return the tables of a run.

    Args:
        rows: Its rows, those of the warm-up included.
        limits: When an answer is in time.
    """
    streams: dict[StreamKey, list[LoadRow]] = {}
    for request in rows:
        if not request.times.warm_up:
            key = (request.engine, request.times.choice)
            streams.setdefault(key, []).append(request)
    tables = (rates(streams, limits), latencies(streams), pairs(streams))
    return tuple(table for table in tables if table.rows)


def rates(
    streams: Mapping[StreamKey, Sequence[LoadRow]], limits: Sequence[ServiceLimit]
) -> Table:
    """Return what each stream came to."""
    rows: list[dict[str, Cell]] = []
    for (engine, choice), stream in streams.items():
        span = span_seconds(stream)
        answered = [request for request in stream if request.answered]
        in_time = [request for request in stream if request.is_in_time(limits)]
        valid = [request for request in in_time if request.compliant]
        lengths = [request.generation.length for request in answered]
        counts = [length for length in lengths if length is not None]
        is_counted = bool(counts) and len(counts) == len(lengths)
        rows.append(
            {
                "engine": engine,
                "schemas": choice.value,
                "requests": len(stream),
                "answered": Rate(len(answered), len(stream)),
                "valid": Rate(sum(one.compliant for one in stream), len(stream)),
                "span": Duration(span * _SECOND),
                "answers/s": _per_second(len(answered), span),
                "tokens/s": _per_second(sum(counts), span) if is_counted else None,
                "in time": Rate(len(in_time), len(stream)) if limits else None,
                "goodput/s": _per_second(len(in_time), span) if limits else None,
                "valid goodput/s": _per_second(len(valid), span) if limits else None,
                "cost": total_cost(one.generation.cost for one in stream),
                "sittings": len({request.times.sitting for request in stream}),
            }
        )
    limit_note = f" In time: {', '.join(map(str, limits))}." if limits else ""
    table = Table.of_records("Under load", rows, _NOTE + limit_note, "under-load")
    return table.without_empty_columns()


def span_seconds(stream: Sequence[LoadRow]) -> float:
    """Return the duration of a stream: the sum of its sittings.

    A sitting lasts from its first arrival to the end of its last request.
    """
    sittings: dict[str, list[LoadRow]] = {}
    for request in stream:
        sittings.setdefault(request.times.sitting, []).append(request)
    return sum(
        (
            max(one.times.scheduled_ns + one.times.over_ns for one in requests)
            - min(one.times.scheduled_ns for one in requests)
        )
        / _SECOND
        for requests in sittings.values()
    )


def _per_second(count: int, seconds: float) -> float | None:
    return count / seconds if seconds else None


_FIGURES: Final[Mapping[str, Figure]] = {
    "ttft": lambda request: request.generation.ttft_ns,
    "tpot": lambda request: request.generation.tpot_ns,
    "e2e": lambda request: request.generation.total_ns,
}


def latencies(streams: Mapping[StreamKey, Sequence[LoadRow]]) -> Table:
    """Return quantiles of every stream's latencies."""
    rows: list[dict[str, Cell]] = [
        {
            "engine": engine,
            "schemas": choice.value,
            "time": name,
            "values": len(times),
            **{f"p{percent:g}": quantile_cell(times, percent) for percent in _PERCENTS},
            "longest": quantile_cell(times, 100.0),
        }
        for (engine, choice), stream in streams.items()
        for name, times in latencies_of(stream).items()
        if len(times)
    ]
    return Table.of_records("Latencies", rows, _LATENCY_NOTE, "latencies")


def latencies_of(stream: Sequence[LoadRow]) -> dict[str, Quantiles]:
    """Return the latencies of a stream by name, in nanoseconds."""
    whole = [request for request in stream if request.answered]
    late = [request for request in stream if request.cut_off]
    latencies = {}
    for name, figure in _FIGURES.items():
        exact = [ns for one in whole if (ns := figure(one)) is not None]
        if name == "ttft":
            exact += [ns for one in late if (ns := figure(one)) is not None]
            late_ns = [one.times.over_ns for one in late if figure(one) is None]
        elif name == "e2e":
            late_ns = [one.times.over_ns for one in late]
        else:
            late_ns = []
        latencies[name] = Quantiles.of(exact, late_ns)
        if name == "tpot":
            gaps = [gap for one in (*whole, *late) for gap in one.times.gaps_ns]
            latencies["itl"] = Quantiles.of(gaps)
    latencies["sent late"] = Quantiles.of([one.times.sent_late_ns for one in stream])
    return latencies


def pairs(streams: Mapping[StreamKey, Sequence[LoadRow]]) -> Table:
    """Pair the streams that differ in one respect.

    Either the participant, with the same schemas; or one schema against the same one
    marked, of one participant.
    """
    rows: list[tuple[Cell, ...]] = []
    for a, b in combinations(streams, 2):
        same_prompts = {a[1], b[1]} <= {SchemaChoice.ONE, SchemaChoice.MARKED}
        if a[1] is not b[1] and not (a[0] == b[0] and same_prompts):
            continue
        numbered = {request.times.number: request for request in streams[b]}
        paired = [
            (request, other)
            for request in streams[a]
            if request.answered
            and (other := numbered.get(request.times.number)) is not None
            and other.answered
        ]
        cluster = _schema if a[1] is SchemaChoice.EACH else _number
        ratios = (ratio_over(paired, time, cluster) for time in _FIGURES.values())
        if paired:
            cells = map(Ratio.of, ratios)
            rows.append((" ".join(a), " ".join(b), len(paired), *cells))
    return Table(
        title="Streams, paired",
        columns=("a", "b", "requests", *_FIGURES),
        rows=tuple(rows),
        note=_PAIR_NOTE,
        name="streams-paired",
    )


def _schema(request: LoadRow) -> Hashable:
    return request.config, request.record


def _number(request: LoadRow) -> Hashable:
    return request.times.number
