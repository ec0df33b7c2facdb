"""A server in the publishers' place, and settings that ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from curation.download.http import Network
from curation.download.publishers import PublisherAddresses
from tests.loopback import HASTY, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.loopback import Server


@pytest.fixture
def server() -> Iterator[Server]:
    """Run a server in GitHub's place and the Hub's."""
    with serving() as made:
        yield made


@pytest.fixture
def settings(tmp_path: Path, server: Server) -> FetchSettings:
    """Return settings with an empty cache, no mirror and little patience."""
    return FetchSettings(
        mirror=None,
        cache=tmp_path / "cache",
        network=Network(limits=HASTY),
        publishers=PublisherAddresses(github=server.base, hub=server.base),
    )
