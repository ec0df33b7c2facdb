"""The worker process that makes the instances of one schema after another.

Run by path (`curation.isolation`).
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import orjson

from curation.instances.made import make
from curation.worker_protocol import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.documents import Json


def start(setup: Json) -> Callable[[Json], Json]:
    """Take the seed; return the handler of one schema's text and dialect."""
    seed = setup["seed"]

    def handle(unit: Json) -> Json:
        made = make(unit["schema"], unit["dialect"], seed)
        gc.collect(0)
        return made.to_json()

    return handle


if __name__ == "__main__":
    serve(start, encode=orjson.dumps, decode=orjson.loads)
