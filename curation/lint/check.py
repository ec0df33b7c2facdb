"""What a lint check is: a code, its meaning, and where a schema has the defect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class LintCheck:
    """One check of one schema, without what stands around it.

    Example:
        A check that flags every `pattern` that is empty::

            LintCheck(
                code="empty-pattern",
                meaning="a pattern that every text matches",
                concerns=having("pattern"),
                find=lambda schema, _: [("pattern",)] if not schema["pattern"] else [],
            )
    """

    code: str
    #: What is wrong, for the card and for `csbdata check`.
    meaning: str
    #: Whether a schema may have the defect in a dialect, by the names of its members;
    #: only such are looked at, and the answer is remembered.
    concerns: Callable[[frozenset[str], Dialect], bool]
    #: From a schema and its dialect to where it has the defect: tokens inside it.
    find: Callable[[Mapping[str, Json], Dialect], Iterable[Tokens]]


def having(*keywords: str) -> Callable[[frozenset[str], Dialect], bool]:
    """Return a `LintCheck.concerns`: whether one of these is among the names."""
    return lambda names, _dialect: not names.isdisjoint(keywords)


def having_all(*keywords: str) -> Callable[[frozenset[str], Dialect], bool]:
    """Return a `LintCheck.concerns`: whether all of these are among the names."""
    return lambda names, _dialect: names >= set(keywords)
