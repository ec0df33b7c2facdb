"""What `csbdata check` asks its worker process, and what it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from curation.core.documents import Change, Lint, Rejected

#: The verdict of a validator that accepts a schema as one of its draft.
ACCEPTS: Final = "accepts"


class RulesQuestion(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="task", tag="rules"
):
    """What do the rules of the benchmark make of a text?"""

    #: The bytes of the text as Latin-1, one character a byte.
    content: str
    #: Where relative references in it start; None where nothing is beside it.
    base_uri: str | None = None


class VerdictQuestion(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="task", tag="verdict"
):
    """Does a validator accept a text as a schema of a draft?"""

    #: The bytes of the text as Latin-1, one character a byte.
    content: str
    #: One of `check_worker.VALIDATORS`.
    validator: str
    #: Name of the draft, such as `draft-07`.
    dialect: str


class VerdictAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a validator says of a text."""

    #: `ACCEPTS`, or what is wrong; None of a text that is not JSON.
    verdict: str | None


class RulesAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules say of a text, schema location by schema location."""

    #: None where the text is no schema, or its dialect could not be decided.
    dialect: str | None = None
    dialect_found: str | None = None
    #: The drafts under whose metaschema it is valid.
    valid_under: tuple[str, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    changes: tuple[Change, ...] = ()
    lints: tuple[Lint, ...] = ()
    #: Name of a rule, or code of a lint, to what it means.
    summaries: Mapping[str, str] = {}
