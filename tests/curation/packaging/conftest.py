"""One build of the embedded sample for all tests of what a folder tells of itself."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from curation.pipeline.build import BuildRequest, build
from curation.system.progress import Quiet

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a build of the sample, to be read only."""
    out = tmp_path_factory.mktemp("sample") / "built"
    build(BuildRequest(out=out, sample=True, jobs=1), Quiet())
    return out


@pytest.fixture
def built(sample: Path, tmp_path: Path) -> Path:
    """Return a build of the sample that a test may spoil."""
    return copytree(sample, tmp_path / "built")
