"""Messages between a check and its worker."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from curation.core.documents import Change, Lint, Rejected


class RulesQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Apply the rules of the benchmark to a text."""

    #: The bytes of the text as Latin-1, one character a byte.
    content: str
    #: Where relative references in it start; None if nothing is beside it.
    base_uri: str | None = None


class RulesAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The problems that the rules find in a text."""

    #: None if the text is no schema, or its dialect could not be decided.
    dialect: str | None = None
    dialect_found: str | None = None
    dialect_words: tuple[str, ...] = ()
    #: The drafts under whose metaschema it is valid.
    valid_under: tuple[str, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    changes: tuple[Change, ...] = ()
    #: Each with what it means there.
    lints: tuple[tuple[Lint, str], ...] = ()
    #: The same of what is told and is no fault.
    notes: tuple[tuple[Lint, str], ...] = ()
    #: Name of a rule to what it does.
    summaries: Mapping[str, str] = {}
