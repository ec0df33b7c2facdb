"""A device that fails is one clear line, whenever it does; a full one is another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from curation.system.errors import Unavailable
from evaluation.models import hardware, loading
from evaluation.models.loading import LoadOptions, load_model
from tests.evaluation.small_model import small_model

if TYPE_CHECKING:
    from pathlib import Path

_BUSY = "CUDA error: all CUDA-capable devices are busy or unavailable\nmore"
_FULL = "CUDA out of memory. Tried to allocate 2.00 GiB.\nmore"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small model."""
    return small_model(tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (torch.AcceleratorError(_BUSY), "has failed (CUDA error: all CUDA-capable"),
        (torch.OutOfMemoryError(_FULL), "has no memory left for it (CUDA out of"),
    ],
    ids=["busy", "full"],
)
def test_a_device_that_takes_no_model_is_told_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    """While it is loaded; the message says where to look."""

    def fails(*_given: object) -> None:
        raise error

    monkeypatch.setattr(loading, "_loaded", fails)
    with pytest.raises(Unavailable) as told:
        load_model(folder, LoadOptions(device="cpu"))
    assert said in told.value.what
    assert "\n" not in told.value.what
    assert "nvidia-smi" in told.value.then


def test_streams_and_events_are_those_of_the_models_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second GPU is made the present one, and a processor changes nothing."""
    chosen: list[int] = []
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    for name in ("cpu", "cuda:1", "cuda"):
        hardware.make_current(torch.device(name))
    assert chosen == [1, 0]
