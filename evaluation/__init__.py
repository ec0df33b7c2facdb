"""Evaluation: engines and models, measured on what `curation` packaged.

Example:
    >>> import evaluation
    >>> request = evaluation.RunRequest(
    ...     engines=["llguidance"], tasks=["declared"], data="my_schemas", limit=50
    ... )
    >>> result = evaluation.run(request)  # doctest: +SKIP
    >>> recorded = evaluation.open_run(result.folder)  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from evaluation.answers.judge import TextJudgement, judge, reward
    from evaluation.asking.request import ModelOptions, RunRequest, RunResult
    from evaluation.asking.run import run
    from evaluation.core.records import Instance, Record
    from evaluation.core.run_header import TaskSettings
    from evaluation.results.reader import RecordedRun, open_run
    from evaluation.walking.engine_worker import Bounds

__all__ = [
    "Bounds",
    "Instance",
    "ModelOptions",
    "Record",
    "RecordedRun",
    "RunRequest",
    "RunResult",
    "TaskSettings",
    "TextJudgement",
    "judge",
    "open_run",
    "reward",
    "run",
]

#: Where a public name is defined: it is imported when it is first asked for.
_MODULES: Final = {
    "ModelOptions": "evaluation.asking.request",
    "Bounds": "evaluation.walking.engine_worker",
    "TextJudgement": "evaluation.answers.judge",
    "judge": "evaluation.answers.judge",
    "reward": "evaluation.answers.judge",
    "Instance": "evaluation.core.records",
    "Record": "evaluation.core.records",
    "RecordedRun": "evaluation.results.reader",
    "RunRequest": "evaluation.asking.request",
    "RunResult": "evaluation.asking.request",
    "TaskSettings": "evaluation.core.run_header",
    "open_run": "evaluation.results.reader",
    "run": "evaluation.asking.run",
}


def __getattr__(name: str) -> object:
    """Return a public name, imported now."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
