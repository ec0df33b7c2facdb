"""WashingtonPost: the 125 schemas of the Arc Native Specification 0.10.9.

`paper` reads the edited copies, with bundled references; `clean` the upstream files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from curation.core.documents import RawDocument
from curation.sources.readers import (
    EDITED,
    Reading,
    Source,
    claimed_uris,
    documents,
    files_in,
    pairs,
)

_NAME = "washingtonpost"
_CONFIG = "WashingtonPost"
_UPSTREAM = "ans-schema"
_LIST = "washingtonpost.tsv"
_ADDRESS = "https://raw.githubusercontent.com/washingtonpost/ans-schema/master/"


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield `wp_<N>_Normalized`."""
    if reading.archive != _UPSTREAM:
        files = files_in(reading, f"{EDITED}/wp", r"wp_[0-9]+_Normalized")
        return documents(reading, _NAME, _CONFIG, files)
    files = pairs(reading, _LIST)
    return documents(reading, _NAME, _CONFIG, files, lambda _, path: _ADDRESS + path)


def uris(reading: Reading) -> Mapping[str, str]:
    """Return the addresses of the upstream's files, and the ids that they claim.

    Four files of 0.10.9 claim an `id` that is not their address. Where a claim is
    another file's address, the address holds.
    """
    if reading.archive != _UPSTREAM:
        return {}
    paths = [path for _, path in pairs(reading, _LIST)]
    addresses = {
        _ADDRESS + path: path for path in reading.files.paths if path.endswith(".json")
    }
    return claimed_uris(reading.files.read, paths) | addresses


SOURCE = Source(
    name=_NAME,
    title="Washington Post (Arc Native Specification)",
    configs=(_CONFIG,),
    archives={"paper": ("witness-generation",), "clean": (_UPSTREAM,)},
    read=read,
    uris=uris,
)
