"""The extras of csbdata, and the command that installs one."""

from __future__ import annotations

import re

from curation.system.errors import Unavailable

_OF_AN_EXTRA = re.compile(
    r"""^(?P<library>[\w-]+).*;\s*extra\s*==\s*['"](?P<extra>[^'"]+)['"]\s*$""",
    re.MULTILINE,
)


def install_extra(extra: str) -> str:
    """Return the command that installs what an extra holds."""
    return f"python -m pip install 'csbdata[{extra}]'"


def missing_library(error: ModuleNotFoundError) -> Unavailable | None:
    """Return what to say of a library that an extra of csbdata would bring.

    It names the smallest such extra. None if no extra holds it: then its absence is a
    defect.
    """
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - takes time

    library = (error.name or "").partition(".")[0]
    try:
        declared = "\n".join(requires("csbdata") or [])
    except PackageNotFoundError:
        return None
    held = [
        (match["library"].replace("-", "_"), match["extra"])
        for match in _OF_AN_EXTRA.finditer(declared)
    ]
    extras = [extra for _, extra in held]
    holding = [extra for name, extra in held if name == library]
    if not holding:
        return None
    # An extra lists what it includes in full: the shortest brings the least.
    then = install_extra(min(holding, key=extras.count))
    return Unavailable(f"this needs the library {library}", "", then)
