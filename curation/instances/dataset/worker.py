"""The worker process of instances: it makes them, or grades given ones.

Run by path (`curation.workers.pool`); a unit is an `InstanceUnit`.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import msgspec
import orjson

from curation.instances.dataset.make_instances import make_instances
from curation.instances.dataset.worker_messages import InstanceUnit
from curation.instances.judging.grading import grade
from curation.workers.protocol import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import Json


def start(setup: dict[str, int]) -> Callable[[Json], Json]:
    """Take the seed; return the handler of one unit."""
    seed = setup["seed"]
    # Most objects of a schema live until it is done; then the youngest are collected.
    gc.disable()

    def handle(message: Json) -> Json:
        unit = msgspec.convert(message, InstanceUnit)
        if unit.instances is not None:
            graded = grade(unit.schema, unit.dialect, unit.instances)
            grades: Json = msgspec.to_builtins(graded)
            return grades
        made = make_instances(
            unit.schema,
            unit.dialect,
            seed,
            count=unit.count,
            examples=unit.examples,
            lean=unit.lean,
        )
        answer = made.to_json()
        gc.collect(0)
        return answer

    return handle


if __name__ == "__main__":
    serve(start, encode=orjson.dumps, decode=orjson.loads)
