"""Which files of an archive the sources read: glob patterns over its paths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_TOKENS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns of paths; a path that matches one of them is selected.

    `*` and `?` stop at `/`, `**` does not. Everything else stands for itself.

    Example:
        >>> "src/a/b.json" in Selection(("src/**/*.json",))
        True
    """

    patterns: tuple[str, ...]

    def __contains__(self, path: str) -> bool:
        """Return whether a path is selected."""
        if not self.patterns:
            return False
        return _expression(self.patterns).fullmatch(path) is not None

    def of(self, paths: Iterable[str]) -> list[str]:
        """Return the selected ones of some paths."""
        return [path for path in paths if path in self]


@cache
def _expression(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Return one regular expression for all the patterns."""
    return re.compile("|".join(map(_translated, patterns)), re.DOTALL)


def _translated(pattern: str) -> str:
    parts = _TOKENS.findall(pattern)
    return "".join(_MEANINGS.get(part) or re.escape(part) for part in parts)
