"""Decoding steps on one clock, as JSON events that ui.perfetto.dev opens.

All moments are of `time.perf_counter_ns`, which every process of a Linux machine
shares. A device works on what it is given in order: its work begins when it was handed
over, or when the work before it was done, and takes what its own events say.
"""

from __future__ import annotations

import json
from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from curation.system.atomic_files import atomic_write_bytes
from evaluation.reporting.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.models.base import TimedWork

PASS: Final = "pass"  # noqa: S105 - of a model
CHOICE: Final = "choice"
_WAIT: Final = "mask awaited"
_MASK: Final = "mask"
#: What the sums call a step, and the device at rest in one.
_STEP: Final = "step"
_IDLE: Final = "idle"
_COLUMNS: Final = (PASS, _MASK, _WAIT, _IDLE)
_US: Final = 1e3


class TraceLine(IntEnum):
    """Who works."""

    DEVICE = 1
    LOOP = 2
    ENGINE = 3


class StepTrace:
    """Collects what the parts of decoding steps take, and when.

    Example:
        >>> trace = StepTrace()
        >>> LocalWriter(model, engine, tokenizer, options, trace=trace).write(requests)
        >>> trace.write(Path("trace.json"))
    """

    def __init__(self) -> None:
        """Begin with no event."""
        self._events: list[dict[str, Json]] = []
        self._later: list[tuple[str, int, TimedWork]] = []
        #: Nanoseconds by what they were for, and steps, by engine and batch.
        self._sums: dict[tuple[str, int], Counter[str]] = {}
        self._free: dict[int, tuple[str, int]] = {}
        self._kind = "", 0
        #: The device's work before: its name, and when it was done.
        self._before = "", 0

    def begin(self, engine: str, batch: int, *, is_free: bool) -> None:
        """Take what follows for steps of a batch of so many texts, under an engine.

        One that constrains nothing is what the others of its batch are compared with.
        """
        self._kind, self._before = (engine, batch), ("", 0)
        if is_free:
            self._free[batch] = self._kind
        self._sums.setdefault(self._kind, Counter())

    def add(
        self, name: str, line: TraceLine, begun: int, ns: int, place: int = 0
    ) -> None:
        """Add something that took so many nanoseconds."""
        self._sums[self._kind][name] += ns
        self._events.append(
            {
                "name": name,
                "cat": self._kind[0],
                "ph": "X",
                "pid": int(line),
                "tid": place,
                "ts": begun / _US,
                "dur": ns / _US,
            }
        )

    def waited(self, begun: int, ready: int, mask_begun: int, ns: int) -> None:
        """Add that the loop waited for a mask, and that the engine computed it."""
        self.add(_WAIT, TraceLine.LOOP, begun, ready - begun)
        self.add(_MASK, TraceLine.ENGINE, mask_begun, ns)

    def device(self, name: str, begun: int, work: TimedWork) -> None:
        """Add work of the device; how long it took is asked when it is over."""
        self._later.append((name, begun, work))

    def settle(self, transfer_ns: int) -> None:
        """Note the device's work, all of which is over: a step ends with its choice.

        Args:
            transfer_ns: Of the choice, what masks took to be transferred and applied.
        """
        sums = self._sums[self._kind]
        for name, handed_over, work in self._later:
            before, over = self._before
            begun, ns = max(handed_over, over), work.ns()
            self.add(name, TraceLine.DEVICE, begun, ns)
            if (before, name) in {(CHOICE, PASS), (PASS, CHOICE)}:
                sums[_IDLE] += begun - over
            sums[_STEP] += name == PASS
            self._before = name, begun + ns
            if name == CHOICE and transfer_ns:
                masked = "masks transferred and applied"
                self.add(masked, TraceLine.DEVICE, begun, transfer_ns)
        self._later.clear()

    def idle(self) -> Table:
        """Return by engine and batch how long the device does nothing in a step."""
        each = {
            kind: [sums[name] / (sums[_STEP] or 1) / _US for name in _COLUMNS]
            for kind, sums in self._sums.items()
        }
        free = {batch: each[kind][-1] for batch, kind in self._free.items()}
        rows = [
            (
                engine,
                batch,
                self._sums[engine, batch][_STEP],
                *row,
                row[-1] - free[batch] if batch in free else None,
            )
            for (engine, batch), row in each.items()
        ]
        return Table(
            title="Device idle caused by the grammar, in µs a step",
            columns=("engine", "batch", "steps", *_COLUMNS, "by the grammar"),
            rows=tuple(rows),
            note="idle: between a pass and the choice of its tokens, and from there to "
            "the next pass; by the grammar: beyond that of none at the same batch",
            name="idle",
        )

    def _lines(self) -> Iterator[Json]:
        for line in TraceLine:
            named: Json = {"name": line.name.lower()}
            yield {"name": "process_name", "ph": "M", "pid": int(line), "args": named}

    def write(self, path: Path) -> None:
        """Write all events into a file.

        Raises:
            CannotCreate: it cannot be written (exit 73).
        """
        found = {"traceEvents": [*self._lines(), *self._events]}
        whole = json.dumps({**found, "displayTimeUnit": "ms"})
        atomic_write_bytes(path, whole.encode())
