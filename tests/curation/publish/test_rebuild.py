"""A folder against a new build of what its manifest names."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from curation.cli import application
from curation.core.documents import Origin
from curation.dataset.summary import Pin
from curation.download.acquire import FetchSettings
from curation.pipeline.inputs import pinned_inputs
from curation.system.errors import BadData, Unavailable
from curation.system.progress import Quiet
from tests.curation.verification.tampering import RECORDS, record

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_a_build_comes_out_again_and_an_edit_is_named(
    sample_build: Path, tmp_path: Path
) -> None:
    """Exit 0 for a build as it was made; 65 and the names of the files for another."""
    folder = copytree(sample_build, tmp_path / "built")
    done = CliRunner().invoke(application(), ["verify", str(folder), "--rebuild"])
    assert done.exit_code == 0, done.output
    record(json_schema="{}")(folder)
    (folder / "mine.txt").write_text("Mine.")
    done = CliRunner().invoke(application(), ["verify", str(folder), "--rebuild"])
    assert done.stdout.split() == [RECORDS, "mine.txt"]
    assert isinstance(done.exception, BadData)
    assert "a new build gives 2 other files" in str(done.exception)


@pytest.mark.parametrize(
    ("origin", "sha256", "error"),
    [
        (Origin.LOCAL, "", Unavailable("schemas of your own", "")),
        (Origin.SAMPLE, "0" * 64, BadData("its digest is", "")),
        (Origin.UPSTREAM, "0" * 64, Unavailable("cannot be had here", "")),
    ],
)
def test_a_source_is_read_from_its_pin_or_not_at_all(
    tmp_path: Path, origin: Origin, sha256: str, error: Exception
) -> None:
    """The sample never stands for an archive, nor an archive for another."""
    pin = Pin(
        source="github",
        archive="json-schema-corpus",
        origin=origin,
        commit="",
        sha256=sha256,
        licence="",
    )
    settings = FetchSettings(cache=tmp_path, offline=True)
    with pytest.raises(type(error), match=str(error).partition(":")[0]):
        pinned_inputs([pin], "clean", settings, Quiet())
