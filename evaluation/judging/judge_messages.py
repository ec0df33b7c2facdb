"""What the worker that judges texts is asked."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class SchemaReading(StrEnum):
    """By which rules a text is held against its schema."""

    OWN = "own"
    """Under the dialect given, by two validators, formats asserted."""
    LISTING_10 = "listing_10"
    """As the paper's Listing 10 does."""
    PUBLISHED = "published"
    """As the paper's published code and lm-evaluation-harness do."""


class JudgedText(msgspec.Struct, frozen=True, kw_only=True):
    """One text, the schema that it is held against, and by which rules."""

    reading: SchemaReading
    #: JSON text.
    schema: str
    text: str
    #: Of the schema; for our own reading alone.
    dialect: str = ""
