"""Witnesses, near misses, rows of instances, and failures of the search."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from curation.core.benchmark import InstanceKind
from curation.core.documents import Explained
from curation.core.json_types import Json
from curation.json.text import compact

if TYPE_CHECKING:
    from curation.core.json_types import Json


class SearchFailure(Explained):
    """Why no witness of a schema was found. None of these is a proof."""

    UNUSABLE = ("unusable", "jsonschema-rs does not compile the schema")
    CONTRADICTION = ("contradiction", "every choice searched contradicts itself")
    ENDLESS = ("endless", "what is required nests without end")
    TOO_LARGE = ("too_large", "the smallest instance is larger than the limit")
    PATTERN = ("pattern", "no string is known for a pattern, a format and its lengths")
    EXHAUSTED = ("exhausted", "the search ended at its budget of steps")
    REFUSED = ("refused", "jsonschema-rs refuses every value that was made")


class MissingReason(Explained):
    """Why a keyword has no near miss that it alone refuses, and no proof either."""

    UNREACHED = ("unreached", "no value was found in which the keyword applies")
    TOGETHER = ("together", "whatever was tried to fail it fails another keyword too")
    EXHAUSTED = ("exhausted", "the search ended at its budget of steps")


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A value that the schema accepts, as jsonschema-rs judges it."""

    kind: InstanceKind
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnesses:
    """The result of a search for witnesses."""

    witnesses: tuple[Witness, ...]
    #: Why nothing was found; None if something was.
    failure: SearchFailure | None = None
    #: Details for people.
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """A value that the schema refuses, with the keyword that the validator names."""

    value: Json
    #: The keyword that fails, or `mixed`.
    keyword: str
    #: The keyword's schema's pointer in the record.
    schema_pointer: str
    #: The refused value's pointer in the instance.
    instance_pointer: str
    #: Every (keyword, schema pointer, instance pointer) that fails, if several do.
    keywords: tuple[tuple[str, str, str], ...] = ()
    #: Position in its text at which it fails, at the latest; -1 if not known yet.
    fails_at: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceRow:
    """One row of a config of instances. Field order is column order."""

    #: That of the record.
    unique_id: str
    #: Position among the record's instances, from 0.
    number: int
    #: JSON text with Python's default separators.
    text: str
    #: Whether the schema accepts it.
    valid: bool
    #: `minimal`, `full`, `covering`, `random`, `given` or `near_miss`.
    kind: str
    #: The keyword that refuses a near miss; empty for witnesses.
    keyword: str
    #: The keyword's location in the schema, as JSON pointer.
    schema_pointer: str
    #: The place in the instance that it refuses, as JSON pointer.
    instance_pointer: str
    #: Of a near miss: position of the character in `text` with which it stops to be the
    #: beginning of a valid instance, at the latest. Null for witnesses.
    fails_at: int | None
    #: JSON text of each validator's verdict; null where it was not asked.
    verdicts: str

    @property
    def value(self) -> Json:
        """The instance itself, parsed from its text."""
        parsed: Json = json.loads(self.text)
        return parsed


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def to_text(value: Json) -> str:
    """Return an instance's text with Python's default separators, not escaped.

    A text with half of a surrogate pair is escaped, since UTF-8 has no such character.

    Raises:
        ValueError: a number is not finite.
    """
    quick = compact(value)
    if quick is not None:
        return msgspec.json.format(quick, indent=0).decode()
    text = _ENCODER.encode(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False)
    return text
