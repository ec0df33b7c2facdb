"""Numbers within bounds that are multiples of given factors.

Bounds and factors are taken as the decimals that they are written as. A multiple of a
fraction is chosen so that jsonschema, which divides floats, accepts it too.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from curation.instances.values import realistic

Number = int | float
_Span = tuple[Fraction, Fraction]

#: Whole numbers up to this are exact as floats.
_EXACT: Final = 1 << 53
#: Where no bound or name states more, numbers are from 0 to this many steps.
_STEPS: Final = 100
#: Ranges wider than this say little about natural values.
_MANY: Final = 1_000_000
_DRAWS: Final = 12
#: Steps have at most this many decimals.
_DECIMALS: Final = 12
_FORMATS: Final = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "uint8": (0, (1 << 8) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "uint": (0, (1 << 32) - 1),
    "uint64": (0, (1 << 64) - 1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberConstraints:
    """Everything that applies to one number."""

    integer: bool = False
    minimum: Number | None = None
    maximum: Number | None = None
    exclusive_minimum: Number | None = None
    exclusive_maximum: Number | None = None
    multiples: tuple[Number, ...] = ()
    #: The property's name, a hint for realistic values.
    name: str = ""
    format: str = ""


class _Grid(NamedTuple):
    """The multiples `low * step` to `high * step`, and those that look natural."""

    step: Fraction
    low: int
    high: int
    natural: tuple[int, int]


def _exact(number: Number) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def make_number(constraints: NumberConstraints, rng: random.Random) -> Number | None:
    """Return a number within constraints, or None."""
    for grid in _plan(constraints):
        for draw in range(_DRAWS):
            low, high = grid.natural if draw < _DRAWS // 2 else (grid.low, grid.high)
            count = high - low + 1
            if draw >= _DRAWS - 3:
                # Draws failed: the ends are the simplest numbers, and nought.
                index = min(max((0, low, high)[draw - (_DRAWS - 3)], low), high)
            elif count <= _EXACT:
                index = low + int(rng.random() * count)
            else:
                index = low + rng.randrange(count)
            exact = index * grid.step
            is_whole = exact.denominator == 1
            if is_whole or abs(exact) <= sys.float_info.max:
                value = exact.numerator if is_whole else float(exact)
                if fits(constraints, value):
                    return value
    return None


@lru_cache(maxsize=4096)
def _plan(constraints: NumberConstraints) -> tuple[_Grid, ...]:
    """Return the grids that hold such numbers, the most natural first."""
    try:
        low = _edge((constraints.minimum, constraints.exclusive_minimum), max)
        high = _edge((constraints.maximum, constraints.exclusive_maximum), min)
        factors = [_exact(factor) for factor in constraints.multiples]
        if constraints.integer:
            factors.append(Fraction(1))
        step = None
        if factors:
            numerators = (factor.numerator for factor in factors)
            denominators = (factor.denominator for factor in factors)
            step = Fraction(math.lcm(*numerators), math.gcd(*denominators))
        grids = [
            _grid(size, low, high, constraints)
            for size in _steps(step, low, high, constraints)
        ]
    except (ValueError, OverflowError, ZeroDivisionError):
        return ()
    return tuple(grid for grid in grids if grid is not None)


def _edge(
    bounds: tuple[Number | None, ...], tighter: Callable[..., Fraction | None]
) -> Fraction | None:
    """Return the tighter bound as the decimal that it is written as.

    A giant one is taken as the float that is nearest, too.
    """
    exact: list[Fraction] = []
    for bound in bounds:
        if bound is not None and bound != (-math.inf if tighter is max else math.inf):
            exact.append(_exact(bound))
            if abs(bound) >= _EXACT:
                exact.append(Fraction(bound))
    return tighter(exact, default=None)


def _steps(
    step: Fraction | None,
    low: Fraction | None,
    high: Fraction | None,
    constraints: NumberConstraints,
) -> list[Fraction]:
    if step is not None:
        # Division of floats may be off for all multiples that are not whole.
        return [step, step * step.denominator] if step.denominator > 1 else [step]
    named = realistic.span(constraints.name)
    steps = [Fraction(1, 10 ** (named[2] if named else 2))]
    if low is not None and high is not None and low < high:
        while steps[-1] * 4 > high - low and len(steps) < _DECIMALS:
            steps.append(steps[-1] / 10)
        steps += [(high - low) / 4, (high - low) / 2]
    # The only number left may be a bound itself, or its direct neighbour.
    bounds = [abs(bound) for bound in (low, high) if bound]
    return steps + bounds + [bound / (1 << 50) for bound in bounds]


def _grid(
    step: Fraction,
    low: Fraction | None,
    high: Fraction | None,
    constraints: NumberConstraints,
) -> _Grid | None:
    lowest = None if low is None else math.ceil(low / step)
    highest = None if high is None else math.floor(high / step)
    open_low, open_high = constraints.exclusive_minimum, constraints.exclusive_maximum
    if lowest is not None and open_low is not None and abs(open_low) != math.inf:
        lowest += lowest * step <= _exact(open_low)
    if highest is not None and open_high is not None and abs(open_high) != math.inf:
        highest -= highest * step >= _exact(open_high)
    if lowest is not None and highest is not None and lowest > highest:
        return None
    reach = max(step * _STEPS, Fraction(_EXACT))
    start, stop = _window(step, lowest, highest, [_usual(step, lowest, highest, reach)])
    named = realistic.span(constraints.name)
    wishes = [(Fraction(str(named[0])), Fraction(str(named[1])))] if named else []
    if constraints.format in _FORMATS:
        minimum, maximum = _FORMATS[constraints.format]
        wishes.append((Fraction(minimum), Fraction(maximum)))
    natural = _window(step, start, stop, wishes)
    if (natural[1] - natural[0]) * step > _MANY:
        reach = max(step * _STEPS, Fraction(_STEPS))
        wish = _usual(step, lowest, highest, reach)
        natural = _window(step, *natural, [wish])
    return _Grid(step=step, low=start, high=stop, natural=natural)


def _usual(
    step: Fraction, lowest: int | None, highest: int | None, reach: Fraction
) -> _Span:
    """Return the range to draw from where bounds are open or far apart."""
    if (
        lowest is not None
        and highest is not None
        and (highest - lowest) * step <= reach
    ):
        return lowest * step, highest * step
    if lowest is not None and lowest > 0:
        return lowest * step, lowest * step + reach
    if highest is not None and highest < 0:
        return highest * step - reach, highest * step
    return (Fraction(0) if reach < _EXACT else -reach), reach


def _window(
    step: Fraction, low: int | None, high: int | None, wishes: list[_Span]
) -> tuple[int, int]:
    """Return the first and last multiple within bounds, and in wishes if possible."""
    for minimum, maximum in wishes:
        start, stop = math.ceil(minimum / step), math.floor(maximum / step)
        start = start if low is None else max(low, start)
        stop = stop if high is None else min(high, stop)
        if start <= stop:
            low, high = start, stop
    if low is None:
        low = 0 if high is None else high - _STEPS
    return low, low + _STEPS if high is None else high


def fits(constraints: NumberConstraints, value: Number) -> bool:
    """Return whether a number meets constraints as both validators judge."""
    return (
        (not constraints.integer or isinstance(value, int))
        and in_bounds(constraints, value)
        and all(_is_multiple(value, factor) for factor in constraints.multiples)
    )


def in_bounds(constraints: NumberConstraints, value: Number) -> bool:
    """Return whether a number is within the four bounds."""
    low, high = constraints.minimum, constraints.maximum
    above, below = constraints.exclusive_minimum, constraints.exclusive_maximum
    return (
        (low is None or value >= low)
        and (high is None or value <= high)
        and (above is None or value > above)
        and (below is None or value < below)
    )


def _is_multiple(value: Number, step: Number) -> bool:
    """Return whether a number is a multiple, as decimals and as floats divide."""
    if not step:
        return False
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    try:
        quotient = value / step
        if not quotient.is_integer():
            return False
        return _exact(value) % _exact(step) == 0 and (
            isinstance(step, float) or not value % step
        )
    except (OverflowError, ValueError):
        return False
