"""The suites there are: every folder here whose module `suite` holds a `SUITE`.

Another package adds one through the entry point group `csbdata.suites` (the `Suite`
itself, or a module that holds one as `SUITE`). A folder anywhere else is one by its
path, as `csbdata suite run ./my_suite`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from curation.system.errors import BadConfiguration, NoInput
from curation.system.registry import Registry
from evaluation.core.suite import Suite

_REGISTRY = Registry[Suite[Any]](
    noun="suite",
    classes=(Suite,),
    attribute="SUITE",
    group="csbdata.suites",
    package="evaluation.suites",
    module="suite",
)


@cache
def suites() -> Mapping[str, Suite[Any]]:
    """Return every suite by name, in alphabetical order.

    Raises:
        BadConfiguration: two places define one name, or an entry point is not a suite.
    """
    return dict(sorted(_REGISTRY.by_name().items()))


def suite_named(name: str) -> Suite[Any]:
    """Return one suite.

    Args:
        name: Its name, or the path of a folder with a module `suite`; a path has a
            separator in it, or is absolute.

    Raises:
        BadConfiguration: unknown name; the message suggests similar ones.
        NoInput: missing folder.
    """
    if is_path(name):
        return _in_folder(Path(name).resolve())
    by_name = suites()
    if name not in by_name:
        raise _REGISTRY.unknown(name, by_name)
    return by_name[name]


def recorded_suite(name: str) -> Suite[Any]:
    """Return the suite that a run names; a folder's only if already loaded.

    A run may be a stranger's, and to read one runs no code that it names.

    Raises:
        BadConfiguration: unknown name, or its folder is not loaded.
        NoInput: missing folder.
    """
    is_known = "\0" not in name and f"{Path(name).resolve().name}.suite" in sys.modules
    if is_path(name) and not is_known:
        raise BadConfiguration(
            "the suite of a folder, whose code is not run to read a run",
            name,
            "its own tables: rerun the same csbdata suite run",
        )
    return suite_named(name)


def is_path(name: str) -> bool:
    """Return whether a suite is named by its folder."""
    return "/" in name or "\\" in name


@cache
def _in_folder(folder: Path) -> Suite[Any]:
    if not (folder / "suite.py").is_file():
        hint = "name a folder that holds suite.py, or one of csbdata suite --help"
        raise NoInput("no suite.py in it", str(folder), hint)
    if str(folder.parent) not in sys.path:
        sys.path.append(str(folder.parent))
    name = f"{folder.name}.suite"
    try:
        suite = _REGISTRY.in_module(name)
        module = import_module(name)
    except (Exception, SystemExit) as error:
        why = f"{type(error).__name__}: {error}"
        hint = (
            "CSBDATA_DEBUG=1 shows where; the folder's name has no dot, and is that of "
            "no other package"
        )
        message = f"its suite.py cannot be imported ({why})"
        raise BadConfiguration(message, str(folder), hint) from error
    if Path(str(module.__file__)).parent != folder:
        raise BadConfiguration(
            f"another package is called {folder.name!r}",
            str(folder),
            "give the folder another name",
        )
    if suite is None:
        raise BadConfiguration("its module `suite` holds no SUITE", str(folder))
    return suite
