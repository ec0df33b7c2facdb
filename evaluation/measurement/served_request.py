"""A model that is served by a program which is started for a run."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from curation.system.errors import BadUsage
from evaluation.server_programs.running_server import running_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from evaluation.generation.model_options import ModelOptions
    from evaluation.measurement.request import RunRequest
    from evaluation.measurement.wanted_server import WantedServer


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedModel:
    """A model at the server that was started for it."""

    #: How it is asked there.
    models: ModelOptions
    #: The server's own dialect, the engine of a run that names none.
    dialect: str


@contextmanager
def started_model(
    models: ModelOptions,
    wanted: WantedServer,
    options: Sequence[str],
    cache: Path,
    say: Callable[[str], None],
) -> Iterator[StartedModel]:
    """Start a server for a model; it is ended with the block.

    Args:
        models: The model, and how it is to write.
        wanted: Which program is to serve it.
        options: Engine options; `backend=NAME` is the program's.
        cache: Where environments of server programs are.
        say: Tells people how far it is.

    Raises:
        BadUsage: the model's revision is named where only the server knows it.
        CsbdataError: the server cannot be had (`running_server`, `WantedServer.start`).
    """
    if models.revision:
        raise BadUsage(
            f"--model {models.model}@{models.revision}: the server takes the revision",
            then=f"say --serve-args '--revision {models.revision}'",
        )
    start = wanted.start(models.model, options)
    with running_server(start, cache, say) as base:
        address = f"{base}/v1#{models.model}"
        yield StartedModel(
            models=replace(models, model=address, served_by=start.name),
            dialect=start.program.dialect,
        )


@contextmanager
def served(
    request: RunRequest, wanted: WantedServer, say: Callable[[str], None]
) -> Iterator[RunRequest]:
    """Yield the request with the address of a server that was started for it.

    Raises:
        CsbdataError: the server cannot be had (`started_model`).
    """
    cache = request.fetch.cache
    with started_model(request.models, wanted, request.options, cache, say) as started:
        yield replace(
            request,
            serve=None,
            engines=request.engines or [started.dialect],
            models=started.models,
        )
