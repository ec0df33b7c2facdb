"""The part `gpu` runs: whole where there is a GPU, in small on a processor."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest
import torch

from bench.model import gpu
from bench.model.gpu_figures import (
    bandwidth,
    beside_generate,
    differing_texts,
    mask_cost,
    under_engines,
)
from curation.download.acquire import FetchSettings
from evaluation.models.loading import LoadOptions, load_model
from tests.evaluation.small_model import small_model

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.models.transformers import TransformersModel


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TransformersModel:
    """Return a small model."""
    folder = small_model(tmp_path_factory.mktemp("model"))
    return load_model(folder, LoadOptions(device="cpu", dtype="fp32"))


def test_without_a_gpu_it_says_that_it_was_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With what the figures are to reach, and no figure."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    found = gpu.measure(argparse.Namespace())
    assert found == {"not_run": "no CUDA device", "targets": gpu.TARGETS}


@pytest.mark.slow
def test_its_figures_are_computed_in_small_on_a_processor(
    model: TransformersModel, tmp_path: Path
) -> None:
    """Bandwidth, decoding beside `generate`, and two batches under an engine."""
    speed = bandwidth(torch.device("cpu"), 2**16)["bytes_per_second"]
    assert speed > 0
    decoded = beside_generate(
        model, prompt=6, new=4, rounds=2, bytes_per_second=speed, static=False
    )
    assert set(decoded["ms_per_token"]) == {"ours", "generate"}
    assert decoded["bandwidth_share"] > 0
    assert decoded["beside"]["generate"]["value"] > 0
    settings = FetchSettings(cache=tmp_path)
    found = under_engines(model, ["llguidance"], settings, (1, 2), new=6)
    assert found["llguidance_batch_2"]["value"] > 0
    assert set(found["tokens_per_second"]) == {"1", "2"}


def test_the_cost_of_masks_is_that_of_a_step() -> None:
    """In small, on a processor."""
    found = mask_cost(torch.device("cpu"), 2, 640)
    assert (found["texts"], found["vocabulary"]) == (2, 640)
    assert found["us"] > 0


@pytest.mark.slow
def test_a_text_that_differs_has_a_cause(
    model: TransformersModel, tmp_path: Path
) -> None:
    """The same model writes the same; other weights write others, and not by ties."""
    same = differing_texts(model, model, 2, 6)
    assert (same["same"], same["share"]) == (2, 1.0)
    other = load_model(small_model(tmp_path), LoadOptions(device="cpu", dtype="fp32"))
    with torch.no_grad():
        for part in other.module.parameters():
            part.neg_()
    differing = differing_texts(model, other, 2, 6)
    assert differing["other"] == 2
