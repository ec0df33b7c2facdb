"""The Hub that models, tokenizers and data come from; a small model; what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.system.progress import Quiet
from tests.publishing import connected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fake_hub import FakeHub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """A Hub on loopback that the client is turned to."""
    with connected(monkeypatch, tmp_path / "home") as connection:
        yield connection.hub


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small model."""
    from tests.evaluation.small_model import small_model  # noqa: PLC0415 (torch)

    return small_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is said while something is done."""
    lines: list[str] = []
    monkeypatch.setattr(Quiet, "log", lambda _self, line: lines.append(line))
    return lines
