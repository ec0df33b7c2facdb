"""A build is pushed as a user does it: verified by the real checks, then sent."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from curation.publish.push import PushOutcome, PushRequest, push
from curation.system.errors import BadData
from tests.publishing import HASTY, NAME, UPLOAD_WARNING, Connection, contents

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings(UPLOAD_WARNING)]


def _request(folder: Path) -> PushRequest:
    return PushRequest(folder=folder, repo=NAME, allow_partial=True, time_limits=HASTY)


def test_a_build_is_verified_and_pushed(
    there: Connection, sample_build: Path, tmp_path: Path
) -> None:
    """It appears whole; with one origin of its manifest changed, nothing is sent."""
    done = push(_request(sample_build))
    assert done.outcome is PushOutcome.PUSHED
    assert there.seen() == contents(sample_build)
    spoilt = copytree(sample_build, tmp_path / "spoilt")
    manifest = spoilt / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"sample"', '"upstream"', 1))
    commits = there.commits
    with pytest.raises(BadData, match="does not verify"):
        push(_request(spoilt))
    assert there.commits == commits
