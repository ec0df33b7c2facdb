"""Some of the subjects instead of all, the same ones on every machine.

Who is drawn is decided by a digest of the seed and the name, so nothing moves when
other subjects come or go, and a larger draw holds the smaller one.
"""

from __future__ import annotations

import hashlib
import heapq
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evaluation.units import Subject

T = TypeVar("T")


def drawn(subjects: Iterable[Subject], limit: int, seed: int) -> list[Subject]:
    """Draw so many subjects, each config by its share of all; keep their order.

    Shares are rounded by largest remainder, and a config with any subject has one
    as long as there are as many places as configs.
    """
    kept: dict[str, list[tuple[int, int, Subject]]] = {}
    counts: dict[str, int] = {}
    for position, subject in enumerate(subjects):
        config = subject.config
        counts[config] = counts.get(config, 0) + 1
        heap = kept.setdefault(config, [])
        entry = (-_rank(seed, config, subject.id), position, subject)
        if len(heap) < limit:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
    places = _places(counts, limit)
    chosen: list[tuple[int, int, Subject]] = []
    for config, heap in kept.items():
        chosen += heapq.nlargest(places[config], heap)
    return [each[2] for each in sorted(chosen, key=lambda each: each[1])]


def _rank(seed: int, config: str, name: str) -> int:
    digest = hashlib.sha256(f"{seed}:{config}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def _places(counts: Mapping[str, int], limit: int) -> dict[str, int]:
    total = sum(counts.values())
    if total <= limit:
        return dict(counts)
    exact = {name: limit * count / total for name, count in counts.items()}
    floor = 1 if limit >= len(counts) else 0
    places = {name: max(floor, int(share)) for name, share in exact.items()}
    order = sorted(exact, key=lambda name: (places[name] - exact[name], name))
    for name in order:
        if sum(places.values()) < limit and places[name] < counts[name]:
            places[name] += 1
    for name in sorted(places, key=lambda name: -places[name]):
        surplus = sum(places.values()) - limit
        places[name] -= min(max(surplus, 0), places[name] - floor)
    return places


def sharded(items: Iterable[T], shard: int, shards: int) -> Iterator[T]:
    """Yield every `shards`-th item, from the `shard`-th on (counted from 1)."""
    for position, item in enumerate(items):
        if position % shards == shard - 1:
            yield item
