"""Models by name are files, and another package adds one without a change to ours."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadConfiguration
from evaluation.models.store import get_model, named_models

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("torch")
pytest.importorskip("transformers")

_THEIRS = """
from evaluation.models.store import NamedModel

def load(loading, settings, say):
    say("made of nothing")
    return (loading.device, settings.offline)

MODEL = NamedModel(name={name!r}, summary="a model of their own", load=load)
"""


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Look for models anew, and leave nothing behind for other tests."""
    named_models.cache_clear()
    yield
    named_models.cache_clear()


def _add(folder: Path, module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a model to a file of a folder, as if it were one of ours."""
    (folder / f"{module}.py").write_text(_THEIRS.format(name=name), "utf-8")
    package = import_module("evaluation.models.known")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])


def test_every_file_with_a_model_is_one() -> None:
    """Each under the name that it gives itself; nothing heavy is loaded for that."""
    assert list(named_models()) == ["smollm2"]


def test_a_file_adds_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else is edited: `--model theirs` loads it, with what was asked for."""
    from evaluation.models.loading import LoadOptions  # noqa: PLC0415 - needs torch

    _add(tmp_path, "their_model", "theirs", monkeypatch)
    settings = FetchSettings(mirror=None, cache=tmp_path, offline=True)
    said: list[str] = []
    loading = LoadOptions(device="cpu")
    found: object = get_model("theirs", loading, settings, said.append)
    assert found == ("cpu", True)
    assert said == ["made of nothing"]


def test_a_second_model_of_a_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says which name, and where it was found."""
    _add(tmp_path, "their_smollm2", "smollm2", monkeypatch)
    with pytest.raises(BadConfiguration, match="a second model named 'smollm2'"):
        named_models()
