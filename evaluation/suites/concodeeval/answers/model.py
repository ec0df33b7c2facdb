"""What reading an answer gives: a value, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from curation.core.json_types import Json

#: Values nested deeper than this are not read.
MAX_DEPTH: Final = 256
#: Characters of an answer that are read; a longer one is refused whole.
MAX_CHARACTERS: Final = 1_000_000


class Unreadable(StrEnum):
    """Why an answer gives no value. Each is a failure class of its own."""

    NO_ANSWER = "no_answer"
    """Nothing, or white space only."""
    TOO_LARGE = "too_large"
    """More than `MAX_CHARACTERS` characters."""
    NO_FENCE = "no_fence"
    """No fenced block that is closed: the `incomplete` of the paper's scripts."""
    SYNTAX = "syntax"
    """Not a text of the format asked for."""
    DUPLICATE_NAME = "duplicate_name"
    """A member stands twice in one object."""
    NOT_JSON = "not_json"
    """A value that JSON has not: NaN, an infinity, a name that is no string."""
    TOO_DEEP = "too_deep"
    """Nested over `MAX_DEPTH` levels."""
    YAML_ALIAS = "yaml_alias"
    """A YAML alias, by which a short text can say a huge value."""
    YAML_TAG = "yaml_tag"
    """A YAML tag beyond the core schema, such as one that makes a Python object."""
    XML_DOCTYPE = "xml_doctype"
    """A document type: entities, external ones among them, come of nothing else."""


@dataclass(frozen=True, slots=True)
class Read:
    """The value that a text says."""

    value: Json


@dataclass(frozen=True, slots=True)
class NotRead:
    """Why a text says no value."""

    why: Unreadable
    #: For people: where, and what exactly.
    detail: str = ""


def value_of(found: Read | NotRead) -> Json:
    """Return the value of a text of our own, which always says one.

    Raises:
        ValueError: it says none.
    """
    if isinstance(found, Read):
        return found.value
    raise ValueError(f"{found.why}: {found.detail}")
