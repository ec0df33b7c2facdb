"""How many texts at a time fit into the memory that a device has left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from curation.system.errors import BadConfiguration
from evaluation.commands.options import parse_batch
from evaluation.generation.text_generation import AUTO_BATCH
from evaluation.models import hardware as memory
from evaluation.models.loading import LoadOptions, load_model
from tests.evaluation.small_model import small_model

if TYPE_CHECKING:
    from pathlib import Path

_CPU, _GPU = torch.device("cpu"), torch.device("cuda")


@pytest.mark.parametrize(
    ("device", "free", "texts"),
    [
        (_GPU, 0, 1),
        (_GPU, 100, 1),
        (_GPU, 9 * 100, 4),
        (_GPU, 30 * 100, 16),
        (_GPU, 10**9, 64),
        (_CPU, 10**9, 8),
    ],
)
def test_a_batch_is_a_power_of_two_and_leaves_room_for_passes(
    monkeypatch: pytest.MonkeyPatch, device: torch.device, free: int, texts: int
) -> None:
    """Of a text of 100 bytes; at least one, and no more than are any faster."""
    monkeypatch.setattr(memory, "free_memory", lambda _device: free)
    assert memory.texts_that_fit(device, 100) == texts


def test_a_text_takes_its_keys_values_and_logits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two layers of two heads of eight numbers, twice, for each of 2,048 tokens."""
    model = load_model(small_model(tmp_path), LoadOptions(device="cpu", dtype="fp32"))
    text = 2 * 2 * 2 * 8 * 4 * 2048 + 16 * model.vocab_size
    for free, texts in ((text * 4 / 0.69, 4), (text * 4 / 0.71, 2)):
        monkeypatch.setattr(memory, "free_memory", lambda _device, free=free: free)
        assert model.texts_that_fit() == texts


def test_a_size_of_batches_is_a_number_or_auto() -> None:
    """What is neither is told in one line."""
    assert parse_batch("auto") == AUTO_BATCH
    assert parse_batch("12") == 12
    for text in ("0", "-1", "many", ""):
        with pytest.raises(BadConfiguration, match="above 0, or auto"):
            parse_batch(text)
