"""F11: a file of the Hub is what its pinned revision holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import (
    Acquired,
    FetchSettings,
    UnavailableArchive,
    acquire,
)
from curation.download.publishers import PublisherAddresses
from curation.system.errors import WrongDigest
from tests.archives_made import hub_pin
from tests.loopback import body

if TYPE_CHECKING:
    from curation.download.pins import ArchivePin
    from tests.loopback import Server


def _hub(content: bytes) -> tuple[ArchivePin, str]:
    pin = hub_pin(content)
    return pin, f"/datasets/{pin.repository}/resolve/{pin.commit}/{pin.file}"


def test_f11_a_hub_file_is_asked_for_at_its_revision(
    server: Server, settings: FetchSettings
) -> None:
    """Whatever the branch holds today."""
    pin, path = _hub(b"[]")
    server.on(path, body(b"[]"))
    server.on(path.replace(pin.commit, "main"), body(b"[1]"))
    got = acquire(pin, settings)
    assert isinstance(got, Acquired)
    assert server.asked == [path]


def test_f11_a_revision_that_moved_is_refused(
    server: Server, settings: FetchSettings
) -> None:
    """Other bytes at the pinned revision are a wrong digest."""
    pin, path = _hub(b"[]")
    server.on(path, body(b"[1]"))
    with pytest.raises(WrongDigest, match=pin.digest):
        acquire(pin, settings)


def test_the_hub_is_not_asked_when_it_is_switched_off(
    server: Server, settings: FetchSettings
) -> None:
    """The Hub's own variable holds here too."""
    offline = PublisherAddresses(hub=server.base, hub_offline=True)
    settings = replace(settings, publishers=offline)
    pin, _path = _hub(b"[]")
    got = acquire(pin, settings)
    assert isinstance(got, UnavailableArchive)
    assert "HF_HUB_OFFLINE" in got.why
    assert server.asked == []
