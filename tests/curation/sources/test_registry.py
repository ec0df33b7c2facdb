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


def install(folder: Path, module: str, text: str, target: str) -> None:
    """Lay out a distribution with a source."""
    lay_out_distribution(folder, module, text, registry.GROUP, target)


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


@pytest.mark.parametrize("target", ["theirs", "theirs:SOURCE"])
def test_a_third_party_adds_a_source_in_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """An entry point in a folder on the path is enough; no other file is edited."""
    module = f"theirs_{target.count(':')}"
    text = THIRD_PARTY.format(name="theirs", config="Theirs")
    install(tmp_path, module, text, target.replace("theirs", module))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert source_named("theirs").configs == ("Theirs",)
    assert "theirs" in sources()


@pytest.mark.parametrize(
    ("module", "name", "config"),
    [("same_name", "github", "Theirs"), ("same_config", "theirs", "Kubernetes")],
)
def test_a_duplicate_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str, config: str
) -> None:
    """Neither a source's name nor a config can be taken twice."""
    text = THIRD_PARTY.format(name=name, config=config)
    install(tmp_path, module, text, module)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadConfiguration, match=r"github|Kubernetes"):
        sources()


def test_an_entry_point_must_name_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anything else is refused, and the entry point named."""
    install(tmp_path, "not_a_source", "SOURCE = 3\n", "not_a_source")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadConfiguration, match="not_a_source"):
        sources()


@pytest.mark.parametrize(
    ("name", "message"),
    [("githb", "did you mean github"), ("zzz", "there is no source 'zzz'")],
)
def test_a_misspelt_name_is_met_with_what_it_may_mean(name: str, message: str) -> None:
    """The error is one line and holds the names that are alike."""
    with pytest.raises(BadUsage, match=message):
        source_named(name)
