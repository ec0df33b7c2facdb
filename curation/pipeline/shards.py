"""The shards of a build on a cluster, and how their finished work is joined.

A shard is a run folder with the work on every n-th batch of the pinned inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from curation.pipeline.instance_step import FinishedInstances
from curation.workers.run_folder import COMPLETIONS, FinishedWork

#: Name of the piece of finished work that holds fastjsonschema's verdicts.
VERDICTS: Final = "verdicts"
#: The shard of a build that is not divided.
WHOLE: Final = (1, 1)


def has_batch(shard: tuple[int, int], number: int) -> bool:
    """Return whether a batch of a build, by its number, is one of a shard's.

    Example:
        >>> [has_batch((part, 2), 4) for part in (1, 2)]
        [True, False]
    """
    part, parts = shard
    return number % parts == part - 1


@dataclass(frozen=True, slots=True)
class JoinedShards:
    """The finished work of all shards of a build; of none if it is not divided."""

    work: tuple[FinishedWork, ...] = ()

    @classmethod
    def open(cls, folders: Sequence[Path], fingerprint: str) -> JoinedShards:
        """Open the shards of the build with a fingerprint, in the order of parts."""
        return cls(
            tuple(FinishedWork(folder / COMPLETIONS, fingerprint) for folder in folders)
        )

    def batch(self, number: int, name: str) -> bytes | None:
        """Return a batch that a shard has finished; None if none has.

        Args:
            number: The batch's number in the build.
            name: The name of the piece of finished work.
        """
        return self.work[number % len(self.work)].find(name) if self.work else None

    def verdicts(self) -> dict[str, str]:
        """Return fastjsonschema's verdicts by the digest of a record."""
        verdicts: dict[str, str] = {}
        for own in self.work:
            stored = own.find(VERDICTS) or b"{}"
            verdicts |= msgspec.json.decode(stored, type=dict[str, str])
        return verdicts

    def instances(self) -> FinishedInstances:
        """Return the instances that the shards have made."""
        return FinishedInstances([own.find for own in self.work])
