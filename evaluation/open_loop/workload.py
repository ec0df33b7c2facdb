"""What is asked of a server, request by request, and when each is to arrive."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from curation.system.errors import BadUsage
from evaluation.open_loop.arrivals import draw_arrivals
from evaluation.open_loop.settings import SchemaChoice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.generation.requests import GenerationRequest
    from evaluation.open_loop.settings import OpenLoopSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest:
    """One request of a stream."""

    choice: SchemaChoice
    #: Its place in the stream, the warm-up included. Requests of one place arrive at
    #: the same moment in every stream of a run.
    number: int
    #: Whether it only warms the server up.
    warm_up: bool
    #: Nanoseconds from the beginning of the stream.
    arrival_ns: int
    request: GenerationRequest
    #: The schema that is sent; the text is judged against the request's own.
    schema: str

    @property
    def id(self) -> str:
        """What rows call it: `one#17`."""
        return f"{self.choice}#{self.number}"


def plan_stream(
    requests: Sequence[GenerationRequest],
    choice: SchemaChoice,
    settings: OpenLoopSettings,
) -> list[PlannedRequest]:
    """Return the requests of one stream in the order of their arrival.

    As many are measured as there are requests; those of the warm-up come before. What
    warms up asks for no schema that is measured later, unless one is asked of all.

    Args:
        requests: One for each schema and repeat; their order is drawn.
        choice: Which of their schemas are asked for.
        settings: How they arrive.

    Raises:
        BadUsage: a schema is to be asked of all, and none is a JSON object.
    """
    warm_up = settings.warm_up
    arrivals = draw_arrivals(
        warm_up + len(requests),
        settings.rate,
        burstiness=settings.burstiness,
        seed=settings.seed,
    )
    order = np.random.default_rng(settings.seed).permutation(len(requests))
    common = _common_request(requests)
    planned = []
    for number, arrival in enumerate(arrivals):
        warms = number < warm_up
        own = choice is SchemaChoice.EACH and not warms
        request = requests[order[number - warm_up]] if own else common
        schema = request.sample.schema
        if not own and choice is not SchemaChoice.ONE:
            schema = mark_schema(schema, f"request {number}")
        planned.append(
            PlannedRequest(
                choice=choice,
                number=number,
                warm_up=warms,
                arrival_ns=round(arrival * 1e9),
                request=request,
                schema=schema,
            )
        )
    return planned


def mark_schema(schema: str, mark: str) -> str:
    """Return a schema that means the same and is another text.

    Args:
        schema: A JSON object.
        mark: Becomes its `$comment`, which no validator may act upon (JSON Schema
            2020-12, core, 8.3).
    """
    return json.dumps({**json.loads(schema), "$comment": mark})


def _common_request(requests: Sequence[GenerationRequest]) -> GenerationRequest:
    """Return the request that all are like: its schema's length is the median.

    Raises:
        BadUsage: no schema is an object.
    """
    objects = [
        request for request in requests if request.sample.schema.lstrip()[:1] == "{"
    ]
    if not objects:
        raise BadUsage("open-loop: no schema of the data is a JSON object")
    ordered = sorted(
        objects, key=lambda one: (len(one.sample.schema), one.sample.id, one.repeat)
    )
    return ordered[len(ordered) // 2]
