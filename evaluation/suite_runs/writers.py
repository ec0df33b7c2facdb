"""Who writes in a run of a suite: every model, free and under every engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from curation.system.errors import BadConfiguration
from evaluation.core.suite_records import FREE
from evaluation.generation.local_writer import UNCONSTRAINED
from evaluation.measurement.model_setup import ModelSetup
from evaluation.measurement.server_participants import served_model
from evaluation.models.shapes.catalogue import check_learnt
from evaluation.servers.client import RequestLimits
from evaluation.servers.server_writer import ServerWriter
from evaluation.setup.selected_engines import select_engines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curation.core.json_types import Json
    from evaluation.generation.model_options import ModelOptions
    from evaluation.generation.requests import TextWriter
    from evaluation.suite_runs.request import SuiteRunRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteWriter:
    """One model under one condition."""

    model: str
    #: `free`, or the label of the engine.
    condition: str
    #: Its entry in the run's header.
    about: dict[str, Json]
    #: None where it cannot be used here; `about` says why.
    writer: TextWriter | None
    asked: ModelOptions
    #: How it says how long a text takes; None of a model behind a server.
    setup: ModelSetup | None = None

    @property
    def label(self) -> str:
        """What tables call model and condition together."""
        return f"{self.model} {self.condition}"


def suite_writers(
    request: SuiteRunRequest, say: Callable[[str], None]
) -> list[SuiteWriter]:
    """Return every model of a request under every condition.

    Raises:
        BadConfiguration: two would have one name, or there is no such engine.
        CsbdataError: a model cannot be had.
    """
    found = [
        writer for asked in request.models for writer in _of_model(asked, request, say)
    ]
    labels = [writer.label for writer in found]
    twice = {label for label in labels if labels.count(label) > 1}
    if twice:
        raise BadConfiguration(f"{', '.join(sorted(twice))} would take part twice")
    return found


def _of_model(
    asked: ModelOptions, request: SuiteRunRequest, say: Callable[[str], None]
) -> Sequence[SuiteWriter]:
    if asked.over_http:
        limits = RequestLimits(
            seconds=asked.options.run_seconds, patience=asked.patience
        )
        servers = served_model(asked.model, request.engines, limits)
        return [
            SuiteWriter(
                model=server.connection.model,
                condition=server.dialect.name if server.dialect.constrains else FREE,
                about=_about(
                    server.header(), server.connection.model, server.dialect.name
                ),
                writer=ServerWriter(server, prices=asked.prices),
                asked=asked,
            )
            for server in servers
        ]
    check_learnt(asked.model, f"suite {request.chosen.suite.name}")
    setup = ModelSetup(asked, request.fetch, say)
    model = Path(asked.model).name if Path(asked.model).exists() else asked.model
    found: list[SuiteWriter] = []
    for engine in select_engines(
        request.fetch.cache, request.engines, request.preset, request.options
    ):
        writers = setup.writers([engine])
        free = engine.file.name == UNCONSTRAINED
        found.append(
            SuiteWriter(
                model=model,
                condition=FREE if free else engine.label,
                about={
                    **_about(engine.header(), model, engine.file.name),
                    "model": setup.header(),
                },
                writer=writers[0] if writers else None,
                asked=asked,
                setup=setup,
            )
        )
    return found


def _about(header: dict[str, Json], model: str, engine: str) -> dict[str, Json]:
    """Return a participant's entry, named by model and condition together."""
    return {**header, "name": f"{model} {engine}", "model": model}
