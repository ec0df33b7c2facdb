"""How the cost of each way grows with its input, counted in events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.growth.measure import exponent
from tests.growth.ways import WAYS

#: A walk with sorting in it stays below.
_HIGHEST: Final = 1.3
#: Events by which a function's cost has to grow before its exponent tells anything.
_MIN: Final = 1_000


#: All is measured at once, before the first test.
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def measured() -> dict[str, dict[str, list[dict[str, int]]]]:
    """Return the events of all ways, by way and family, at n, 4n and 16n."""
    process = subprocess.run(
        [sys.executable, "-m", "tests.growth.measure"],
        check=True,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    events: dict[str, dict[str, list[dict[str, int]]]] = json.loads(process.stdout)
    return events


@pytest.mark.parametrize("name", WAYS)
def test_events_grow_in_proportion_to_the_input(
    measured: dict[str, dict[str, list[dict[str, int]]]], name: str
) -> None:
    """A way costs n^1.3 events at most, and so does each function in it.

    They are the same on every machine; what C code does in one event is measured in
    time (`python -m tests.growth`).
    """
    way, steep = WAYS[name], []
    for family, (small, medium, large) in measured[name].items():
        whole = [sum(counts.values()) for counts in (small, medium, large)]
        if exponent(whole) > _HIGHEST:
            steep.append(f"{family}: {whole}")
        if way.searches:
            continue
        for function, count in large.items():
            costs = [small.get(function, 0), medium.get(function, 0), count]
            # One that begins to run at a size has not grown.
            if costs[1] and costs[2] - costs[1] > _MIN and exponent(costs) > _HIGHEST:
                steep.append(f"{family}: {function}: {costs}")
    assert not steep, "\n".join(steep)
