"""A package's tarball from the npm registry, through the user's own npm."""

from __future__ import annotations

import os
import subprocess
from shutil import which
from typing import TYPE_CHECKING, Final

from curation.system.checksums import file_digest
from curation.system.errors import TemporarilyUnavailable, Unavailable, WrongDigest
from curation.system.programs import (
    environment_for_others,
    last_error,
    run_to_end,
)

if TYPE_CHECKING:
    from pathlib import Path

    from curation.download.cache import Cache
    from curation.download.http import Network
    from curation.download.pins import ArchivePin

#: Seconds for one tarball; the one that is pinned has 29 MB.
DEADLINE: Final = 600.0
_SERVICE: Final = "the npm registry"


def npm_environment() -> dict[str, str]:
    """Return the environment of npm: its own variables name the user's registry."""
    return environment_for_others() | {
        name: value
        for name, value in os.environ.items()
        if name.lower().startswith("npm_config_")
    }


def download_npm_package(
    pin: ArchivePin, folder: Path, network: Network, cache: Cache
) -> Path:
    """Return a package's tarball, which has the sha256 of its pin, if that has one.

    `npm pack` only downloads: no script of the package is run.

    Raises:
        Unavailable: there is no npm, or it cannot get it (exit 69).
        TemporarilyUnavailable: npm does not end in time (exit 75).
        WrongDigest: the registry gives another; it is kept as evidence (exit 65).
    """
    if _SERVICE in network.silent:
        raise Unavailable("did not answer before", _SERVICE)
    program = which("npm")
    if program is None:
        then = f"install npm, or put {pin.file} into a mirror (--mirror)"
        raise Unavailable("there is no npm here", _SERVICE, then)
    request = f"{pin.repository}@{pin.commit}"
    command = [program, "pack", request, "--ignore-scripts", "--silent"]
    try:
        ended = run_to_end(
            command,
            DEADLINE,
            environment=npm_environment(),
            folder=folder,
            errors_only=True,
        )
    except subprocess.TimeoutExpired as error:
        what = f"npm did not end within {DEADLINE:g} seconds"
        raise TemporarilyUnavailable(what, _SERVICE) from error
    file = folder / pin.file
    if ended.code or not file.is_file():
        network.silent.add(_SERVICE)
        what = f"npm cannot get {request} ({last_error(ended.printed)})"
        raise Unavailable(what, _SERVICE)
    found = file_digest(file)
    if pin.sha256 and found != pin.sha256:
        evidence = cache.refuse(file, f"{found[:16]}-{file.name}")
        what = f"{request} has sha256 {found}, the pin says {pin.sha256}"
        raise WrongDigest(what, _SERVICE, f"refused, kept as {evidence}")
    return file
