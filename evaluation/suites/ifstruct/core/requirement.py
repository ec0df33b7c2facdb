"""The requirements that a row may have, in the words of a report."""

from __future__ import annotations

from enum import StrEnum


class Requirement(StrEnum):
    """What a row asks for, in the words of a report."""

    ANSWER = "an answer"
    SYNTAX = "valid text"
    FORMAT = "the right format"
    FENCE = "code block"
    COMMENTARY = "no commentary"
    WRAPPER = "wrapper"
    COUNT = "number of items"
    FIELDS = "all fields"
    NO_EXTRA = "no other fields"
    TYPES = "types"
    ENUMS = "enum values"
    BOUNDS = "numeric bounds"
    LISTS = "lengths of lists"
    EXTENDED = "extended rules"
