"""One build of the embedded sample, with instances, to be verified and spoilt."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from curation.pipeline.build import BuildRequest, build
from curation.system.progress import Quiet

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a build of the sample, to be read only."""
    out = tmp_path_factory.mktemp("sound") / "built"
    build(BuildRequest(out=out, sample=True, instances=True, jobs=2), Quiet())
    return out


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    """Return a build of the sample that a test may spoil."""
    return copytree(sound, tmp_path / "built")
