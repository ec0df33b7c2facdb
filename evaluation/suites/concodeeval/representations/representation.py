"""What a representation of a schema is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import Json


@dataclass(frozen=True, slots=True)
class NotSayable:
    """Why a schema cannot be written in a representation at all."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Representation:
    """One way to write a schema down.

    Example:
        >>> REPRESENTATIONS["yaml"].write({"type": "null"})
        "type: 'null'"
    """

    #: What settings and tables call it.
    name: str
    #: What prompts call it.
    title: str
    #: Returns the text of a schema, or why there is none; the same text every time.
    write: Callable[[Json], str | NotSayable]
    #: Returns the schema of such a text; None where no reader can exist.
    read: Callable[[str], Json] | None
