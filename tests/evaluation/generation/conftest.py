"""The small model and what writes with it, made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.download.cache import FetchSettings
from evaluation.tokenizers import get_tokenizer
from tests.late import Late

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.models.loading import LoadOptions, load_model
    from evaluation.models.transformers import TransformersModel
    from evaluation.tokenizers import TokenizerFiles
else:
    LoadOptions = Late("evaluation.models.loading", "LoadOptions")
    load_model = Late("evaluation.models.loading", "load_model")


@pytest.fixture(scope="session")
def model(model_folder: Path) -> TransformersModel:
    """Return the small model; a test that changes it changes it back."""
    return load_model(model_folder, LoadOptions(device="cpu", dtype="fp32"))


@pytest.fixture(scope="session")
def tokenizer(
    model_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> TokenizerFiles:
    """Return the small model's tokenizer, as engines are given it."""
    cache = tmp_path_factory.mktemp("cache")
    return get_tokenizer(str(model_folder), FetchSettings(cache=cache))
