"""What a lint check is: a code, its meaning, and where in one schema it strikes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class LintCheck:
    """One check of one schema, whatever stands around it."""

    code: str
    #: What is wrong where it strikes, for the card and for `csbdata check`.
    meaning: str
    #: Only schemas with one of these words are looked at; None: those with a word
    #: that no draft knows.
    words: frozenset[str] | None
    #: Yields the places inside the schema that it strikes, as tokens.
    strikes: Callable[[Mapping[str, UntypedJson], Dialect], Iterable[Tokens]]
