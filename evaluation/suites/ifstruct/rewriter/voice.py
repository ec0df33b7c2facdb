"""Voices: the words that a request is made of, one TOML file each in `voices/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from curation.system.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDER: Final = Path(__file__).with_name("voices")
#: The voice of a row that nobody rewrote.
PLAIN: Final = "plain"


class Musings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a choice is said that is taken back later; one of each list is drawn."""

    format: tuple[str, ...]
    count: tuple[str, ...]
    wrapper: tuple[str, ...]
    fence: tuple[str, ...]
    limit: tuple[str, ...]
    field: tuple[str, ...]


class Voice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way of wording a request; of each list one text is drawn.

    Texts have names in braces that are filled in: `{noun}`, `{least}`, `{most}`,
    `{context}`, `{label}`, `{name}`, `{facts}`, `{format}`, `{key}`, `{language}`.
    """

    about: str
    #: The number of items with their noun.
    exact: tuple[str, ...]
    range: tuple[str, ...]
    #: The request itself, with `{count}`.
    request: tuple[str, ...]
    manner: tuple[str, ...]
    #: What introduces bullets and sentences.
    fields: str
    #: One sentence a field.
    prose: tuple[str, ...]
    #: What introduces the other styles.
    schema: str
    annotated: str
    glossary: str
    table: str
    format: tuple[str, ...]
    wrapped: tuple[str, ...]
    bare: tuple[str, ...]
    no_extra: tuple[str, ...]
    required: tuple[str, ...]
    required_language: tuple[str, ...]
    forbidden: tuple[str, ...]
    banned: tuple[str, ...]
    allowed: tuple[str, ...]
    #: Whether it states choices and takes them back; then it has what follows, and
    #: `{correction}` where a choice may be one that was taken back.
    revises: bool = False
    opening: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    limit: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    musings: Musings | None = None


@cache
def voices() -> Mapping[str, Voice]:
    """Return every voice by the name of its file.

    Raises:
        BadData: a file is no voice.
    """
    found = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        try:
            found[path.stem] = msgspec.toml.decode(path.read_bytes(), type=Voice)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadData(f"no voice: {error}", str(path)) from None
        if found[path.stem].revises and found[path.stem].musings is None:
            raise BadData("a voice that revises has [musings]", str(path))
    return MappingProxyType(found)
