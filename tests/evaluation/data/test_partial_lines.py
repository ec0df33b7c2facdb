"""What of the data is no published schema is said, of what is measured alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import orjson
import pytest

from curation.core.benchmark import CONFIGS
from curation.packaging.manifest import FILE, ConfigFigures, read_manifest
from evaluation.data import partial_lines
from tests.builds import write_build

if TYPE_CHECKING:
    from pathlib import Path

_FIGURES = ConfigFigures(raw=1, kept=1, rejected={}, changed={}, splits={}, origin="")
_REASONS = ["Snowplow: taken from the embedded sample.", "Kubernetes: half of it."]


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """Return a build of which Snowplow is the sample and Kubernetes incomplete."""
    folder = write_build(tmp_path / "build")
    origins = dict.fromkeys(CONFIGS, "upstream") | {"Snowplow": "sample"}
    manifest = msgspec.structs.replace(
        read_manifest(folder),
        configs={
            name: msgspec.structs.replace(_FIGURES, origin=origin)
            for name, origin in origins.items()
        },
        partial=_REASONS,
    )
    (folder / FILE).write_bytes(orjson.dumps(msgspec.to_builtins(manifest)))
    return folder


def test_all_of_a_partial_build_says_what_is_sample(build: Path) -> None:
    """How many are real, what stands for what, and once: why else it is partial."""
    first, *reasons = partial_lines(build, ())
    assert "9 of the ten configs are real" in first
    assert "sample stands for Snowplow" in first
    assert reasons == _REASONS[1:]


@pytest.mark.parametrize(
    ("configs", "lines"),
    [
        (["Github_easy"], []),
        (["Kubernetes"], [_REASONS[1]]),
        (["Snowplow"], ["the embedded sample stands for Snowplow", _REASONS[0]]),
    ],
)
def test_what_is_not_measured_is_not_warned_of(
    build: Path, configs: list[str], lines: list[str]
) -> None:
    """Figures on real configs are real, whatever stands beside them."""
    assert list(partial_lines(build, configs)) == lines


def test_a_folder_that_is_no_build_says_nothing(tmp_path: Path) -> None:
    """Somebody's own tables make no claim."""
    assert partial_lines(tmp_path, ()) == ()


def test_a_manifest_that_cannot_be_read_is_said(build: Path) -> None:
    """What is not known is not taken for real."""
    (build / FILE).write_text("{}", "utf-8")
    (line,) = partial_lines(build, ())
    assert line.startswith("which configs are real is not known")
