"""Which files of an archive the sources read: glob patterns over its paths."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_TOKENS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns of paths; a path that matches one of them is selected.

    `*` and `?` stop at `/`, `**` does not. Everything else stands for itself.
    """

    patterns: tuple[str, ...]
    _expression: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the patterns once."""
        joined = "|".join(map(_translated, self.patterns))
        object.__setattr__(self, "_expression", re.compile(joined, re.DOTALL))

    def __contains__(self, path: str) -> bool:
        """Say whether a path is selected."""
        return bool(self.patterns) and bool(self._expression.fullmatch(path))

    def of(self, paths: Iterable[str]) -> list[str]:
        """Return the selected ones of some paths."""
        return [path for path in paths if path in self]


def _translated(pattern: str) -> str:
    parts = _TOKENS.findall(pattern)
    return "".join(_MEANINGS.get(part) or re.escape(part) for part in parts)
