"""Draw records, the same ones on every machine.

A digest of the seed and the name decides. A larger draw holds the smaller one, but for
rounding between configs.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Mapping


def draw(names: Iterable[tuple[int, str, str]], limit: int, seed: int) -> list[int]:
    """Draw some records, from each config by its share of all.

    Shares are rounded by largest remainder; every config has one record at least, if
    the limit allows it.

    Args:
        names: The place, config and id of each record.
        limit: How many are drawn.
        seed: Another seed draws others.

    Returns:
        The places of the drawn records, in ascending order.
    """
    heaps: dict[str, list[tuple[int, int]]] = {}
    counts: dict[str, int] = {}
    for index, config, name in names:
        counts[config] = counts.get(config, 0) + 1
        heap = heaps.setdefault(config, [])
        entry = (-_rank(seed, config, name), index)
        if len(heap) < limit:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
    shares = _shares(counts, limit)
    places: list[int] = []
    for config, heap in heaps.items():
        places += (position for _, position in heapq.nlargest(shares[config], heap))
    return sorted(places)


def _rank(seed: int, config: str, name: str) -> int:
    digest = hashlib.sha256(f"{seed}:{config}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def _shares(counts: Mapping[str, int], limit: int) -> dict[str, int]:
    total = sum(counts.values())
    if total <= limit:
        return dict(counts)
    exact = {name: limit * count / total for name, count in counts.items()}
    floor = 1 if limit >= len(counts) else 0
    shares = {name: max(floor, int(share)) for name, share in exact.items()}
    order = sorted(exact, key=lambda name: (shares[name] - exact[name], name))
    for name in order:
        if sum(shares.values()) < limit and shares[name] < counts[name]:
            shares[name] += 1
    for name in sorted(shares, key=lambda name: (-shares[name], name)):
        surplus = sum(shares.values()) - limit
        shares[name] -= min(max(surplus, 0), shares[name] - floor)
    return shares
