"""What is measured with: a name, a digest, and subjects that are read as they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSelection:
    """Which subjects of all; without anything, all of them."""

    configs: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    #: `ID` or `CONFIG/ID`.
    ids: frozenset[str] = frozenset()
    #: At most so many, each config by its share (`evaluation.data.sampling`).
    limit: int | None = None
    #: Decides who is drawn if there is a limit.
    seed: int = 0

    def allows(self, name: SampleName) -> bool:
        """Tell whether a subject may be drawn."""
        own = {name.id, f"{name.config}/{name.id}"}
        return (
            (not self.configs or name.config in self.configs)
            and (not self.splits or name.split in self.splits)
            and (not self.ids or not own.isdisjoint(self.ids))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleName:
    """One subject before it is read."""

    config: str
    id: str
    #: Empty where the data has no splits.
    split: str = ""
    #: Whether the data says which instances it has; False where some must be made.
    complete: bool


class SampleReader(Protocol):
    """Data in one layout. Both walks are in the same order, which never changes."""

    @property
    def origin(self) -> str:
        """Return `build`, `files`, `hub` or `sample`."""

    def sha256(self) -> str:
        """Return the digest of everything that is read."""

    def names(self) -> Iterator[SampleName]:
        """Yield the name of every subject."""

    def samples(self, places: Collection[int]) -> Iterator[Sample]:
        """Yield the subjects at these places of `names`."""

    def left_out(self) -> tuple[str, ...]:
        """Return one line for everything that is no schema; known after `names`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The subjects of one run."""

    #: What the user called it.
    name: str
    #: `build`, `files`, `hub` or `sample`.
    origin: str
    #: Digest of all the data, chosen or not.
    sha256: str
    #: Number of subjects.
    count: int
    #: Where instances come from: `given`, `made`, `given and made` or `none`.
    instances: str
    choice: SampleSelection
    #: What is no schema, and why.
    left_out: tuple[str, ...]
    #: Reads the subjects anew at each call, in the same order.
    read: Callable[[], Iterator[Sample]]

    def samples(self) -> Iterator[Sample]:
        """Yield the subjects; memory does not grow with their number."""
        return self.read()

    def header(self) -> dict[str, UntypedJson]:
        """Return what a run's header says of its data."""
        return {
            "name": self.name,
            "origin": self.origin,
            "sha256": self.sha256,
            "schemas": self.count,
            "instances": self.instances,
            "configs": list(self.choice.configs),
            "splits": list(self.choice.splits),
            "left_out": len(self.left_out),
        }
