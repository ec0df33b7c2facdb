"""Files and readings made for tests, in the layout of each archive."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from curation.core.documents import Origin
from curation.sources.readers import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson

EDITED = "artifacts/JSONAlgebra/JsonSchema_To_Algebra/expDataset"
NOWHERE = Path("/nonexistent")


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Files in memory; remembers which were read."""

    contents: Mapping[str, bytes]
    asked: list[str] = field(default_factory=list)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths, sorted by code point."""
        return tuple(sorted(self.contents))

    def read(self, path: str) -> bytes:
        """Return one file's bytes."""
        self.asked.append(path)
        return self.contents[path]


def held(**contents: UntypedJson) -> Held:
    """Return files that hold JSON values; a value of type bytes stands as it is."""
    return Held(
        {
            path: each if isinstance(each, bytes) else json.dumps(each).encode()
            for path, each in contents.items()
        }
    )


def reading(
    archive: str,
    files: Held,
    *,
    lists: Path = NOWHERE,
    rules: str = "clean",
    config: str | None = None,
) -> Reading:
    """Return what a reader is given for an upstream archive."""
    return Reading(
        files=files,
        archive=archive,
        commit="c" * 40,
        licence="MIT",
        origin=Origin.UPSTREAM,
        rules=rules,
        lists=lists,
        config=config,
    )
