"""Who takes part in a run where the model is behind a server."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from curation.system.errors import BadConfiguration
from evaluation.servers.client import (
    RequestLimits,
    ServerClient,
    ServerConnection,
    split_address,
)
from evaluation.servers.model_server import server_participants
from evaluation.tasks.registry import task_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.measurement.request import RunRequest
    from evaluation.servers.model_server import ModelServer


def model_servers(request: RunRequest) -> Sequence[ModelServer]:
    """Return the server of a request, once for each dialect in which it is asked.

    Raises:
        BadConfiguration: a task asks an engine for masks, there is no such dialect or
            option, the server has several models and none is named, or another library
            constrains its texts than is asked for.
        Unavailable: the server does not answer (exit 69).
    """
    without = [name for name in request.tasks if not task_named(name).needs_model]
    if without:
        raise BadConfiguration(
            f"a server gives no masks, so it cannot be asked for {', '.join(without)}",
            then="say --task coverage --task efficiency",
        )
    limits = RequestLimits(
        seconds=request.bounds.run_seconds, patience=request.models.patience
    )
    found = served_model(request.models.model, request.engines, limits)
    wanted = _wanted_backends(found, request.options)
    servers = [
        replace(server, wanted_backend=backend)
        for server, backend in zip(found, wanted, strict=True)
    ]
    for server in servers:
        server.check_backend()
    return servers


def _wanted_backends(
    servers: Sequence[ModelServer], assignments: Sequence[str]
) -> list[str]:
    """Return what `--option backend=NAME` says of each server, empty where nothing."""
    wanted = [""] * len(servers)
    for assignment in assignments:
        option, equals, text = assignment.partition("=")
        dialect, _, name = option.rpartition(".")
        matching = [
            place
            for place, server in enumerate(servers)
            if server.dialect.constrains and dialect in ("", server.dialect.name)
        ]
        if name != "backend" or not equals or not matching:
            raise BadConfiguration(
                f"--option {assignment}: no server of this run has that option",
                then="a server has backend alone, such as --option backend=xgrammar",
            )
        for place in matching:
            wanted[place] = text
    return wanted


def served_model(
    address: str, dialects: Sequence[str], limits: RequestLimits
) -> Sequence[ModelServer]:
    """Return a model behind a server, once for each dialect in which it is asked.

    Args:
        address: The server's address, and the model's name after a `#`.
        dialects: Names of dialects, one at least.
        limits: What one text may cost.

    Raises:
        BadConfiguration: there is no such dialect, or the server has several models
            and none is named.
        Unavailable: the server does not answer (exit 69).
    """
    base, model = split_address(address)
    found = server_participants(base, model, dialects, limits)
    client = ServerClient(
        ServerConnection(base=base, model=model, keys=found[0].dialect.keys)
    )
    try:
        paths = [path for server in found for path in server.dialect.described_at]
        description = client.description(paths)
    finally:
        client.close()
    served = description.models
    if not model and len(served) == 1:
        found = server_participants(base, served[0], dialects, limits)
    elif not model:
        raise BadConfiguration(
            "this server has several models, or does not name them",
            then=f"say --model {base}#NAME ({', '.join(served[:5]) or 'any'})",
        )
    return [replace(server, about=description.as_json()) for server in found]
