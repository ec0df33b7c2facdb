"""Read a published edition with the conditions that runs must share to join it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from curation.system.errors import BadData
from curation.system.words import counted
from evaluation.results.edition import INDEX, read_engine, read_index, read_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from evaluation.results.edition import EngineResults, Index, Line


@dataclass(frozen=True, slots=True)
class GrowingEdition:
    """An edition that runs are added to."""

    index: Index
    #: By the names in its rows.
    engines: Mapping[str, EngineResults]
    lines: Sequence[Line]

    @classmethod
    def read(cls, folder: Path) -> GrowingEdition | None:
        """Read an edition; None where one begins.

        Raises:
            BadData: it cannot be read, or has undecided cases, which have no row.
        """
        if not (folder / INDEX).exists():
            return None
        index = read_index(folder)
        engines = {
            entry.engine: read_engine(folder / entry.file) for entry in index.engines
        }
        tasks = [task for engine in engines.values() for task in engine.tasks.values()]
        if undecided := sum(it.undecided for it in tasks if not isinstance(it, str)):
            raise BadData(
                f"{counted(undecided, 'case')} undecided, which have no row",
                str(folder),
                f"publish all its runs anew, without {INDEX} there",
            )
        lines = [line for line in read_lines(folder) if line["engine"] in engines]
        return cls(index, engines, lines)

    def header(self, like: Mapping[str, UntypedJson]) -> Mapping[str, UntypedJson]:
        """Return the header of a run as the edition's would be, and else like one."""
        index, sources = self.index, self.index.sources
        return {
            **like,
            "csbdata": index.csbdata,
            "code": index.code,
            "limits": index.limits,
            "tokenizer": index.tokenizer,
            "machine": index.machine,
            "sources": {task: {"sha256": sha256} for task, sha256 in sources.items()},
            "engines": msgspec.to_builtins([*self.engines.values()]),
        }
