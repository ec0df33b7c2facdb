"""What a data file of the generator must satisfy, as the faults that it has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.data_files import escapes, voices
from evaluation.suites.ifstruct.rewriting import last_words
from evaluation.suites.ifstruct.rows import Field, FieldType, Presentation, all_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.suites.ifstruct.data_files import EntityKind, Mix

_NAME: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
#: Fields without a text that needs escaping that a kind has at least.
_FEWEST: Final = 4


def kind_faults(kind: EntityKind) -> Iterator[str]:
    """Yield the faults of a kind of thing."""
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
    holds = field.type in {FieldType.OBJECT, FieldType.OBJECTS}
    if holds != bool(field.fields):
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


#: The alternatives of each choice, to which a mix gives weights.
CHOICES: Final = {
    "format": ("json", "yaml"),
    "wrapper": ("wrapped", "bare"),
    "commentary": ("banned", "allowed"),
    "fence": ("required", "required_language", "forbidden", "free"),
    "count": ("exact", "range"),
    "escaping": ("stressed", "plain"),
    "presentation": tuple(Presentation),
    "voice": tuple(voices()),
}


def shares(mix: Mix, choice: str) -> dict[str, float]:
    """Return the share of rows with each alternative of a choice."""
    weights: dict[str, float] = getattr(mix, choice)
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}
