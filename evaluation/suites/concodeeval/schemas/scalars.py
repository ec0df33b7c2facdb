"""Schemas of numbers and strings, at the root and inside of an object or array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.suites.concodeeval.compatibility import SuiteReading

if TYPE_CHECKING:
    import random

    from curation.core.json_types import Json

    Schema = dict[str, Json]

#: The formats of the published schemas, `date-time` among them.
FORMATS: Final = (
    "date",
    "time",
    "date-time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uri-template",
    "uuid",
    "json-pointer",
    "relative-json-pointer",
    "regex",
)
#: `date-time` is misspelt in the published schemas, so that validators ignore it.
_MISSPELT: Final = "data-time"
#: The smallest divisor that two decimals can say; 0 would be no schema.
_SMALLEST_DIVISOR: Final = 0.01


def root_number(rng: random.Random, high: int) -> Schema:
    """Draw a schema of a number between 0 and `high`, each bound optional."""
    bounds: Schema = {}
    _put(bounds, rng.choice(("", "minimum", "exclusiveMinimum")), 0)
    _put(bounds, rng.choice(("", "maximum", "exclusiveMaximum")), high)
    divisor: Schema = {}
    _put(divisor, rng.choice(("", "multipleOf")), _divisor(rng, high))
    return {"type": "number"} | _in_either_order(rng, divisor, bounds)


def root_string(rng: random.Random, high: int, reading: SuiteReading) -> Schema:
    """Draw a schema of a string of at most `high` characters or of any length."""
    lengths: Schema = {}
    _put(lengths, rng.choice(("", "minLength")), 0)
    _put(lengths, rng.choice(("", "maxLength")), high)
    form: Schema = {}
    _put(form, rng.choice(("", "format")), _format(rng, reading))
    return {"type": "string"} | _in_either_order(rng, form, lengths)


def inner_number(rng: random.Random, high: int) -> Schema:
    """Draw a schema of a number, its bounds anywhere between 0 and `high`."""
    lowest = rng.uniform(0, high)
    bounds: Schema = {}
    _put(bounds, rng.choice(("", "minimum", "exclusiveMinimum")), lowest)
    largest = rng.uniform(lowest, high)
    _put(bounds, rng.choice(("", "maximum", "exclusiveMaximum")), largest)
    divisor: Schema = {}
    _put(divisor, rng.choice(("", "multipleOf")), _divisor(rng, high))
    return {"type": "number"} | _in_either_order(rng, divisor, bounds)


def inner_string(rng: random.Random, high: int, reading: SuiteReading) -> Schema:
    """Draw a schema of a string, its lengths anywhere between 0 and `high`."""
    shortest, longest = sorted(rng.randint(0, high) for _ in range(2))
    lengths: Schema = {}
    _put(lengths, rng.choice(("", "minLength")), shortest)
    _put(lengths, rng.choice(("", "maxLength")), longest)
    form: Schema = {}
    _put(form, rng.choice(("", "format")), _format(rng, reading))
    return {"type": "string"} | _in_either_order(rng, form, lengths)


def _divisor(rng: random.Random, high: int) -> float:
    return max(_SMALLEST_DIVISOR, round(rng.uniform(0, high), 2))


def _format(rng: random.Random, reading: SuiteReading) -> str:
    drawn = rng.choice(FORMATS)
    if drawn == "date-time" and reading is SuiteReading.PAPER:
        return _MISSPELT
    return drawn


def _put(schema: Schema, keyword: str, value: Json) -> None:
    """Add a keyword; an empty name stands for none."""
    if keyword:
        schema[keyword] = value


def _in_either_order(rng: random.Random, first: Schema, second: Schema) -> Schema:
    return first | second if rng.choice((True, False)) else second | first
