"""The kinds of things that rows ask for, in two taxonomies that share none.

They stand in `entities/train` and `entities/test`, one TOML file a subject. To add one,
write a file of the same form, there or in a folder of your own.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from curation.system.errors import BadConfiguration, BadData, NoInput
from evaluation.suites.ifstruct.core.fields import Field, FieldType, all_fields
from evaluation.suites.ifstruct.rewriter.escapes import escapes
from evaluation.suites.ifstruct.rewriter.last_word import last_words

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER: Final = Path(__file__).with_name("entities")
#: The taxonomies, by the name of `--set split=NAME`.
SPLITS: Final = ("train", "test")
#: What the `entity_type` of a row of the test taxonomy begins with.
TEST_PREFIX: Final = "test__"
_NAME: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
#: Fields without a text that needs escaping that a kind has at least.
_FEWEST: Final = 4


class EntityKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind of thing, and all fields that it may be asked with."""

    name: str
    #: What one of them is called, and several.
    label: str
    plural: str
    #: What they are for, as endings of a sentence: `for a spring catalogue`.
    contexts: tuple[str, ...]
    fields: tuple[Field, ...]
    #: Sentences on the manner of the values; those of its file where it has none.
    manners: tuple[str, ...] = ()


class _EntityFile(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """One file: kinds of one subject."""

    manners: tuple[str, ...]
    entity: tuple[EntityKind, ...]


@cache
def entity_kinds(split: str, folder: str = "") -> tuple[EntityKind, ...]:
    """Return the kinds of a taxonomy, in the order of files and of their lines.

    Args:
        split: `train` or `test`.
        folder: A folder of files whose kinds take the place of ours; empty for ours.

    Raises:
        BadConfiguration: there is no such taxonomy.
        NoInput: the folder holds no TOML file.
        BadData: a file is not as it should be.
    """
    if split not in SPLITS:
        raise BadConfiguration(
            f"there is no taxonomy {split!r}", then=f"choose of {', '.join(SPLITS)}"
        )
    place = Path(folder) if folder else _FOLDER / split
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
    try:
        file = msgspec.toml.decode(path.read_bytes(), type=_EntityFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadData(f"no file of kinds: {error}", str(path)) from None
    for kind in file.entity:
        manners = kind.manners or file.manners
        whole = msgspec.structs.replace(kind, manners=manners)
        fault = next(_faults(whole), None)
        if fault is not None:
            raise BadData(f"{kind.name}: {fault}", str(path))
        yield whole


def _faults(kind: EntityKind) -> Iterator[str]:
    """Yield what is wrong with a kind, in words."""
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
        said = last_words(text, kind.label, kind.plural)
        if any(getattr(said, name) is not None for name in said.__slots__):
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
