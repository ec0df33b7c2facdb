"""The Hub that models, tokenizers and data come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
