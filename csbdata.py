"""Curate JSON Schemas into JSONSchemaBench; measure engines and models on it.

`import csbdata` offers the public names of `curation` and `evaluation`, and makes these
two names mean csbdata's own packages, even if a folder of such a name comes earlier on
the path. `csbdata.main` is the command line.

Example:
    >>> import csbdata
    >>> csbdata.check({"type": "object"}).problems
    ()
"""

from __future__ import annotations

import atexit
import gc
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    __version__: str

    from curation import *  # noqa: F403 - what it exports
    from evaluation import *  # noqa: F403 - as above

_PACKAGES: Final = ("curation", "evaluation")
#: The folder that holds this module and both packages.
_HOME: Final = Path(__file__).resolve().parent


class _OwnPackages:
    """An import finder that finds both packages beside this module first."""

    @staticmethod
    def find_spec(
        name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of one of both packages; None for any other module."""
        return PathFinder.find_spec(name, [str(_HOME)]) if name in _PACKAGES else None


def _prefer_own_packages() -> None:
    """Let imports find both packages beside this module.

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


def main() -> None:
    """Run the command line."""
    # Imports make much and no garbage, which is not searched for at the end either.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    from curation.cli import main as run  # noqa: PLC0415 - imports every command

    run()


def _public_names() -> dict[str, str]:
    return {
        name: package
        for package in _PACKAGES
        for name in import_module(package).__all__
    }


def __getattr__(name: str) -> object:
    """Return a public name of one of both packages, imported now (PEP 562).

    Or the version of the distribution, by the name `__version__`.
    """
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - takes time

        return version("csbdata")
    package = None if name.startswith("__") else _public_names().get(name)
    if package is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(package), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return ["main", *sorted(_public_names())]
