"""The registry: what is there, third parties, duplicates, misspelt names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.benchmark import CONFIGS
from curation.sources import registry
from curation.sources.registry import source_named, sources
from curation.system.errors import BadConfiguration, BadUsage
from tests.distributions import lay_out_distribution

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

THIRD_PARTY = """
from curation.sources.base import Source

def read(reading):
    return iter(())

SOURCE = Source(
    name={name!r},
    title="Of a third party",
    configs=({config!r},),
    archives={{"clean": ("theirs",)}},
    read=read,
    extra=True,
)
"""


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Discover anew, and leave nothing behind for other tests."""
    sources.cache_clear()
    yield
    sources.cache_clear()


def install(folder: Path, module: str, text: str) -> None:
    """Lay out a distribution with a source."""
    lay_out_distribution(folder, module, text, registry.GROUP, module)


def test_the_ten_configs_have_a_source_each() -> None:
    """Those that are not extra fill the ten configs, and nothing else."""
    filled = [
        config
        for source in sources().values()
        if not source.extra
        for config in source.configs
    ]
    assert sorted(filled) == sorted(CONFIGS)
    assert {each.name for each in sources().values() if each.extra} == {
        "corpus",
        "local",
        "tool-schemas",
    }


def test_the_registry_cannot_be_changed() -> None:
    """It is frozen once it is made."""
    with pytest.raises(TypeError):
        sources()["x"] = source_named("github")  # type: ignore[index]  # the claim


def test_a_third_party_adds_a_source_in_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry point in a folder on the path is enough; no other file is edited."""
    text = THIRD_PARTY.format(name="theirs", config="Theirs")
    install(tmp_path, "of_theirs", text)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert source_named("theirs").configs == ("Theirs",)
    assert "theirs" in sources()


def test_a_config_is_taken_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No second source may fill it."""
    text = THIRD_PARTY.format(name="theirs", config="Kubernetes")
    install(tmp_path, "same_config", text)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadConfiguration, match="Kubernetes"):
        sources()


def test_a_misspelt_name_is_wrong_usage() -> None:
    """The source that may be meant is named."""
    with pytest.raises(BadUsage, match="did you mean github"):
        source_named("githb")
