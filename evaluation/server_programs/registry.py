"""The server programs there are: every file of `known` that holds a `PROGRAM`.

Another package adds one through the entry point group `csbdata.server_programs` (the
`ServerProgram` itself, or a module that holds one as `PROGRAM`).
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from curation.system.errors import Unavailable
from curation.system.registry import Registry
from evaluation.server_programs.server_program import ServerProgram

if TYPE_CHECKING:
    from pathlib import Path

_REGISTRY = Registry[ServerProgram](
    noun="server program",
    classes=(ServerProgram,),
    attribute="PROGRAM",
    groups=("csbdata.server_programs",),
    package="evaluation.server_programs.known",
)


def server_program(name: str) -> ServerProgram:
    """Return a server program by its name.

    Raises:
        BadConfiguration: there is none of this name; the message names alike ones.
    """
    known = _REGISTRY.by_name()
    if name not in known:
        raise _REGISTRY.unknown(name, known)
    return known[name]


def environment_of(program: ServerProgram, cache: Path) -> Path:
    """Return where a program's own virtual environment is, or would be."""
    return cache / "servers" / program.name


def find_executable(program: ServerProgram, cache: Path) -> Path:
    """Return the file that is run.

    Raises:
        Unavailable: the program is not installed; says which commands install it.
    """
    folder = environment_of(program, cache)
    places = folder / ("Scripts" if os.name == "nt" else "bin")
    found = places / program.executable
    if found.is_file() and os.access(found, os.X_OK):
        return found
    made = shlex.join(["python", "-m", "venv", str(folder)])
    installed = shlex.join([str(places / "pip"), "install", program.distribution])
    raise Unavailable(
        f"{program.name} is not installed in an environment of its own",
        str(folder),
        f"{made} && {installed}",
    )
