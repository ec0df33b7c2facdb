"""What the tests of publishing share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.publishing import Connection, connected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def there(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Connection]:
    """A Hub that the library is turned to."""
    home: Path = tmp_path_factory.mktemp("home")
    with connected(monkeypatch, home) as connection:
        yield connection
