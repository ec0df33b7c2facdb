"""Which configs of a build are real, as its manifest says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from curation.core.benchmark import CONFIGS
from curation.packaging.manifest import (
    FILE,
    ConfigFigures,
    origins_of,
    read_manifest,
    read_origins,
)
from curation.system.errors import BadData
from tests.builds import write_build

if TYPE_CHECKING:
    from pathlib import Path

    from curation.packaging.manifest import Manifest


def manifest_with(folder: Path, origins: dict[str, str]) -> Manifest:
    """Return a manifest whose configs come from these places."""
    made = read_manifest(write_build(folder))
    figures = {
        config: ConfigFigures(
            raw=3, kept=2, rejected={"empty": 1}, changed={}, splits={}, origin=origin
        )
        for config, origin in origins.items()
    }
    return msgspec.structs.replace(made, configs=figures, partial=["X: why."])


def test_real_sample_and_absent_configs_are_told_apart(tmp_path: Path) -> None:
    """A config of the index is real, the sample's is not, and extras do not count."""
    given = {"Kubernetes": "index", "Snowplow": "sample", "Acme": "local"}
    found = origins_of(manifest_with(tmp_path, given))
    assert found.real == {"Kubernetes": "index"}
    assert found.sample == ("Snowplow",)
    assert set(found.absent) == set(CONFIGS) - {"Kubernetes", "Snowplow"}
    assert found.reasons == ("X: why.",)
    assert found.partial
    assert found.sentence.startswith(
        "1 of the ten configs is real; the embedded sample stands for Snowplow; without"
    )


def test_a_whole_build_is_not_partial(tmp_path: Path) -> None:
    """Ten real configs and no reason: there is nothing to warn of."""
    whole = manifest_with(tmp_path, dict.fromkeys(CONFIGS, "upstream"))
    found = origins_of(msgspec.structs.replace(whole, partial=[]))
    assert not found.partial
    assert found.sentence == "10 of the ten configs are real"


def test_the_sample_alone_says_that_nothing_is_real(sample_build: Path) -> None:
    """Of a build of the sample no config is real."""
    found = read_origins(sample_build)
    assert found is not None
    assert found.sample == CONFIGS
    assert found.sentence == (
        "none of the ten configs is real; the embedded sample stands for all ten"
    )


def test_a_folder_that_is_no_build_has_no_origins(tmp_path: Path) -> None:
    """Without a manifest nothing is claimed; a damaged one is an error."""
    assert read_origins(tmp_path) is None
    (tmp_path / FILE).write_text("{}")
    with pytest.raises(BadData):
        read_origins(tmp_path)
