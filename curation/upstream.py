"""Asking those who publish an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.cache import Cache
    from curation.pins import ArchivePin


class Unreachable(Exception):  # noqa: N818 # an answer, not an error
    """The archive cannot be had from its publisher here and now."""

    exit_code = 69


class Network:
    """What is known of the network."""


def fetched(
    pin: ArchivePin,
    network: Network,  # noqa: ARG001
    cache: Cache,  # noqa: ARG001
    say: Callable[[str], None],  # noqa: ARG001
) -> Path:
    """Return the pack of an archive as its publisher gives it."""
    raise Unreachable(f"{pin.repository} is not asked yet")
