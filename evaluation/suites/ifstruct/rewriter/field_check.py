"""Is every field still in a text, with its type, its limits, and its being optional?

What a text says of a field is looked for in the stretches that begin where the field
is named and end where another one is. Field names are of several words joined by `_`,
so no prose names one by chance.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.core.fields import Field, FieldType, all_fields
from evaluation.suites.ifstruct.core.row_spec import Choice, Presentation
from evaluation.suites.ifstruct.presentation.wording import number_text, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.suites.ifstruct.core.row_spec import Retraction, RowSpec

#: Words for each type, in any style.
_TYPES: Final = {
    FieldType.STRING: re.compile(r"\b(?:string|text|str)\b"),
    FieldType.INTEGER: re.compile(r"\b(?:integer|int|whole number)\b"),
    FieldType.NUMBER: re.compile(r"\b(?:number|decimal|float)\b"),
    FieldType.BOOLEAN: re.compile(r"\b(?:boolean|bool|true or false|true/false)\b"),
    FieldType.OBJECTS: re.compile(r"\b(?:list|array|items?)\b|\["),
    FieldType.STRINGS: re.compile(r"\b(?:list|array|items?)\b|\["),
}
_OPTIONAL: Final = re.compile(
    r"\boptional|\b(?:may|can) be (?:left out|omitted|missing|absent)|not required"
)
_DROPPED: Final = re.compile(r"\b(?:forget|drop|scrap|leave|without|remove|no)\b")
#: Styles that show the whole path of a nested field.
_WITH_PATHS: Final = frozenset(
    {Presentation.BULLETS, Presentation.GLOSSARY, Presentation.TABLE}
)
_NAME: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
#: Characters that a stretch has at most.
_LONGEST: Final = 900
#: Characters around a field that is taken back in which that is said.
_NEAR: Final = 60


def lost_facts(spec: RowSpec, text: str) -> list[str]:
    """Return what a text no longer says of the fields, or says wrongly in the end."""
    lost = [
        f"{one.wrong or one.field} is not taken back"
        for one in spec.retractions
        if not _is_taken_back(one, text)
    ]
    if spec.presentation is Presentation.SCHEMA:
        return lost if _holds_schema(spec, text) else [*lost, "the schema"]
    fields = dict(all_fields(spec.fields))
    names = [field.name for field in fields.values()]
    names += [one.wrong for one in spec.retractions if one.choice is Choice.FIELD]
    stretches = _stretches(text, names)
    for path, field in fields.items():
        if spec.presentation in _WITH_PATHS and path not in text:
            lost.append(f"the path {path}")
        said = stretches.get(field.name, "")
        lost += [f"{path}: {fact}" for fact in _lost(field, said)]
    return lost


def _stretches(text: str, names: list[str]) -> dict[str, str]:
    """Return all that a text says where it names each field, joined."""
    known = set(names)
    mentions = [found for found in _NAME.finditer(text) if found[0] in known]
    starts = [*(mention.start() for mention in mentions), len(text)]
    said: dict[str, str] = {}
    for mention, (start, end) in zip(mentions, pairwise(starts), strict=True):
        stretch = text[mention.end() : min(end, start + _LONGEST)]
        said[mention[0]] = f"{said.get(mention[0], '')} {stretch}"
    return said


def _lost(field: Field, said: str) -> Iterator[str]:
    """Yield what is not in the stretches of a field."""
    if not said:
        yield "not named"
        return
    form = _TYPES.get(field.type)
    if form is not None and not form.search(said):
        yield f"its type {field.type}"
    for value in field.values:
        if not _has_word(value, said):
            yield f"the value {value}"
    limits = (field.minimum, field.maximum, field.min_items, field.max_items)
    for number in (*limits, field.min_length, field.max_length):
        if number is not None and not _has_word(number_text(number), said):
            yield f"the limit {number_text(number)}"
    if field.optional != bool(_OPTIONAL.search(said)):
        yield "whether it is optional"
    yield from _lost_rules(field, said)


def _lost_rules(field: Field, said: str) -> Iterator[str]:
    """Yield what is lost of the extended rules."""
    if field.pattern and field.pattern not in said:
        yield "its pattern"
    if field.format and not _has_word(field.format, said):
        yield "its format"
    if field.unique and not re.search(r"no two|unique|distinct|different", said):
        yield "that its values differ"
    when = field.when
    if when is not None and not re.search(r"\b(?:when|if)\b", said):
        yield f"its condition {value_text(when.equals)}"


def _has_word(word: str, said: str) -> bool:
    """Return whether a text has a word or a number that is no part of another one."""
    return _last_place(word, said) >= 0


def _last_place(word: str, said: str) -> int:
    """Return where a word or number stands last in a text; -1 where it does not.

    A part of another word or number does not count: `4` in `40`, `0.4` or `a4`.
    """
    place = said.rfind(word)
    while place >= 0:
        before, after = said[:place][-1:], said[place + len(word) :][:2]
        inside = _is_part(before) or before == "." or _is_part(after[:1])
        if not inside and not (after[:1] == "." and after[1:].isdigit()):
            return place
        place = said.rfind(word, 0, place + len(word) - 1)
    return -1


def _is_part(character: str) -> bool:
    return character.isalnum() or character == "_"


def _holds_schema(spec: RowSpec, text: str) -> bool:
    """Return whether the very schema stands in a text."""
    wanted = spec.requirements.schema
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            found = None
        if found == wanted:
            return True
        start = text.find("\n{", start + 1)
        start = start + 1 if start >= 0 else start
    return False


def _is_taken_back(one: Retraction, text: str) -> bool:
    """Return whether a choice that is taken back does not read as final.

    Format, count, wrapper and code block are read by their last word elsewhere.
    """
    if one.choice is Choice.LIMIT:
        said = _stretches(text, [one.field]).get(one.field, "")
        return _last_place(one.wrong, said) < _last_place(one.final, said)
    if one.choice is Choice.FIELD:
        place = text.rfind(one.wrong)
        near = text[max(0, place - _NEAR) : place + len(one.wrong) + _NEAR]
        return place < 0 or bool(_DROPPED.search(near))
    return True
