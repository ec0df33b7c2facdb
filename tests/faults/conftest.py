"""A server in GitHub's place, and settings that ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.download import http
from curation.download.acquire import FetchSettings
from tests.loopback import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.loopback import Server


@pytest.fixture
def server() -> Iterator[Server]:
    """Run a server in GitHub's place."""
    with serving() as made:
        yield made


@pytest.fixture
def settings(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> FetchSettings:
    """Return settings with an empty cache, no mirror and little patience."""
    monkeypatch.setattr(http, "PAUSE", 0.01)
    monkeypatch.setattr(http, "_TIMEOUTS", (2.0, 0.5))
    return FetchSettings(cache=tmp_path / "cache", github=server.base)
