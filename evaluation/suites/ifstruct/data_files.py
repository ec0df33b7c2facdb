"""Data files of the generator: kinds of things, mixes of choices, voices, escapes.

Kinds stand in `entities/train` and `entities/test`, one TOML file a subject, and share
no name. To add one, write a file of the same form, there or in a folder of your own.
Voices stand in `voices/`, one TOML file each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Final, TypeVar

import msgspec

from curation.system.errors import BadConfiguration, BadData, NoInput
from evaluation.suites.ifstruct.rewriting import last_words
from evaluation.suites.ifstruct.rows import Field, FieldType, Presentation, all_fields

_T = TypeVar("_T")
_ENTITIES: Final = Path(__file__).with_name("entities")
#: The taxonomies, by the name of `--set split=NAME`.
SPLITS: Final = ("train", "test")
#: What the `entity_type` of a row of the test taxonomy begins with.
TEST_PREFIX: Final = "test__"
_NAME: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
#: Fields without a text that needs escaping that a kind has at least.
_FEWEST: Final = 4


class EntityKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind of thing, and all fields that a row may ask for."""

    name: str
    #: The noun of one, and of several.
    label: str
    plural: str
    #: Purposes, as endings of a sentence: `for a spring catalogue`.
    contexts: tuple[str, ...]
    fields: tuple[Field, ...]
    #: Sentences on the manner of the values; by default those of its file.
    manners: tuple[str, ...] = ()


