"""What a check is asked and answers: the report on one schema, problem by problem."""

from __future__ import annotations

import msgspec

from curation.core.documents import Reason
from curation.core.problems import NOTE, SchemaProblem


class CheckQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Check a text by the rules of the benchmark."""

    #: The bytes of the text as Latin-1, one character a byte.
    content: str
    #: Where relative references in it start; None without neighbours.
    base_uri: str | None = None


class SchemaReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a check."""

    #: None if it could not be decided.
    dialect: str | None = None
    dialect_found: str | None = None
    #: The keywords that exclude some draft, for an undeclared schema.
    dialect_words: tuple[str, ...] = ()
    #: The drafts under whose metaschema it is valid, oldest first.
    valid_under: tuple[str, ...] = ()
    problems: tuple[SchemaProblem, ...] = ()

    @property
    def faults(self) -> tuple[SchemaProblem, ...]:
        """The problems that are not just notes."""
        return tuple(problem for problem in self.problems if problem.level != NOTE)

    @property
    def crashed(self) -> bool:
        """Whether a rule raised or its process died: a defect of csbdata."""
        return any(problem.code == Reason.CRASHED for problem in self.problems)
