"""What each publisher has that a pin lacks: newer states, other licences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.download.updates.newest import UpstreamState, newest
from curation.system.errors import (
    BadData,
    CsbdataError,
    TemporarilyUnavailable,
    Unavailable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from curation.download.acquire import FetchSettings
    from curation.download.pins import ArchivePin


@dataclass(frozen=True, slots=True, kw_only=True)
class PinUpdate:
    """A pin beside what its publisher has now."""

    pin: ArchivePin
    #: None where it could not be told.
    upstream: UpstreamState | None
    #: Why it could not.
    fault: CsbdataError | None = None

    @property
    def is_newer(self) -> bool:
        """Whether the publisher has another state than the pinned one."""
        return self.upstream is not None and self.upstream.commit != self.pin.commit

    @property
    def licence(self) -> str:
        """What is to say of the licence, in a few words; empty where nothing is."""
        upstream = self.upstream
        if upstream is None:
            return ""
        if not upstream.licence_sha256:
            return "CHANGED: none stated" if self.licence_changed else "none stated"
        if not self.pin.licence_sha256:
            return f"{upstream.licence or 'a text'}, none recorded"
        if self.licence_changed:
            return f"CHANGED: {upstream.licence or 'another text'}"
        return "as recorded"

    @property
    def licence_changed(self) -> bool:
        """Whether the statement of the licence is not the recorded one.

        That a package states none says nothing: older versions of pip do not report
        the field `License-Expression`.
        """
        recorded, upstream = self.pin.licence_sha256, self.upstream
        if upstream is None or not recorded:
            return False
        if self.pin.kind.is_package and not upstream.licence_sha256:
            return False
        return upstream.licence_sha256 != recorded


def find_updates(
    pins: Iterable[ArchivePin],
    settings: FetchSettings,
    say: Callable[[str], None] = lambda _message: None,
) -> list[PinUpdate]:
    """Ask the publisher of every pin for its newest state.

    A publisher that does not answer, or not as it should, is told of in its place; the
    others are asked all the same.

    Args:
        pins: The pins.
        settings: Where publishers are asked, and how patiently.
        say: Told what takes time.
    """
    found = []
    for pin in pins:
        say(f"{pin.name}: asking {pin.kind.publisher} for the newest {pin.repository}")
        try:
            found.append(PinUpdate(pin=pin, upstream=newest(pin, settings)))
        except (Unavailable, TemporarilyUnavailable, BadData) as fault:
            found.append(PinUpdate(pin=pin, upstream=None, fault=fault))
    return found
