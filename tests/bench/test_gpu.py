"""The part `gpu` runs: whole where there is a GPU, in tiny on a processor."""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING

import pytest
import torch

from bench.model import gpu, gpu_slot
from bench.model.gpu_figures import (
    beside,
    interleaved,
    mask_cost,
    needed_bytes,
)
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


def test_the_most_wanted_figures_come_first(tmp_path: Path) -> None:
    """Those of the 8B shape and its engines before all that compiles or loads more."""
    names = list(gpu._Slot(_options(tmp_path), tmp_path).figures)
    assert names[:4] == ["bandwidth", "steps", "engines_32", "engines_1"]


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


def test_only_what_is_there_or_carried_can_be_imported() -> None:
    """The dry run would not notice what is missing otherwise."""
    names = set(gpu_slot._importable())
    assert {"torch", "transformers", "msgspec", "numpy", "evaluation"} <= names
    assert not names & {"polars", "jsonschema", "jsonschema_rs", "matplotlib", "gguf"}


def test_too_much_to_carry_is_refused(tmp_path: Path) -> None:
    """20 MB at most, and both sizes are said."""
    (tmp_path / "a.whl").write_bytes(b"0" * 20_000_001)
    with pytest.raises(SystemExit, match="20,000,001 bytes; 20,000,000 can be carried"):
        gpu_slot.carried_bytes(tmp_path)


def test_kinds_take_turns_in_another_order_each_round() -> None:
    """And a round that would begin too late is left out, after the first three."""
    order: list[str] = []

    def noted(name: str) -> float:
        order.append(name)
        return float(len(order))

    kinds = {name: lambda _number, name=name: noted(name) for name in "abc"}
    found = interleaved(kinds, 9, time.monotonic() - 1)
    assert "".join(order) == "abcbcacababc"
    assert [len(each) for each in found.values()] == [3, 3, 3]
    assert beside({"a": [1.0, 2.0], "b": [2.0, 4.0]}, "a")["b"]["value"] == 2.0


def test_bytes_of_a_step_leave_out_what_is_only_looked_up(
    model: TransformersModel,
) -> None:
    """Of the embedding the rows of the batch; keys and values of what is there."""
    config = model.module.config
    table = model.module.get_input_embeddings().weight
    weights = sum(part.nbytes for part in model.module.parameters()) - table.nbytes
    of_a_token = 2 * config.num_hidden_layers * config.num_key_value_heads * 8 * 4
    needed = needed_bytes(model, 3, 10)
    assert needed == weights + 3 * 32 * 4 + 3 * 11 * of_a_token


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
