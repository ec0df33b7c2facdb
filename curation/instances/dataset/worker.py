"""The worker process of instances: it makes them, or grades someone else's.

Run by path (`curation.workers.pool`). A unit is a JSON object: the schema's text, its
dialect (empty: to be decided), and, to be graded, the texts of instances. With
`lean` a schema costs less, and has no near misses.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import orjson

from curation.instances.dataset.make_instances import make
from curation.instances.judging.grading import grade
from curation.workers.protocol import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import UntypedJson


def start(setup: UntypedJson) -> Callable[[UntypedJson], UntypedJson]:
    """Take the seed; return the handler of one unit."""
    seed = setup["seed"]

    def handle(unit: UntypedJson) -> UntypedJson:
        schema, dialect = unit["schema"], unit["dialect"]
        instances = unit.get("instances")
        if instances is not None:
            return grade(schema, dialect, instances).to_json()
        lean = bool(unit.get("lean"))
        answer = make(schema, dialect, seed, lean=lean).to_json()
        gc.collect(0)
        return answer

    return handle


if __name__ == "__main__":
    serve(start, encode=orjson.dumps, decode=orjson.loads)
