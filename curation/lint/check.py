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
                keywords=frozenset({"pattern"}),
                find=lambda schema, _: [("pattern",)] if not schema["pattern"] else [],
            )
    """

    code: str
    #: What is wrong, for the card and for `csbdata check`.
    meaning: str
    #: Only schemas with one of these keywords are looked at; None: those with a
    #: member that no draft knows.
    keywords: frozenset[str] | None
    #: From a schema and its dialect to where it has the defect: tokens inside it.
    find: Callable[[Mapping[str, Json], Dialect], Iterable[Tokens]]
