"""A request whose model is served by a program that is started for it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from curation.system.errors import BadUsage
from evaluation.server_programs.running_server import running_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evaluation.measurement.request import RunRequest
    from evaluation.measurement.wanted_server import WantedServer


@contextmanager
def served(
    request: RunRequest, wanted: WantedServer, say: Callable[[str], None]
) -> Iterator[RunRequest]:
    """Yield the request with the address of a server that was started for it.

    Raises:
        BadUsage: the model's revision is named where only the server knows it.
        CsbdataError: the server cannot be had (`running_server`, `WantedServer.start`).
    """
    models = request.models
    if models.revision:
        raise BadUsage(
            f"--model {models.model}@{models.revision}: the server takes the revision",
            then=f"say --serve-args '--revision {models.revision}'",
        )
    start = wanted.start(models.model, request.options)
    with running_server(start, request.fetch.cache, say) as base:
        address = f"{base}/v1#{models.model}"
        yield replace(
            request,
            serve=None,
            engines=request.engines or [start.program.dialect],
            models=replace(models, model=address, served_by=start.name),
        )
