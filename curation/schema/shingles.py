"""Structural shingles: every value of a schema with the path that leads to it.

The shingles of a schema are the pairs of path and value of its skeleton
(`curation.schema.subschemas.skeleton`); a path has no positions in arrays. The
similarity of two schemas is the Jaccard index of their shingles (Jaccard 1912). The
least shingle in a fixed random order, the min-hash, is the same in two schemas as often
as the index (Broder, "On the resemblance and containment of documents", 1997), so
it decides the split.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from json.encoder import encode_basestring
from types import MappingProxyType

from curation.core.benchmark import split_bounds
from curation.core.json_types import Json
from curation.system.user_files import list_rows, raw_folder

_HASH_BYTES = 8
_MASK = (1 << 8 * _HASH_BYTES) - 1
# Multiplied with the hash of a shingle, modulo 2^64, they give the order of shingles
# and the split of the least one. Any two odd numbers would do; these are fixed.
_ORDER = 0x3C30EE25632FB989
_PART = 0x392E63B3C91C0947


def shingles(skeleton: Json) -> bytes:
    """Return the hashes of a skeleton's shingles: 8 bytes each, sorted, each once.

    The hash is BLAKE2b (RFC 7693) over `/name/name... value`, the value as JSON text;
    an empty object or array is a value. Names are not escaped.
    """
    pairs: set[str] = set()
    stack: list[tuple[str, Json]] = [("", skeleton)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict) and value:
            for name, member in value.items():
                if isinstance(member, str):
                    # Most values are: they need not wait for their turn.
                    pairs.add(f"{path}/{name} {encode_basestring(member)}")
                else:
                    stack.append((f"{path}/{name}", member))
        elif isinstance(value, list) and value:
            stack += [(path, item) for item in value]
        else:
            pairs.add(f"{path} {_text(value)}")
    hashes = {
        blake2b(text.encode(), digest_size=_HASH_BYTES).digest() for text in pairs
    }
    return b"".join(sorted(hashes))


def _text(value: Json) -> str:
    """Return a scalar's JSON text, 1.0 as 1; a number as its nearest double."""
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        value = int(value) if value.is_integer() else float(value)
    return json.dumps(value)


def unpack_hashes(packed: bytes) -> tuple[int, ...]:
    """Return the hashes of `shingles` as numbers, in their order."""
    return struct.unpack(f">{len(packed) // _HASH_BYTES}Q", packed)


def split_key(packed: bytes) -> str:
    """Return 16 hex digits that decide the split of a schema with these shingles.

    Records that share a definition share min-hashes and move in groups, so shares would
    scatter widely: `raw/lists/min_hashes.tsv` fixes the split of some large groups.

    Args:
        packed: What `shingles` returns.
    """
    smallest = min(number * _ORDER & _MASK for number in unpack_hashes(packed))
    point = smallest * _PART & _MASK
    split = _dealt().get(f"{smallest:016x}")
    if split is not None:
        lower, upper = split_bounds(split)
        point = lower + (point * (upper - lower) >> 8 * _HASH_BYTES)
    return f"{point:016x}"


@cache
def _dealt() -> Mapping[str, str]:
    rows = list_rows(raw_folder() / "lists" / "min_hashes.tsv")
    return MappingProxyType({row[0]: row[1] for row in rows})
