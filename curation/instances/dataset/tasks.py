"""One schema whose instances a build makes, and what came of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from curation.instances.dataset.make_instances import SchemaInstances

#: A batch is closed at so many schemas or characters, whichever comes first.
BATCH_SCHEMAS = 32
BATCH_LENGTH = 2**19


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceTask:
    """One schema whose instances are to be made."""

    config: str
    unique_id: str
    split: str
    schema: str
    dialect: str
    #: Instances that the source says are right, as JSON texts.
    examples: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What stands for everything that decides the instances."""
        whole = msgspec.json.encode([self.schema, self.dialect, self.examples])
        return hashlib.sha256(whole).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordInstances:
    """The instances of one record."""

    task: InstanceTask
    result: SchemaInstances
