"""The part `gpu` stops where something is wrong, and goes through it all in tiny."""

from __future__ import annotations

import argparse
import json
import logging
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.late import Late
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import torch
    from transformers.cache_utils import StaticLayer

    from bench.model import gpu, gpu_correct, gpu_figures, gpu_slot
    from evaluation.models.forward import ForwardPass, SharedRows
    from evaluation.models.hardware import make_current
    from evaluation.models.token_choice import TokenChooser
    from evaluation.models.transformers import TransformersModel

    Plant = Callable[[pytest.MonkeyPatch], None]
else:
    torch = Late("torch")
    gpu = Late("bench.model.gpu")
    gpu_correct = Late("bench.model.gpu_correct")
    gpu_figures = Late("bench.model.gpu_figures")
    gpu_slot = Late("bench.model.gpu_slot")
    StaticLayer = Late("transformers.cache_utils", "StaticLayer")
    ForwardPass = Late("evaluation.models.forward", "ForwardPass")
    SharedRows = Late("evaluation.models.forward", "SharedRows")
    make_current = Late("evaluation.models.hardware", "make_current")
    TokenChooser = Late("evaluation.models.token_choice", "TokenChooser")


def _options(folder: Path, minutes: float = 9.0) -> argparse.Namespace:
    return argparse.Namespace(dry_run=True, minutes=minutes, out=folder)


