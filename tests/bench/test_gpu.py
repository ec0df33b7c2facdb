"""The part `gpu` runs: whole where there is a GPU, in tiny on a processor."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import pytest
import torch

from bench.model import gpu, gpu_slot
from bench.model.gpu_texts import differing_texts
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


def _options(folder: Path, minutes: float = 9.0) -> argparse.Namespace:
    return argparse.Namespace(
        dry_run=False,
        minutes=minutes,
        figures=folder / "figures.jsonl",
        gpu_engines=[],
    )


def test_without_a_gpu_it_says_that_it_was_not_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With what the figures are to reach, and no figure."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    found = gpu.measure(_options(tmp_path))
    assert found == {"not_run": "no CUDA device", "targets": gpu.TARGETS}


def test_each_figure_is_written_at_once_and_one_that_fails_costs_no_other(
    tmp_path: Path,
) -> None:
    """A figure that there is no time for is `not_run`, with the seconds left."""
    options = _options(tmp_path)
    slot = gpu._Slot(options, tmp_path)

    def broken(_until: float) -> dict[str, float]:
        raise SystemExit("no memory")

    slot.figure("one", 1, 10, broken)
    (line,) = options.figures.read_text().splitlines()
    assert json.loads(line)["found"] == {"not_measured": "SystemExit: no memory"}
    slot.figure("two", 1, 10, lambda _until: {"us": 3.5})
    slot.figure("three", 9999, 9999, broken)
    lines = [json.loads(each) for each in options.figures.read_text().splitlines()]
    assert [each["figure"] for each in lines] == ["one", "two", "three"]
    assert lines[1]["found"] == {"us": 3.5}
    assert "s are left, it needs about 9999" in lines[2]["found"]["not_run"]


@pytest.mark.slow
def test_the_slot_needs_nothing_that_the_machine_has_not(tmp_path: Path) -> None:
    """From a bare tree, without a network, every other package missing: all figures."""
    (tmp_path / "cache").mkdir()
    lines = gpu_slot.dry_run(tmp_path / "cache")
    found = {line["figure"]: line["found"] for line in lines}
    for name in ("steps", "engines_32", "engines_1", "mask", "generate"):
        assert "not_measured" not in found[name], found[name]
    ratios = found["engines_32"]["beside_none"]
    assert set(ratios) >= {"again", "llguidance"}
    assert found["steps"]["batch_2"]["decoded_tokens_per_second"] > 0


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
