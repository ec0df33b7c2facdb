"""What is wrong with a statement of the manifest."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from curation.packaging.manifest import BuildFacts


class Contradiction(NamedTuple):
    """A statement of the manifest, and what it contradicts."""

    detail: str
    #: False where it may only be that another version of csbdata built the folder.
    certain: bool = True


def is_of_this_version(facts: BuildFacts) -> bool:
    """Return whether the csbdata that runs is of the version that built the folder.

    Pins and rules of another version may differ from those of this one.
    """
    return facts.versions.get("csbdata") == version("csbdata")
