"""The build that a part measures with: one asked for, the local one, or the sample."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = Path(__file__).resolve().parents[1]


class Build(NamedTuple):
    """A build by the rules `clean`, and what to call it."""

    folder: Path
    #: `build` or `sample`.
    name: str


@contextmanager
def clean_build(asked: Path | None, *options: str) -> Iterator[Build]:
    """Give the build asked for, else the local one, else one of the sample.

    The sample is built with the options given.

    Raises:
        SystemExit: the folder asked for is no clean build.
        subprocess.CalledProcessError: the sample does not build.
    """
    folder = asked or _ROOT / "build" / "JSONSchemaBench"
    if _is_clean(folder):
        yield Build(folder, "build")
        return
    if asked:
        raise SystemExit(f"{asked}: no build by the rules `clean`")
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary) / "JSONSchemaBench"
        command = [sys.executable, "-m", "curation", "build", "--sample", "--offline"]
        command += [*options, "--out", str(out)]
        subprocess.run(command, stdout=sys.stderr, cwd=_ROOT, check=True)
        yield Build(out, "sample")


def _is_clean(build: Path) -> bool:
    manifest = build / "manifest.json"
    return manifest.is_file() and json.loads(manifest.read_bytes())["rules"] == "clean"
