"""Measure how processor time grows with the input: `python -m tests.growth [WAY ...]`.

Each way is measured at the smallest size that takes 50 ms, and at four times that.
Exits with 1 if time grows faster than n^1.4 anywhere.
"""

from __future__ import annotations

import gc
import sys
from math import inf, log
from typing import TYPE_CHECKING, Final

from tests.growth.measure import seconds
from tests.growth.ways import WAYS

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import UntypedJson
    from tests.growth.ways import Way

_MIN_SECONDS: Final = 0.05
_HIGHEST: Final = 1.4
_SMALLEST: Final = 64
_MAX_SIZE: Final = 2**12
#: A machine that changes its speed between the two sizes does not do so each time.
_TRIES: Final = 6


def growth(way: Way, make: Callable[[int], UntypedJson]) -> tuple[float, int]:
    """Return the exponent of a way in a family, and the size; 0 if it is no cost."""
    n = _SMALLEST
    small = seconds(way.prepare(make(n)))
    while small < _MIN_SECONDS:
        n *= 2
        if n > _MAX_SIZE:
            return 0.0, n
        small = seconds(way.prepare(make(n)))
    least = inf
    for _ in range(_TRIES):
        large = seconds(way.prepare(make(4 * n)))
        least = min(least, log(large / small, 4))
        if least <= _HIGHEST:
            break
        small = seconds(way.prepare(make(n)))
    return least, n


def main(names: list[str]) -> int:
    """Print the exponents; return the exit code."""
    code = 0
    for name in names or [name for name in WAYS if not WAYS[name].searches]:
        way = WAYS[name]
        for family, make in way.families.items():
            if family in way.by_nature:
                continue
            way.prepare(make(2))()
            # No search for garbage looks at what stays.
            gc.collect()
            gc.freeze()
            found, n = growth(way, make)
            steep = found > _HIGHEST
            code |= steep
            if steep or names:
                print(f"{name}, {family}: n^{found:.2f} from n = {n:,}", flush=True)
        print(f"{name}: measured", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
