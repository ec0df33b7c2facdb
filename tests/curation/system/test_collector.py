"""Work without the collector of reference cycles."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from curation.system.collector import without_collector

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    before = gc.isenabled()
    yield
    (gc.enable if before else gc.disable)()


def test_nothing_is_collected_meanwhile_and_all_is_again_afterwards() -> None:
    """Cycles are left alone inside, and collected again after the end."""
    gc.enable()
    with without_collector():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_exception_brings_the_collector_back() -> None:
    """Work that fails does not leave the process without its collector."""
    gc.enable()
    with pytest.raises(OSError, match="no space"), without_collector():
        raise OSError("no space")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    """Who has turned it off finds it off afterwards."""
    gc.disable()
    with without_collector():
        pass
    assert not gc.isenabled()
