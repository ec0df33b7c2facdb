"""The worker process that judges texts, run by its path (`curation.workers.pool`).

A unit is a `JudgedText`; the answer is a `Graded` for our own reading, and whether the
text is accepted for the published ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import orjson

from curation.instances.judging.grading import grade
from curation.workers.protocol import serve
from evaluation.judging.judge_messages import JudgedText, SchemaReading
from evaluation.judging.published_validation import (
    accepts_as_published,
    accepts_by_listing_10,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import Json


def start(_setup: Json) -> Callable[[Json], Json]:
    """Return the handler of one unit."""

    def handle(message: Json) -> Json:
        unit = msgspec.convert(message, JudgedText)
        if unit.reading is SchemaReading.OWN:
            graded = grade(unit.schema, unit.dialect, [unit.text])
            answer: Json = msgspec.to_builtins(graded)
            return answer
        accepts = (
            accepts_by_listing_10
            if unit.reading is SchemaReading.LISTING_10
            else accepts_as_published
        )
        return accepts(unit.text, unit.schema)

    return handle


if __name__ == "__main__":
    serve(start, encode=orjson.dumps, decode=orjson.loads)
