"""The libraries of an extra of csbdata, and the command that installs them."""

from __future__ import annotations

import re
import shlex
from importlib.metadata import PackageNotFoundError, requires

_EXTRA = re.compile(r"""\s*;\s*extra\s*==\s*['"](?P<extra>[^'"]+)['"]\s*$""")
_NESTED = re.compile(r"^csbdata\[(?P<extras>[^\]]+)\]$")


def install_extra(extra: str) -> str:
    """Return the command that installs what an extra holds.

    Example:
        >>> install_extra("strategies")
        "python -m pip install 'hypothesis>=6.170'"
    """
    libraries = libraries_of(extra) or [f"csbdata[{extra}]"]
    return f"python -m pip install {shlex.join(libraries)}"


def libraries_of(extra: str) -> list[str]:
    """Return the libraries of an extra with their versions, in order of their names."""
    try:
        declared = requires("csbdata") or []
    except PackageNotFoundError:
        return []
    libraries: set[str] = set()
    for line in declared:
        marker = _EXTRA.search(line)
        if marker is None or marker["extra"] != extra:
            continue
        library = line[: marker.start()]
        nested = _NESTED.match(library)
        for inner in nested["extras"].split(",") if nested else ():
            libraries.update(libraries_of(inner))
        if not nested:
            libraries.add(library)
    return sorted(libraries)
