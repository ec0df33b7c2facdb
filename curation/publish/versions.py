"""Versions of the data, by Semantic Versioning: what may readers rely on?

Within a major version every id keeps its schema, its config and its split, so that
scores stay comparable. A minor version adds; a patch changes what is said of the
records. The edition published with the paper counts as 1.0.0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

_VERSION = re.compile(r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})")


class Level(IntEnum):
    """How much changed, ordered."""

    NONE = 0
    """Nothing that a reader could notice."""
    PATCH = 1
    """What is said of the records, or of the whole."""
    MINOR = 2
    """Records or instances were added."""
    MAJOR = 3
    """Ids, schemas, configs or splits changed, or went."""


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A released version."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Version | None:
        """Read `2.1.0`, or `v2.1.0` as a tag says it; None for anything else."""
        found = _VERSION.fullmatch(text.removeprefix("v"))
        return cls(*map(int, found.groups())) if found else None

    def next(self, level: Level) -> Version:
        """Return the version that follows a change of that level."""
        if level is Level.MAJOR:
            return Version(self.major + 1, 0, 0)
        if level is Level.MINOR:
            return Version(self.major, self.minor + 1, 0)
        if level is Level.PATCH:
            return Version(self.major, self.minor, self.patch + 1)
        return self

    def __str__(self) -> str:
        """Return it as `2.1.0`."""
        return f"{self.major}.{self.minor}.{self.patch}"


#: The edition published with the paper.
PUBLISHED = Version(1, 0, 0)
