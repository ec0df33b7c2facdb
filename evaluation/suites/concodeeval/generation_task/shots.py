"""The examples of task 1: short schemas and arrays, where models err most.

They are ours, and valid: of the published ones several are refused by their own
schemas.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.compiled_schema import CompiledSchema

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.suites.concodeeval.compatibility import SuiteReading

_SHOTS: Final = (
    (
        '{"type": "array", "contains": {"type": "boolean"}, "minContains": 1}',
        "[true, false, true]",
    ),
    ('{"type": "string", "format": "idn-email"}', '"olive.harbor@example.org"'),
    (
        (
            '{"type": "array", "items": {"type": "number", "multipleOf": 5.82, '
            '"exclusiveMinimum": 3.07}}'
        ),
        "[5.82, 11.64]",
    ),
)


@cache
def shots(reading: SuiteReading) -> tuple[tuple[Json, Json], ...]:
    """Return schemas with a sample each, validated with formats asserted.

    Raises:
        ValueError: a sample is refused, which only an edit here can bring about.
    """
    found: list[tuple[Json, Json]] = []
    for schema_text, sample_text in _SHOTS:
        schema, sample = json.loads(schema_text), json.loads(sample_text)
        compiled = CompiledSchema.from_json(schema, reading.dialect)
        if not compiled.is_valid(sample):
            raise ValueError(f"{sample_text} does not satisfy {schema_text}")
        found.append((schema, sample))
    return tuple(found)
