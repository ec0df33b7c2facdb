"""Numbers within bounds that are a multiple of what they must be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

Number = int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberShape:
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


def _exact(number: Number) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def choose(shape: NumberShape, rng: random.Random) -> Number | None:
    """Return a number of that shape, or None where none is known."""
    steps = [_exact(each) for each in shape.multiples]
    if shape.integer:
        steps.append(Fraction(1))
    step = Fraction(1)
    if steps:
        step = steps[0]
        for each in steps[1:]:
            step = Fraction(
                math.lcm(step.numerator, each.numerator),
                math.gcd(step.denominator, each.denominator),
            )
    lows = [
        _exact(e) for e in (shape.minimum, shape.exclusive_minimum) if e is not None
    ]
    highs = [
        _exact(e) for e in (shape.maximum, shape.exclusive_maximum) if e is not None
    ]
    low = max(lows) if lows else (min(highs) - 100 * step if highs else Fraction(0))
    high = min(highs) if highs else low + 100 * step
    if not steps and high - low < 2 * step:
        step = (high - low) / 4 or Fraction(1)
    first = math.ceil(low / step)
    if shape.exclusive_minimum is not None and first * step <= _exact(
        shape.exclusive_minimum
    ):
        first += 1
    last = math.floor(high / step)
    if shape.exclusive_maximum is not None and last * step >= _exact(
        shape.exclusive_maximum
    ):
        last -= 1
    if first > last:
        return None
    value = rng.randint(first, last) * step
    if value.denominator == 1:
        return int(value)
    return float(value)