class _EntityFile(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    manners: tuple[str, ...]
    entity: tuple[EntityKind, ...]


@cache
def entity_kinds(split: str, folder: str = "") -> tuple[EntityKind, ...]:
    """Return the kinds of a taxonomy, in the order of files and of their lines.

    Args:
        split: `train` or `test`.
        folder: A folder of files whose kinds take the place of ours; empty for ours.

    Raises:
        BadConfiguration: an unknown taxonomy.
        NoInput: the folder holds no TOML file.
        BadData: a file is at fault; the message has its name and the fault.
    """
    if split not in SPLITS:
        raise BadConfiguration(
            f"unknown taxonomy {split!r}", then=f"choose one of {', '.join(SPLITS)}"
        )
    place = Path(folder) if folder else _ENTITIES / split
    paths = sorted(place.glob("*.toml"))
    if not paths:
        raise NoInput(
            "no file of kinds in it",
            str(place),
            "docs/suites/ifstruct.md says how to write one",
        )
    kinds = tuple(kind for path in paths for kind in _read(path))
    names = [kind.name for kind in kinds]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadData(f"two kinds are called {twice[0]}", str(place))
    return kinds


def _read(path: Path) -> Iterator[EntityKind]:
    file = _decoded(path, _EntityFile, "file of kinds")
    for kind in file.entity:
        manners = kind.manners or file.manners
        whole = msgspec.structs.replace(kind, manners=manners)
        fault = next(_faults(whole), None)
        if fault is not None:
            raise BadData(f"{kind.name}: {fault}", str(path))
        yield whole


def _decoded(path: Path, kind: type[_T], what: str) -> _T:
    try:
        return msgspec.toml.decode(path.read_bytes(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadData(f"no {what}: {error}", str(path)) from None


def _faults(kind: EntityKind) -> Iterator[str]:
    fields = [field for _, field in all_fields(kind.fields)]
    names = [field.name for field in fields]
    for name in (kind.name, *names):
        if not _NAME.fullmatch(name):
            yield f"{name!r} is not several words of a-z and 0-9 joined by `_`"
        if names.count(name) > 1:
            yield f"two fields are called {name}"
    for field in fields:
        yield from _field_faults(field)
    if not any(field.stress for field in kind.fields):
        yield "no field has a `stress`, so no text of it could need escaping"
    if len([field for field in kind.fields if not field.stress]) < _FEWEST:
        yield f"under {_FEWEST} fields have no `stress`"
    if not kind.contexts or not kind.manners:
        yield "it has no `contexts`, or its file no `manners`"
    texts = (*kind.contexts, *kind.manners, *(field.about for field in fields))
    for text in texts:
        words = last_words(text, kind.label, kind.plural)
        if any(getattr(words, name) is not None for name in words.__slots__):
            yield f"{text!r} reads like a choice of format, fence, count or comments"


def _field_faults(field: Field) -> Iterator[str]:
    unknown = set(field.stress) - set(escapes())
    if unknown:
        yield f"{field.name}: no such stress: {', '.join(sorted(unknown))}"
    if (field.type is FieldType.ENUM) != (len(field.values) > 1):
        yield f"{field.name}: an enum, and nothing else, has two `values` at least"
    if field.is_leaf == bool(field.fields):
        yield f"{field.name}: objects, and nothing else, have `fields`"
    elif field.fields and all(inner.stress for inner in field.fields):
        yield f"{field.name}: one of its fields at least has no `stress`"
    if field.type in (FieldType.OBJECTS, FieldType.STRINGS):
        if field.min_items is None or field.max_items is None:
            yield f"{field.name}: a list has `min_items` and `max_items`"
        elif not 0 < field.min_items <= field.max_items:
            yield f"{field.name}: its lengths are no range"
    if field.type in (FieldType.INTEGER, FieldType.NUMBER):
        low, high = field.minimum, field.maximum
        if low is None or high is None or not low < high:
            yield f"{field.name}: a number has a `minimum` below its `maximum`"


_MIXES: Final = Path(__file__).with_name("mixes.toml")
#: The alternatives of each choice but presentation and voice.
CHOICES: Final = {
    "format": ("json", "yaml"),
    "wrapper": ("wrapped", "bare"),
    "commentary": ("banned", "allowed"),
    "fence": ("required", "required_language", "forbidden", "free"),
    "count": ("exact", "range"),
    "escaping": ("stressed", "plain"),
}


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
        weights = self.weights(choice)
        return draw.choices(list(weights), list(weights.values()))[0]

    def weights(self, choice: str) -> dict[str, float]:
        """Return the weights of a choice's alternatives."""
        weights: dict[str, float] = getattr(self, choice)
        return weights

    def shares(self, choice: str) -> dict[str, float]:
        """Return the share of rows with each alternative of a choice."""
        weights = self.weights(choice)
        total = sum(weights.values())
        return {name: weight / total for name, weight in weights.items()}


def alternatives(choice: str) -> tuple[str, ...]:
    """Return the alternatives of a choice, to which a mix gives weights."""
    if choice == "presentation":
        return tuple(Presentation)
    return tuple(voices()) if choice == "voice" else CHOICES[choice]


@cache
def find_mix(name: str) -> Mix:
    """Return a mix by its name, or out of a TOML file of that path.

    Raises:
        BadConfiguration: an unknown name.
        BadData: the file is no mix, or gives weight to an unknown alternative.
    """
    path = Path(name)
    if path.suffix == ".toml":
        try:
            mix = _decoded(path, Mix, "mix")
        except OSError as error:
            raise BadConfiguration("the mix cannot be read", str(path)) from error
        _check(mix, str(path))
        return mix
    mixes = named_mixes()
    if name not in mixes:
        then = f"choose one of {', '.join(mixes)}, or name a file that ends with .toml"
        raise BadConfiguration(f"unknown mix {name!r}", then=then)
    return mixes[name]


@cache
def named_mixes() -> dict[str, Mix]:
    """Return the mixes that have names."""
    mixes = msgspec.toml.decode(_MIXES.read_bytes(), type=dict[str, Mix])
    for mix in mixes.values():
        _check(mix, str(_MIXES))
    return mixes


def _check(mix: Mix, where: str) -> None:
    for choice in (*CHOICES, "presentation", "voice"):
        weights = mix.weights(choice)
        unknown = sorted(set(weights) - set(alternatives(choice)))
        if unknown:
            raise BadData(
                f"{choice} has no {unknown[0]!r}",
                where,
                f"choose one of {', '.join(alternatives(choice))}",
            )
        if min(weights.values(), default=-1) < 0 or not sum(weights.values()):
            raise BadData(f"the weights of {choice} are no weights", where)


_VOICES: Final = Path(__file__).with_name("voices")


class Musings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Statements of choices that are taken back later; one of each list is drawn."""

    format: tuple[str, ...]
    count: tuple[str, ...]
    wrapper: tuple[str, ...]
    fence: tuple[str, ...]
    limit: tuple[str, ...]
    field: tuple[str, ...]


class Voice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way of wording a request; of each list one text is drawn.

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
    musings: Musings | None = None


@cache
def voices() -> Mapping[str, Voice]:
    """Return every voice by the name of its file.

    Raises:
        BadData: a file is no voice.
    """
    by_name = {}
    for path in sorted(_VOICES.glob("*.toml")):
        voice = _decoded(path, Voice, "voice")
        if voice.revises and voice.musings is None:
            raise BadData("a voice that revises has [musings]", str(path))
        by_name[path.stem] = voice
    return MappingProxyType(by_name)


_ESCAPES: Final = Path(__file__).with_name("escapes.toml")


class Escape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind of text that must be escaped in JSON and YAML."""

    #: Sentences that ask for it; `{field}` is the field's name.
    ask: tuple[str, ...]
    #: Texts that have it.
    texts: tuple[str, ...]


@cache
def escapes() -> Mapping[str, Escape]:
    """Return every kind by its name: `multiline`, `quotes`, `code`, ..."""
    kinds = msgspec.toml.decode(_ESCAPES.read_bytes(), type=dict[str, Escape])
    return MappingProxyType(kinds)