def _lines(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "figures.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def slot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> gpu.Slot:
    """Return a slot that compiles nothing."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        "bench.model.gpu.VARIANTS", ("loop", "batch", "eager", "static", "")
    )
    monkeypatch.setattr(
        "bench.model.gpu.check_masks", partial(gpu_correct.check_masks, engines=())
    )
    return gpu.Slot(_options(tmp_path), tmp_path)


def _shift_a_row(patch: pytest.MonkeyPatch) -> None:
    """Shift one row of a mask by one byte."""
    whole = TokenChooser._on_device

    def shifted(self: TokenChooser, masks: Any, width: int) -> torch.Tensor:  # noqa: ANN401 - as the library has it
        packed = whole(self, masks, width).clone()
        packed[2] = packed[2].roll(1)
        return packed

    patch.setattr("evaluation.models.token_choice.TokenChooser._on_device", shifted)


def _shift_positions(patch: pytest.MonkeyPatch) -> None:
    """Put every token of a batch one position too far."""
    whole = ForwardPass.over_texts

    def shifted(self: ForwardPass, *arguments: Any) -> torch.Tensor:  # noqa: ANN401 - as the library has it
        # Prompts are read without positions.
        tokens, cache, *others = arguments
        if others:
            others[0] = others[0] + 1
        return whole(self, tokens, cache, *others)

    patch.setattr("evaluation.models.forward.ForwardPass.over_texts", shifted)


def _shift_a_cache(patch: pytest.MonkeyPatch) -> None:
    """Put keys one place beside where they are, after every pass of a batch."""
    whole = SharedRows.feed

    def shifted(self: SharedRows, rows: Any) -> torch.Tensor:  # noqa: ANN401 - as the library has it
        logits = whole(self, rows)
        layers: Any = self._cache.layers if self._cache else []
        for layer in layers:
            layer.keys = layer.keys.roll(1, dims=2)
        return logits

    patch.setattr("evaluation.models.forward.SharedRows.feed", shifted)


def _shift_a_static_cache(patch: pytest.MonkeyPatch) -> None:
    """Read the keys of a cache of fixed size one place beside where they are."""
    whole = StaticLayer.update

    def shifted(self: StaticLayer, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as the library has it
        keys, values = whole(self, *arguments, **named)
        return keys.roll(1, dims=2), values

    patch.setattr("transformers.cache_utils.StaticLayer.update", shifted)


@pytest.mark.slow
def test_right_tokens_and_masks_pass(slot: gpu.Slot) -> None:
    """All 60 tokens of each variant, and all rows of a mask, are as they should be."""
    found = slot.figure("correct", 60)
    assert found["masks"] == {"loop": {"equal_rows": 4}}
    for name in ("loop", "batch", "eager", "static"):
        assert found["tiny"][name] == {"compared": 60, "differ": 0, "ties": 0}, name
    assert found["1b_bf16"]["loop"]["differ"] < 30


@pytest.mark.parametrize(
    ("plant", "where"),
    first_fast(
        1,
        [
            (_shift_a_row, "mask applied by loop: row 2, token "),
            (_shift_positions, "loop, prompt of 24 tokens: token "),
            (_shift_a_cache, "loop, prompt of 24 tokens: token "),
            (_shift_a_static_cache, "static, prompt of 24 tokens: token "),
        ],
    ),
)
def test_a_fault_stops_the_slot_which_says_where(
    slot: gpu.Slot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    plant: Plant,
    where: str,
) -> None:
    """A mask or a cache that is off by one: nothing is timed."""
    load = gpu_figures.load

    def load_and_plant(*arguments: str) -> TransformersModel:
        # A fault that is there while a model is loaded is found by its trial.
        model = load(*arguments)
        plant(monkeypatch)
        return model

    if plant is _shift_a_row:
        plant(monkeypatch)
    monkeypatch.setattr("bench.model.gpu.load", load_and_plant)
    with pytest.raises(SystemExit, match="the slot stops") as stopped:
        slot.run()
    assert where in str(stopped.value)
    (line,) = _lines(tmp_path)
    assert line["found"]["differs"].startswith(where)


def test_what_cannot_be_checked_stops_the_slot_too(
    slot: gpu.Slot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without memory for the model no token is known to be right."""
    monkeypatch.setattr("evaluation.models.hardware.free_memory", lambda _device: 99)
    with pytest.raises(SystemExit, match="its weights take"):
        slot.run()
    assert [line["figure"] for line in _lines(tmp_path)] == ["correct"]


def test_a_figure_that_fails_costs_no_other_and_keeps_its_warnings(
    slot: gpu.Slot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is written at once; one that does not end is ended."""

    def fail(*_: object) -> None:
        logging.getLogger("library").warning("a slow path")
        raise RuntimeError("no kernel")

    monkeypatch.setattr("bench.model.gpu.mask_cost", fail)
    slot.figure("mask", 60)
    (line,) = _lines(tmp_path)
    assert line["found"] == {"not_run": "RuntimeError: no kernel"}
    assert line["warnings"] == ["a slow path"]

    def hang(*_: object) -> None:
        with suppress(Exception):  # as a library may do
            time.sleep(60)

    monkeypatch.setattr("bench.model.gpu.mask_cost", hang)
    slot._until = time.monotonic() + 4.2
    assert slot.figure("mask", 60)["not_run"].endswith("no more within 4 s")
    assert slot.figure("bandwidth", 60)["not_run"] == "the time of the slot is up"
    assert len(_lines(tmp_path)) == 3


def test_a_figure_that_does_not_fit_is_not_begun(
    slot: gpu.Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate and the free memory are there, and nothing was asked for."""
    monkeypatch.setattr("evaluation.models.hardware.free_memory", lambda _device: 2**20)
    found = slot.figure("bandwidth", 60)
    assert found["memory_gib"] == {"estimate": 2 / 1024, "free": 1 / 1024}
    assert found["not_run"].startswith("MemoryError: 2.1e+06 bytes are needed")


def test_without_a_gpu_it_says_that_it_was_not_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And writes nothing."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    options = argparse.Namespace(dry_run=False, minutes=9.0, out=tmp_path / "out")
    assert gpu.measure(options) == {"not_run": "no CUDA device"}
    assert not (tmp_path / "out").exists()


def test_attention_on_a_gpu_is_never_cudnns(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may build a plan for every length of a text."""
    monkeypatch.setattr(torch.cuda, "set_device", lambda _index: None)
    enabled: Any = torch.backends.cuda.cudnn_sdp_enabled
    before = enabled()
    try:
        make_current(torch.device("cuda"))
        assert not enabled()
    finally:
        torch.backends.cuda.enable_cudnn_sdp(enabled=before)


@pytest.mark.slow
def test_the_slot_needs_nothing_that_the_machine_has_not(tmp_path: Path) -> None:
    """From a bare tree, without a network, every other package missing: all figures."""
    (tmp_path / "cache").mkdir()
    lines = gpu_slot.dry_run(tmp_path / "cache")
    found = {line["figure"]: line["found"] for line in lines}
    assert [name for name in found if "not_run" in found[name]] == [
        "compiled_8b",
        "compiled_1b",
    ]
    assert found["correct"]["tiny"]["static"]["differ"] == 0
    # Where a compiler is, the compiled step is right as well.
    compiled = found["correct"]["tiny"]["compiled"]
    assert compiled.get("differ", 0) == 0
    assert found["steps_8b"]["batch_2"]["attention"]
    assert set(found["engines_32"]["beside_none"]) >= {"again", "llguidance"}
    assert found["paper"]["llguidance"]["tpot_ms"] > 0
    assert found["coverage"]["equal_texts"] == found["coverage"]["texts"] == 2
