"""Instances that other runs have made, found again by the schema they were made for.

A shard of a build makes the instances of its own records; the build that joins the
shards has the records in other batches, and finds each one's instances here.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from curation.instances.dataset.make_instances import SchemaInstances

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Name of the piece of finished work that says which tasks the batches hold.
KEYS: Final = "instance-keys"
#: Batches that are held in memory. Those of a shard are asked for in their order.
_HELD = 64


class StoredInstances(msgspec.Struct, frozen=True, kw_only=True):
    """The instances of one record, as a finished batch keeps them."""

    made: SchemaInstances
    seconds: float


def batch_name(number: int) -> str:
    """Return the name of the piece of finished work that is a batch of instances."""
    return f"instances-{number:05}"


def task_key(schema: str, dialect: str, examples: Sequence[str]) -> str:
    """Return what stands for everything that decides a record's instances."""
    whole = msgspec.json.encode([schema, dialect, examples])
    return hashlib.sha256(whole).hexdigest()[:32]


class FinishedInstances:
    """The instances that several runs have made.

    Example:
        >>> made = FinishedInstances([{}.get])
        >>> made.find(task_key('{"type": "string"}', "2020-12", ())) is None
        True
    """

    def __init__(self, runs: Sequence[Callable[[str], bytes | None]]) -> None:
        """Take the runs, each as what finds a piece of its finished work by name."""
        self._runs = runs
        self._places: dict[str, tuple[int, int, int]] = {}
        self._batch = lru_cache(_HELD)(self._read_batch)
        for position, done in enumerate(runs):
            stored = done(KEYS)
            batches = msgspec.json.decode(stored or b"[]", type=list[list[str]])
            for number, keys in enumerate(batches):
                for index, key in enumerate(keys):
                    self._places.setdefault(key, (position, number, index))

    def find(self, key: str) -> StoredInstances | None:
        """Return the instances of a task by its key, None where no run made them."""
        place = self._places.get(key)
        if place is None:
            return None
        position, number, index = place
        batch = self._batch(position, number)
        return batch[index] if batch else None

    def _read_batch(self, position: int, number: int) -> list[StoredInstances]:
        stored = self._runs[position](batch_name(number))
        return msgspec.json.decode(stored or b"[]", type=list[StoredInstances])
