"""A batch step by step, as JSON events that ui.perfetto.dev and chrome://tracing open.

All moments are of one clock, `time.perf_counter_ns`, which every process of a Linux
machine shares. What a device does is placed where it was handed over: the loop waits
for the device once a token, so that it begins at once. Its length is that of the
device's own events.
"""

from __future__ import annotations

import json
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import torch

    from evaluation.generation.engine_session import EngineSession, TokenMask
    from evaluation.generation.local_writer import LocalWriter
    from evaluation.models.base import ChosenTokens, FedPass, Prefill, TimedWork
    from evaluation.models.transformers import TransformersDecoding, TransformersModel

#: Who works, a line each: the device, the loop, and the engine once for each text.
_DEVICE: Final = 1
_LOOP: Final = 2
_ENGINE: Final = 3
_PLACES: Final = 100


class StepTrace:
    """Collects what the parts of a decoding step take, and when.

    Example:
        >>> trace = StepTrace()
        >>> with_trace(trace, model, {"llguidance": writer}, requests)
        >>> trace.write(Path("trace.json"))
    """

    def __init__(self) -> None:
        """Begin with no event."""
        self._events: list[dict[str, Any]] = []
        #: What is written now, as events name it.
        self.kind = ""
        self._later: list[tuple[str, int, TimedWork]] = []

    def add(self, name: str, line: int, begun: int, ns: int, place: int = 0) -> None:
        """Add something that took so many nanoseconds."""
        self._events.append(
            {
                "name": name,
                "cat": self.kind,
                "ph": "X",
                "pid": line,
                "tid": place,
                "ts": begun / 1e3,
                "dur": ns / 1e3,
            }
        )

    def device(self, name: str, begun: int, work: TimedWork) -> None:
        """Add work of the device; how long it takes is asked when it is over."""
        self._later.append((name, begun, work))

    def settle(self) -> None:
        """Ask how long the device has worked."""
        for name, begun, work in self._later:
            self.add(name, _DEVICE, begun, work.ns())
        self._later.clear()

    def events(self) -> Iterator[dict[str, Any]]:
        """Return the names of the lines, and all events in order."""
        for line, name in ((_DEVICE, "device"), (_LOOP, "loop"), (_ENGINE, "engine")):
            named = {"name": name}
            yield {"name": "process_name", "ph": "M", "pid": line, "args": named}
        yield from sorted(self._events, key=lambda event: event["ts"])

    def write(self, path: Path) -> None:
        """Write all events into a file."""
        self.settle()
        found = {"traceEvents": list(self.events()), "displayTimeUnit": "ms"}
        path.write_text(json.dumps(found), "utf-8")


class _TracedDecoding:
    """Texts under way, each call of which leaves events."""

    def __init__(self, decoding: TransformersDecoding, trace: StepTrace) -> None:
        self._decoding, self._trace = decoding, trace
        chooser = decoding._chooser  # noqa: SLF001 - nothing public has its parts
        self._masked = chooser.masked
        self._clock = chooser.clock
        chooser.masked = self._transfer  # type: ignore[method-assign]  # what is traced

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever it has
        return getattr(self._decoding, name)

    def _transfer(self, masks: Any, logits: torch.Tensor) -> torch.Tensor:  # noqa: ANN401 - as the chooser's
        begun, moment = perf_counter_ns(), self._clock.moment()
        found = self._masked(masks, logits)
        work = self._clock.since(moment)
        self._trace.device("masks transferred and applied", begun, work)
        return found

    def admit(self, prompt: Sequence[int], line: str | None = None) -> Prefill:
        begun = perf_counter_ns()
        prefill = self._decoding.admit(prompt, line)
        self._trace.device("prefill", begun, prefill.work)
        return prefill

    def feed(self, rows: Sequence[Sequence[int]]) -> FedPass:
        begun = perf_counter_ns()
        fed = self._decoding.feed(rows)
        self._trace.add("pass launched", _LOOP, begun, perf_counter_ns() - begun)
        self._trace.device("pass", begun, fed.work)
        return fed

    def choose(self, questions: Sequence[Any]) -> ChosenTokens:
        begun = perf_counter_ns()
        chosen = self._decoding.choose(questions)
        self._trace.add("tokens chosen", _LOOP, begun, perf_counter_ns() - begun)
        self._trace.settle()
        return chosen


def _traced_mask(
    session: EngineSession, place: int, trace: StepTrace
) -> Callable[[], TokenMask]:
    ask = type(session).mask

    def mask() -> TokenMask:
        begun = perf_counter_ns()
        found = ask(session)
        trace.add("waiting for the mask", _LOOP, begun, perf_counter_ns() - begun)
        trace.add("mask", _ENGINE, found.begun_ns, found.ns, place)
        return found

    return mask


def with_trace(
    trace: StepTrace,
    model: TransformersModel,
    writers: dict[str, LocalWriter],
    requests: Sequence[Any],
) -> None:
    """Have each writer write the same texts once more, and trace it."""
    opened = model.open

    def open_traced(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - as the model's
        return _TracedDecoding(opened(*given, **named), trace)

    model.open = open_traced  # type: ignore[method-assign]  # what is traced
    try:
        for name, writer in writers.items():
            trace.kind = name
            for place, session in enumerate(writer._sessions_for(len(requests))):  # noqa: SLF001 - nothing public has them
                if session is not None:
                    asked = _traced_mask(session, place % _PLACES, trace)
                    session.mask = asked  # type: ignore[method-assign]  # what is traced
            writer.write(requests)
    finally:
        model.open = opened  # type: ignore[method-assign]  # as it was
