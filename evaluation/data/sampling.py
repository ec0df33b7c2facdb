"""Draw records, the same ones on every machine.

A digest of the seed and the name decides. A larger draw holds the smaller one, but for
rounding between configs.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import defaultdict
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
    ranks: dict[str, list[tuple[bytes, int]]] = defaultdict(list)
    for index, config, name in names:
        rank = hashlib.sha256(f"{seed}:{config}/{name}".encode()).digest()
        ranks[config].append((rank, index))
    shares = _shares({config: len(ranked) for config, ranked in ranks.items()}, limit)
    places: list[int] = []
    for config, ranked in ranks.items():
        places += (index for _, index in heapq.nsmallest(shares[config], ranked))
    return sorted(places)


def _shares(counts: Mapping[str, int], limit: int) -> dict[str, int]:
    total = sum(counts.values())
    if total <= limit:
        return dict(counts)
    exact = {name: limit * count / total for name, count in counts.items()}
    floor = 1 if limit >= len(counts) else 0
    shares = {name: max(floor, int(share)) for name, share in exact.items()}
    order = sorted(exact, key=lambda name: (shares[name] - exact[name], name))
    for name in order:
        if sum(shares.values()) < limit:
            shares[name] += 1
    for name in sorted(shares, key=lambda name: (-shares[name], name)):
        surplus = sum(shares.values()) - limit
        shares[name] -= min(max(surplus, 0), shares[name] - floor)
    return shares
