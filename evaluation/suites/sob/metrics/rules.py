"""How answers are read where the paper and the authors' published code differ.

Every field is one such question. `RECOMMENDED` answers it as the paper says, or as its
words are best understood; `PUBLISHED` as the code does that made the paper's tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: The kinds of sources: texts, OCR of images, transcripts of speech.
SOURCES: Final = ("text", "image", "audio")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringRules:
    """One reading of every question; a run's header records it whole."""

    #: What results call this reading.
    name: str
    #: Values are equal as JSON Schema says: 1 and 1.0 are, 1 and true are not. Else
    #: as Python says: 1, 1.0 and true all are.
    json_equality: bool
    #: 1 and 1.0 are one word, for the token F1. Else they are "1" and "1 0".
    canonical_numbers: bool
    #: A leaf that the answer lacks has a token F1 of 0 (the paper, below equation 10).
    #: Else it counts as null, so that a null of the truth is met by leaving it out.
    missing_is_zero: bool
    #: Type Safety follows `$ref`, unions and null. Else these expect no type at all.
    resolved_types: bool
    #: Paths are sequences of steps. Else keys and indices are joined to one text, in
    #: which a key may hold the dots and brackets of another path.
    exact_paths: bool
    #: Coverage counts the records that were answered. Else a source counts as a whole
    #: as soon as there is any result of it.
    counted_coverage: bool
    #: NaN, Infinity and -Infinity are no JSON (RFC 8259). Else they are numbers.
    strict_numbers: bool
    #: The dialect that schemas are read in; None for what `$schema` declares, and
    #: 2020-12 where it declares nothing (what `jsonschema.validate` does).
    dialect: str | None
    #: An empty object or array is a leaf. Neither the paper nor the code counts it.
    empty_leaves: bool = False
    #: The coverage gate of the text source: below this the values count nothing.
    text_floor: float = 0.95
    #: The coverage gate of the others: below this it is the square of the quotient.
    soft_floor: float = 0.90


RECOMMENDED: Final = ScoringRules(
    name="recommended",
    json_equality=True,
    canonical_numbers=True,
    missing_is_zero=True,
    resolved_types=True,
    exact_paths=True,
    counted_coverage=True,
    strict_numbers=True,
    dialect=None,
)
PUBLISHED: Final = ScoringRules(
    name="paper",
    json_equality=False,
    canonical_numbers=False,
    missing_is_zero=False,
    resolved_types=False,
    exact_paths=False,
    counted_coverage=False,
    strict_numbers=False,
    dialect="draft-07",
)
