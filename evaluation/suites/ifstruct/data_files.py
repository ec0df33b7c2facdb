"""Data files of the generator: kinds of things, mixes of choices, voices, escapes.

Kinds are in `entities/train` and `entities/test`, one TOML file a subject, and share
no name; voices in `voices/`, one TOML file each. Tests check the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Final, TypeVar

import msgspec

from evaluation.suites.ifstruct.rows import Choice, Field

_T = TypeVar("_T")
_FOLDER: Final = Path(__file__).parent
#: What the `entity_type` of a row of the test taxonomy begins with.
TEST_PREFIX: Final = "test__"


class EntityKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind of thing, and all fields that a row may ask for."""

    name: str
    #: The noun of one, and of several.
    label: str
    plural: str
    #: Purposes, as endings of a sentence: `for a spring catalogue`.
    contexts: tuple[str, ...]
    fields: tuple[Field, ...]
    #: Sentences on the manner of the values; by default the file's sentences.
    manners: tuple[str, ...] = ()


class EntityFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Kinds of one subject."""

    manners: tuple[str, ...]
    entity: tuple[EntityKind, ...]

    def kinds(self) -> tuple[EntityKind, ...]:
        """Return the kinds, each with its manners."""
        return tuple(
            msgspec.structs.replace(kind, manners=kind.manners or self.manners)
            for kind in self.entity
        )


@cache
def entity_kinds(split: str) -> tuple[EntityKind, ...]:
    """Return the kinds of a taxonomy, in the order of files and of their lines.

    Args:
        split: `train` or `test`.
    """
    paths = sorted((_FOLDER / "entities" / split).glob("*.toml"))
    return tuple(kind for path in paths for kind in _read(path, EntityFile).kinds())


def _read(path: Path, kind: type[_T]) -> _T:
    return msgspec.toml.decode(path.read_bytes(), type=kind)


class Mix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weight of each alternative of each choice; 0 by default."""

    about: str = ""
    format: dict[str, float]
    wrapper: dict[str, float]
    commentary: dict[str, float]
    fence: dict[str, float]
    count: dict[str, float]
    escaping: dict[str, float]
    presentation: dict[str, float]
    voice: dict[str, float]

    def draw(self, choice: str, draw: Random) -> str:
        """Return one alternative of a choice, drawn by the weights."""
        weights: dict[str, float] = getattr(self, choice)
        return draw.choices(list(weights), list(weights.values()))[0]


@cache
def mixes() -> Mapping[str, Mix]:
    """Return the mixes by their names."""
    return _read(_FOLDER / "mixes.toml", dict[str, Mix])


class Voice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way of wording a request; one text is drawn from each list.

    Names in braces are placeholders: `{noun}`, `{least}`, `{most}`,
    `{context}`, `{label}`, `{name}`, `{facts}`, `{format}`, `{key}`, `{language}`.
    """

    about: str
    #: The number of items with their noun.
    exact: tuple[str, ...]
    range: tuple[str, ...]
    #: The request itself, with `{count}`.
    request: tuple[str, ...]
    manner: tuple[str, ...]
    #: The introduction of bullets and sentences.
    fields: str
    #: One sentence a field.
    prose: tuple[str, ...]
    #: The introductions of the other styles.
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
    #: Whether it states choices and takes them back; then it has the following fields,
    #: and `{correction}` in texts that may correct a choice.
    revises: bool = False
    opening: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    limit: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    #: Statements of choices that are taken back; one of each list is drawn.
    musings: dict[Choice, tuple[str, ...]] = {}


@cache
def voices() -> Mapping[str, Voice]:
    """Return every voice by the name of its file."""
    paths = sorted((_FOLDER / "voices").glob("*.toml"))
    return {path.stem: _read(path, Voice) for path in paths}


class Escape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind of text that must be escaped in JSON and YAML."""

    #: Sentences that ask for it; `{field}` is the field's name.
    ask: tuple[str, ...]
    #: Texts that have it.
    texts: tuple[str, ...]


@cache
def escapes() -> Mapping[str, Escape]:
    """Return every kind by its name: `multiline`, `quotes`, `code`, ..."""
    return _read(_FOLDER / "escapes.toml", dict[str, Escape])
