"""Messages between a check and its worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from curation.core.documents import Change, Lint, Rejected

#: The verdict of a validator that accepts a schema as one of its draft.
ACCEPTS: Final = "accepts"
#: How the verdict begins of a validator that a schema costs too much time or memory.
GIVES_UP: Final = "gives up"


class RulesQuestion(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="task", tag="rules"
):
    """Apply the rules of the benchmark to a text."""

    #: The bytes of the text as Latin-1, one character a byte.
    content: str
    #: Where relative references in it start; None if nothing is beside it.
    base_uri: str | None = None


class VerdictQuestion(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="task", tag="verdict"
):
    """Ask one validator about a text as a schema of one draft."""

    #: The bytes of the text as Latin-1, one character a byte.
    content: str
    #: One of `schema_check.VALIDATORS`.
    validator: str
    #: Name of the draft, such as `draft-07`.
    dialect: str


class VerdictAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of a validator."""

    #: `ACCEPTS`, or what is wrong; None of a text that is not JSON.
    verdict: str | None


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
