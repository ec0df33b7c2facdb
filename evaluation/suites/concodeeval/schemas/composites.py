"""Schemas of objects and arrays: at most an array of objects of scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.instances.words import WORDS
from evaluation.suites.concodeeval.compatibility import SuiteReading
from evaluation.suites.concodeeval.schemas.scalars import inner_number, inner_string

if TYPE_CHECKING:
    import random

    from curation.core.json_types import Json

    Schema = dict[str, Json]


def object_schema(rng: random.Random, high: int, reading: SuiteReading) -> Schema:
    """Draw a schema of an object of 1 to `high` properties, each a scalar or anything.

    `required` stands only beside `additionalProperties: true`, as in the published
    schemas, and may be empty.
    """
    names = rng.sample(WORDS, rng.randint(1, high))
    schema: Schema = {
        "type": "object",
        "properties": {name: _property(rng, high, reading) for name in names},
    }
    is_open = rng.choice((True, False))
    schema["additionalProperties"] = is_open
    if is_open:
        schema["required"] = _required(rng, names)
    return schema


def array_schema(rng: random.Random, high: int, reading: SuiteReading) -> Schema:
    """Draw a schema of an array, by `items` or by `contains`.

    Beside `contains` may stand `minContains` and `maxContains`. The published schemas
    have them beside `items` too, where they mean nothing, and their `minContains` is 0.
    """
    holder = rng.choice(("items", "contains"))
    schema: Schema = {"type": "array", holder: _item(rng, high, reading)}
    least, most = sorted(rng.randint(0, high) for _ in range(2))
    if reading is SuiteReading.PAPER:
        least, most = 0, high
    elif holder == "items":
        return schema
    if rng.choice((True, False)):
        schema["minContains"] = least
    if rng.choice((True, False)):
        # Without `minContains` one is required.
        schema["maxContains"] = max(most, 1)
    return schema


def _property(rng: random.Random, high: int, reading: SuiteReading) -> Schema:
    kind = rng.choice(("any", "boolean", "null", "number", "string"))
    match kind:
        case "any":
            return {}
        case "number":
            return inner_number(rng, high)
        case "string":
            return inner_string(rng, high, reading)
    return {"type": kind}


def _item(rng: random.Random, high: int, reading: SuiteReading) -> Schema:
    match rng.choice(("number", "string", "boolean", "object")):
        case "number":
            return inner_number(rng, high)
        case "string":
            return inner_string(rng, high, reading)
        case "object":
            return object_schema(rng, high, reading)
    return {"type": "boolean"}


def _required(rng: random.Random, names: list[str]) -> list[Json]:
    if rng.choice((True, False)):
        return []
    chosen = set(rng.sample(names, rng.randint(0, len(names))))
    return [name for name in names if name in chosen]
