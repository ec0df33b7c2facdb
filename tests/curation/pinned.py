"""Archives of the mirror as a source reads them, for tests that need them."""

from __future__ import annotations

import os
from functools import cache

import pytest

from curation.download.acquire import Acquired, UnavailableArchive, acquire
from curation.download.cache import FetchSettings
from curation.download.packs import open_pack
from curation.download.pins import load_pins
from curation.sources.readers import Reading
from curation.system.user_files import raw_folder

needs_mirror = pytest.mark.skipif(
    "CSBDATA_MIRROR" not in os.environ, reason="CSBDATA_MIRROR is not set"
)


@cache
def acquired(archive: str) -> Acquired | UnavailableArchive:
    """Return an archive, or why it cannot be had without the network."""
    return acquire(load_pins()[archive], FetchSettings.from_environment(offline=True))


def pinned(archive: str, rules: str = "clean") -> Reading:
    """Return the reading of a pinned archive, which is here."""
    got = acquired(archive)
    assert isinstance(got, Acquired), got
    return Reading(
        files=open_pack(got.pack),
        archive=archive,
        commit=got.commit,
        licence=got.licence,
        origin=got.origin,
        rules=rules,
        lists=raw_folder() / "lists",
    )
