"""Curate JSON Schemas into JSONSchemaBench; measure engines and models on it.

`import csbdata` makes the names of its packages, `curation` and `evaluation`, mean its
own, even if a folder of such a name comes earlier on the path. `csbdata.main` is the
command line; the other public names are imported when they are first used.

Example:
    >>> import csbdata
    >>> csbdata.check({"type": "object"}).problems
    ()
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import FrameType, ModuleType

    __version__: str

    from curation.checking.report import SchemaReport
    from curation.checking.schema_check import check
    from curation.download.cache import FetchSettings
    from curation.fit.answers import compare_schemas as diff
    from curation.fit.answers import decode
    from curation.fit.answers import fit_schema as fit
    from curation.fit.rewriting import Fit
    from curation.instances.dataset.make_instances import SchemaInstances
    from curation.instances.dataset.worker import witnesses
    from curation.pipeline.build import BuildRequest, BuildResult, build
    from curation.pipeline.inputs import ExtraSource
    from curation.publish.push import PushRequest, PushResult, push
    from curation.publish.verify import verify
    from curation.relation.comparer import Relation
    from curation.system.errors import CsbdataError
    from curation.verification import Verification
    from evaluation.analysis.score import ExtractionScore, score
    from evaluation.answers.judge import TextJudgement, judge, reward
    from evaluation.core.cases import Bounds
    from evaluation.core.records import Instance, Record
    from evaluation.core.run_header import TaskSettings
    from evaluation.results.reader import RecordedRun, open_run
    from evaluation.runner.request import ModelOptions, RunRequest, RunResult
    from evaluation.runner.run import run

__all__ = [
    "Bounds",
    "BuildRequest",
    "BuildResult",
    "CsbdataError",
    "ExtraSource",
    "ExtractionScore",
    "FetchSettings",
    "Fit",
    "Instance",
    "ModelOptions",
    "PushRequest",
    "PushResult",
    "Record",
    "RecordedRun",
    "Relation",
    "RunRequest",
    "RunResult",
    "SchemaInstances",
    "SchemaReport",
    "TaskSettings",
    "TextJudgement",
    "Verification",
    "build",
    "check",
    "decode",
    "diff",
    "fit",
    "judge",
    "main",
    "open_run",
    "push",
    "reward",
    "run",
    "score",
    "verify",
    "witnesses",
]

#: Where a public name is defined, with a colon and its name there if that is another.
_MODULES: Final = {
    "Bounds": "evaluation.core.cases",
    "BuildRequest": "curation.pipeline.build",
    "BuildResult": "curation.pipeline.build",
    "CsbdataError": "curation.system.errors",
    "ExtraSource": "curation.pipeline.inputs",
    "FetchSettings": "curation.download.cache",
    "ExtractionScore": "evaluation.analysis.score",
    "Fit": "curation.fit.rewriting",
    "Instance": "evaluation.core.records",
    "ModelOptions": "evaluation.runner.request",
    "PushRequest": "curation.publish.push",
    "PushResult": "curation.publish.push",
    "Record": "evaluation.core.records",
    "RecordedRun": "evaluation.results.reader",
    "Relation": "curation.relation.comparer",
    "RunRequest": "evaluation.runner.request",
    "RunResult": "evaluation.runner.request",
    "SchemaInstances": "curation.instances.dataset.make_instances",
    "SchemaReport": "curation.checking.report",
    "TaskSettings": "evaluation.core.run_header",
    "TextJudgement": "evaluation.answers.judge",
    "Verification": "curation.verification",
    "build": "curation.pipeline.build",
    "check": "curation.checking.schema_check",
    "decode": "curation.fit.answers",
    "diff": "curation.fit.answers:compare_schemas",
    "fit": "curation.fit.answers:fit_schema",
    "judge": "evaluation.answers.judge",
    "open_run": "evaluation.results.reader",
    "push": "curation.publish.push",
    "reward": "evaluation.answers.judge",
    "run": "evaluation.runner.run",
    "score": "evaluation.analysis.score",
    "verify": "curation.publish.verify",
    "witnesses": "curation.instances.dataset.worker",
}
_PACKAGES: Final = ("curation", "evaluation")
#: The folder that holds this module and both packages.
_HOME: Final = Path(__file__).resolve().parent


class _OwnPackages:
    """An import finder that finds both packages next to this module first."""

    @staticmethod
    def find_spec(
        name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of one of both packages; None for any other module."""
        return PathFinder.find_spec(name, [str(_HOME)]) if name in _PACKAGES else None


def _prefer_own_packages() -> None:
    """Let imports find both packages next to this module.

    Raises:
        ImportError: another package of such a name was imported before.
    """
    for name in _PACKAGES:
        file = getattr(sys.modules.get(name), "__file__", None) or ""
        if name in sys.modules and Path(file).resolve().parent != _HOME / name:
            place = file or "a namespace folder"
            raise ImportError(
                f"csbdata needs its own package {name!r}, but {place} was imported "
                "under this name before: import csbdata first, or rename the other"
            )
    sys.meta_path.insert(0, _OwnPackages)


_prefer_own_packages()


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    """End now: while modules load an exception can come out as another, or as none."""
    os.write(2, b"csbdata: stopped\n")
    os._exit(130)


def main() -> None:
    """Run the command line."""
    interrupt = signal.signal(signal.SIGINT, _stop)
    # Imports make much and no garbage, which is not searched for at the end either.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    from curation.cli import main as run  # noqa: PLC0415 - imports every command

    signal.signal(signal.SIGINT, interrupt)
    run()


def __getattr__(name: str) -> object:
    """Return a public name, imported now (PEP 562).

    Or the version of the distribution, by the name `__version__`.

    Raises:
        AttributeError: no such name is public.
        ModuleNotFoundError: a library is missing; the text has the command for it.
    """
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - takes time

        return version("csbdata")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, own = _MODULES[name].partition(":")
    try:
        return getattr(import_module(module), own or name)
    except ModuleNotFoundError as error:
        from curation.system.errors import missing_library  # noqa: PLC0415 - seldom

        fault = missing_library(error) or error
        raise ModuleNotFoundError(f"{name}: {fault}", name=error.name) from error


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
