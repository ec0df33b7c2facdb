"""Curation: from raw sources to JSONSchemaBench, every decision explained.

    import curation

    curation.build(curation.BuildRequest(out=Path("build/sample"), sample=True))
    curation.check({"type": "object"}).problems
    curation.witnesses({"type": "integer", "minimum": 3}).witnesses
    curation.fit_schema({"type": "object"}, "openai-strict").schema
    curation.verify("build/sample").failures
    curation.push(curation.PushRequest(folder=Path("build/sample"), repo="me/bench"))

A name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from curation.checking.schema_check import SchemaReport, check
    from curation.download.acquire import FetchSettings
    from curation.fit.answers import decode, fit_schema
    from curation.fit.rewriting import Fit
    from curation.instances.dataset.make_instances import SchemaInstances
    from curation.instances.dataset.worker import witnesses
    from curation.pipeline.build import BuildResult, build
    from curation.pipeline.inputs import ExtraSource
    from curation.pipeline.request import BuildRequest
    from curation.publish.push import PushRequest, PushResult, push
    from curation.publish.verify import verify
    from curation.system.errors import CsbdataError
    from curation.verification import Verification

__all__ = [
    "BuildRequest",
    "BuildResult",
    "CsbdataError",
    "ExtraSource",
    "FetchSettings",
    "Fit",
    "PushRequest",
    "PushResult",
    "SchemaInstances",
    "SchemaReport",
    "Verification",
    "build",
    "check",
    "decode",
    "fit_schema",
    "push",
    "verify",
    "witnesses",
]

#: Where a public name is defined.
_MODULES: Final = {
    "BuildRequest": "curation.pipeline.request",
    "BuildResult": "curation.pipeline.build",
    "CsbdataError": "curation.system.errors",
    "ExtraSource": "curation.pipeline.inputs",
    "FetchSettings": "curation.download.acquire",
    "Fit": "curation.fit.rewriting",
    "PushRequest": "curation.publish.push",
    "PushResult": "curation.publish.push",
    "SchemaInstances": "curation.instances.dataset.make_instances",
    "SchemaReport": "curation.checking.schema_check",
    "Verification": "curation.verification",
    "build": "curation.pipeline.build",
    "check": "curation.checking.schema_check",
    "decode": "curation.fit.answers",
    "fit_schema": "curation.fit.answers",
    "push": "curation.publish.push",
    "verify": "curation.publish.verify",
    "witnesses": "curation.instances.dataset.worker",
}


def __getattr__(name: str) -> object:
    """Return a public name, imported now (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
