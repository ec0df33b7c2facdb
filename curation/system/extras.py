"""The extras of csbdata, and the command that installs one."""

from __future__ import annotations

import re

from curation.system.errors import Unavailable

_OF_AN_EXTRA = re.compile(
    r"""(?P<library>[\w-]+).*;\s*extra\s*==\s*['"](?P<extra>[^'"]+)['"]\s*$"""
)


def install_extra(extra: str) -> str:
    """Return the command that installs what an extra holds."""
    return f"python -m pip install 'csbdata[{extra}]'"


def missing_library(error: ModuleNotFoundError) -> Unavailable | None:
    """Return what to say of a library that an extra of csbdata would bring.

    None if no extra holds it: then its absence is a defect.
    """
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - takes time

    library = (error.name or "").partition(".")[0]
    try:
        declared = requires("csbdata") or []
    except PackageNotFoundError:
        return None
    for line in declared:
        match = _OF_AN_EXTRA.match(line)
        if match and match["library"].replace("-", "_") == library:
            then = install_extra(match["extra"])
            return Unavailable(f"this needs the library {library}", "", then)
    return None
