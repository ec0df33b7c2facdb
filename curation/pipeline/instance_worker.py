"""The worker of a build's records: their instances, and the targets that take them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from curation.core.json_types import Json
from curation.fit.records import record_fit
from curation.instances.dataset import worker


class FitRequest(msgspec.Struct, frozen=True):
    """One schema whose targets are asked."""

    #: Its text.
    fit: str


def start(setup: Json) -> Callable[[Json], Json]:
    """Take the set-up of the worker of instances; return the handler of a request."""
    make = worker.start(setup)

    def find_targets(request: Json) -> Json:
        columns = record_fit(msgspec.convert(request, FitRequest).fit)
        return [list(names) for names in columns]

    def handle(request: Json) -> Json:
        is_fit = isinstance(request, dict) and "fit" in request
        return (find_targets if is_fit else make)(request)

    return handle
