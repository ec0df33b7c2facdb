"""Measure how the cost of a way grows: events of each function, and processor time.

    PYTHONHASHSEED=0 python -m tests.growth.measure

prints, by way, family and size, how often each function of csbdata came to a line, or
to its end.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections import Counter
from math import inf, log
from pathlib import Path
from typing import TYPE_CHECKING, Final

import jsonschema_rs

from tests.growth.ways import WAYS, Work

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, FrameType

    from _typeshed import TraceFunction

_ROOT: Final = Path(__file__).parents[2]
_OURS: Final = (f"{_ROOT}/curation/", f"{_ROOT}/evaluation/")


def events(work: Work) -> dict[str, int]:
    """Return how often each function of ours comes to a line, or its end, by name."""
    counts: dict[CodeType, list[int]] = {}
    traces: dict[CodeType, TraceFunction] = {}

    def counter(code: CodeType) -> TraceFunction:
        count = counts[code] = [0]

        def line(_frame: FrameType, _event: str, _argument: object) -> TraceFunction:
            count[0] += 1
            return line

        return line

    def call(frame: FrameType, _event: str, _argument: object) -> TraceFunction | None:
        code = frame.f_code
        if code not in traces:
            if not code.co_filename.startswith(_OURS):
                return None
            traces[code] = counter(code)
        return traces[code]

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    named: Counter[str] = Counter()
    for code, (count,) in counts.items():
        file = Path(code.co_filename).relative_to(_ROOT)
        named[f"{file}:{code.co_firstlineno} {code.co_qualname}"] += count
    return dict(named)


def seconds(work: Work) -> float:
    """Return the processor time of a piece of work, garbage left as workers do."""
    gc.collect()
    gc.disable()
    try:
        begun = time.process_time()
        work()
        return time.process_time() - begun
    finally:
        gc.enable()


def exponent(costs: Sequence[float]) -> float:
    """Return the exponent of growth from sizes n, 4n and 16n, constant costs aside.

    Example:
        >>> exponent([7 + 1, 7 + 16, 7 + 256])
        2.0
    """
    first, second = costs[1] - costs[0], costs[2] - costs[1]
    if second <= 0:
        return 0.0
    return log(second / first, 4) if first > 0 else inf


def _refused(*_: object, **__: object) -> None:
    raise ValueError


def main() -> None:
    """Print the events of all ways in all their families."""
    measured: dict[str, dict[str, list[dict[str, int]]]] = {}
    # Seconds of work, and not one event of ours.
    vars(jsonschema_rs)["canonicalize"] = _refused
    for name, way in WAYS.items():
        measured[name] = {}
        for family, make in way.families.items():
            if family in way.by_nature:
                continue
            # Imports, and what is computed once for all.
            way.prepare(make(2))()
            measured[name][family] = [
                events(way.prepare(make(way.events_n * times))) for times in (1, 4, 16)
            ]
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
