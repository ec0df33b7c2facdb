"""The small model, made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.evaluation.small_model import small_model

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small model."""
    return small_model(tmp_path_factory.mktemp("model"))
