"""A tokenizer from the Hub: its small files, at a revision, and how refusals end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadData, NoInput, NotPermitted
from evaluation.tokenizers import get_tokenizer
from tests.evaluation.tokenizers import made
from tests.publishing import connected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fake_hub import FakeHub

NAME = "tester/model"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """A Hub on loopback that the client is turned to."""
    with connected(monkeypatch, tmp_path / "home") as connection:
        yield connection.hub


@pytest.fixture
def settings(tmp_path: Path) -> FetchSettings:
    """Keep everything below one folder."""
    return FetchSettings(mirror=None, cache=tmp_path / "cache")


def _files(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def test_a_model_of_the_hub_gives_its_tokenizer(
    hub: FakeHub, settings: FetchSettings, tmp_path: Path
) -> None:
    """Its tokenizer is that of the same files in a folder, and no weights come."""
    folder = made.byte_level(tmp_path / "a", padding=3)
    hub.store.put(NAME, {**_files(folder), "model.safetensors": b"w" * 999})
    files = get_tokenizer(NAME, settings)
    assert files.digest == get_tokenizer(str(folder), settings).digest
    assert get_tokenizer(f"{NAME}@main", settings).digest == files.digest
    assert not any("safetensors" in each.path for each in hub.asked)
    assert not list((tmp_path / "home").rglob("*.safetensors"))


def test_what_the_hub_does_not_have_is_said(
    hub: FakeHub, settings: FetchSettings, tmp_path: Path
) -> None:
    """No such model, no such revision, no tokenizer in it: one line each."""
    hub.store.put(NAME, {"README.md": b"words"})
    for name in ("tester/none", f"{NAME}@v9"):
        with pytest.raises((NoInput, NotPermitted), match=name):
            get_tokenizer(name, settings)
    with pytest.raises(NoInput, match="no tokenizer"):
        get_tokenizer(NAME, settings)


def test_a_broken_tokenizer_of_the_hub_is_refused(
    hub: FakeHub, settings: FetchSettings
) -> None:
    """What a model calls its tokenizer is not believed."""
    hub.store.put(NAME, {"tokenizer.json": b'{"model": 1}'})
    with pytest.raises(BadData, match=r"tokenizer\.json"):
        get_tokenizer(NAME, settings)
