"""A device that fails is one clear line, whenever it does; a full one is another."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import torch

from curation.system.errors import Unavailable
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import LoopOptions, TokenizedRequest
from evaluation.models import hardware, loading
from evaluation.models.kept_step import KeptStep, SlotCache, StepKind
from evaluation.models.loading import LoadOptions, load_model
from tests.evaluation.small_model import small_model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BUSY = "CUDA error: all CUDA-capable devices are busy or unavailable\nmore"
_FULL = "CUDA out of memory. Tried to allocate 2.00 GiB.\nmore"
_LOST = "CUDA error: device-side assert triggered\nmore"


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


def test_a_device_that_fails_before_the_first_text_ends_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While memory is taken and steps are captured; no text has a row for it."""

    def fails(_cache: SlotCache) -> None:
        raise torch.AcceleratorError(_LOST)

    monkeypatch.setattr(torch, "compile", lambda step, dynamic: step)  # noqa: ARG005 - as torch's own
    monkeypatch.setattr(SlotCache, "warm_up", fails)
    model = load_model(folder, LoadOptions(device="cpu", compile="compile"))
    asked = TokenizedRequest(id="a", schema="{}", prompt=(5, 6), budget=3)
    with pytest.raises(Unavailable, match=r"has failed \(CUDA error: device-side"):
        generate(model, [asked], [None], LoopOptions())


@dataclass(frozen=True)
class _Stream:
    name: str = "side"

    def wait_stream(self, other: _Stream) -> None:
        """Wait for nothing."""


class _Graphs:
    """What torch does when a graph is captured, without a GPU.

    As in torch, a capture that fails leaves its own stream as the present one.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, failure: str = "") -> None:
        self.present, self.replays = _Stream("main"), 0
        self._failure = failure
        for name, fake in {
            "Stream": _Stream,
            "current_stream": lambda: self.present,
            "stream": self._stream,
            "graph": self._graph,
            "CUDAGraph": lambda: self,
        }.items():
            monkeypatch.setattr(torch.cuda, name, fake)

    @contextmanager
    def _stream(self, wanted: _Stream) -> Iterator[None]:
        before, self.present = self.present, wanted
        try:
            yield
        finally:
            self.present = before

    @contextmanager
    def _graph(self, _graph: object) -> Iterator[None]:
        before, self.present = self.present, _Stream("capture")
        yield
        if self._failure:
            raise RuntimeError(self._failure)
        self.present = before

    def replay(self) -> None:
        """Count."""
        self.replays += 1


def _kept(ran: list[str], graphs: _Graphs) -> KeptStep:
    def step() -> torch.Tensor:
        ran.append(graphs.present.name)
        return torch.ones(1)

    return KeptStep(StepKind.GRAPHS, torch.device("cuda"), step)


def test_a_step_that_cannot_be_captured_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Run as it is, on the stream on which all else runs, and said."""
    graphs = _Graphs(monkeypatch, "operation not permitted when stream is capturing")
    ran: list[str] = []
    kept = _kept(ran, graphs)
    assert kept.run().tolist() == [1.0]
    assert "operation not permitted" in kept.trouble
    assert not kept.is_captured
    kept.run()
    assert ran[-2:] == ["main", "main"]
    assert graphs.replays == 0


def test_a_captured_step_is_launched_and_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three runs beside, one captured, and one in the place of the first."""
    graphs = _Graphs(monkeypatch)
    ran: list[str] = []
    kept = _kept(ran, graphs)
    kept.run()
    assert kept.is_captured
    assert ran == ["side", "side", "side", "capture", "main"]
    kept.run()
    assert (len(ran), graphs.replays) == (5, 1)


def test_streams_and_events_are_those_of_the_models_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second GPU is made the present one, and a processor changes nothing."""
    chosen: list[int] = []
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    for name in ("cpu", "cuda:1", "cuda"):
        hardware.make_current(torch.device(name))
    assert chosen == [1, 0]
