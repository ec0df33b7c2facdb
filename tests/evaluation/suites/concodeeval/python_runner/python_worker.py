"""The worker process that runs Python representations: which instances are accepted?

Run by path (`python_runner`). The code is our own, written from a schema; no answer of
a model ever comes here.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec
from pydantic import ValidationError

from curation.workers.protocol import serve
from tests.evaluation.suites.concodeeval.python_runner.python_messages import (
    AcceptedInstances,
    CodeToRun,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import Json


def start(_setup: Json) -> Callable[[Json], Json]:
    """Return the handler of one unit."""
    return _handle


def _handle(message: Json) -> Json:
    unit = msgspec.convert(message, CodeToRun)
    module = ModuleType("representation")
    # pydantic looks a class's module up to understand its annotations.
    sys.modules[module.__name__] = module
    exec(compile(unit.code, "<representation>", "exec"), vars(module))  # noqa: S102 - ours
    model = getattr(module, unit.root)
    accepted = tuple(_accepts(model, instance) for instance in unit.instances)
    answer: Json = msgspec.to_builtins(AcceptedInstances(accepted=accepted))
    return answer


def _accepts(model: Any, instance: str) -> bool:  # noqa: ANN401 - a class made here
    try:
        model.model_validate_json(instance)
    except ValidationError:
        return False
    return True


if __name__ == "__main__":
    serve(start)
