"""Check that a request states all that its row requires; take a model's rewordings.

The check takes the last word on everything: the last of several formats counts, and so
does the last number of items, key and code block. The patterns match ordinary English
requests, whether a voice here or a model wrote them; a statement that they cannot
read counts as missing.

A field's facts are searched for in the stretches of text that begin at its name and end
at the name of another field. Names of fields are several words joined by `_`, so prose
never names one by chance.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from evaluation.answers.json_search import json_spans
from evaluation.core.records import Message, Prompt, Record
from evaluation.suites.ifstruct.rows import (
    Field,
    IfstructSettings,
    RowSpec,
    all_fields,
    number_text,
    read_record,
)

#: Tokens of a reworded request.
_BUDGET: Final = 4096
#: The `voice` of a row whose text a model wrote.
BY_MODEL: Final = "model"
#: The request to reword, and manners of writing, one for each row in turn.
_REWORDING: Final = tomllib.loads(
    Path(__file__).with_name("rewording.toml").read_text("utf-8")
)
_SCHEMA_WORDS: Final = re.compile(r"json[ -]?schema", re.IGNORECASE)
_FORMAT: Final = re.compile(r"\b(json|yaml)\b", re.IGNORECASE)
_KEY: Final = re.compile(r"\bkey\b[^.\n`\"]{0,40}[`\"]([^`\"\n]+)[`\"]", re.IGNORECASE)
_BARE: Final = re.compile(
    r"\b(?:bare|plain|naked|top-level) (?:list|array)\b|\b(?:no|without a) wrapper\b",
    re.IGNORECASE,
)
_BLOCK: Final = re.compile(r"\bcode[ -]?(?:block|fence)s?\b|\bfenced?\b", re.IGNORECASE)
_COMMENT: Final = re.compile(
    r"\b(?:commentary|explanations?|(?:additional|extra) text)\b", re.IGNORECASE
)
#: A refusal of the words after it in the same part of a sentence.
_REFUSAL: Final = re.compile(
    r"\b(?:no|not|without|never|skip|drop|avoid|omit|don't|nor)\b[^,.;:\n]*$",
    re.IGNORECASE,
)
_LANGUAGE: Final = re.compile(r"```(json|yaml)\b|\b(json|yaml) code", re.IGNORECASE)
_REFUSAL_REACH: Final = 60
_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
#: Words for each type, in any style.
_TYPES: Final = {
    "string": re.compile(r"\b(?:string|text|str)\b"),
    "integer": re.compile(r"\b(?:integer|int|whole number)\b"),
    "number": re.compile(r"\b(?:number|decimal|float)\b"),
    "boolean": re.compile(r"\b(?:boolean|bool|true or false|true/false)\b"),
    "objects": re.compile(r"\b(?:list|array|items?)\b|\["),
    "strings": re.compile(r"\b(?:list|array|items?)\b|\["),
}
_OPTIONAL: Final = re.compile(
    r"\boptional|\b(?:may|can) be (?:left out|omitted|missing|absent)|not required"
)
#: Styles that show the whole path of a nested field.
_WITH_PATHS: Final = ("bullets", "glossary", "table")
_NAME: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
#: Characters that a stretch has at most.
_LONGEST_STRETCH: Final = 900


def prompt(record: Record, _settings: IfstructSettings) -> Prompt:
    """Return the request that a model reword a row's text."""
    row = read_record(record.fields)
    manners = _REWORDING["manners"]
    manner = manners[sum(row.id.encode()) % len(manners)]
    request = _REWORDING["task"].format(manner=manner, text=row.prompt)
    return Prompt(messages=(Message(role="user", content=request),), budget=_BUDGET)


def accept(record: Record, text: str) -> Record:
    """Return a row with a model's text; the row itself if the text lost anything."""
    row = read_record(record.fields)
    if not text or row.spec is None or lost_requirements(row.spec, text):
        return record
    spec = replace(row.spec, voice=BY_MODEL, retractions=())
    reworded = replace(row, prompt=text, voice=BY_MODEL, spec=spec)
    return replace(record, fields=msgspec.to_builtins(reworded))


def lost_requirements(spec: RowSpec, text: str) -> tuple[str, ...]:
    """Return the requirements that a request lost, empty if it states all of them.

    Args:
        spec: The choices of the row.
        text: The request.
    """
    return (*_lost_choices(spec, text), *_lost_facts(spec, text))


def last_words(text: str, label: str, plural: str) -> dict[str, object]:
    """Return the final statements of a text; None without a statement.

    They are the `format`, the `count`, the key of the `wrapper` (empty for a bare
    list), the `fence`, and whether `commentary` is allowed.

    Args:
        text: The request.
        label: The noun of one item.
        plural: The noun of several.
    """
    formats = _FORMAT.findall(_SCHEMA_WORDS.sub("", text))
    return {
        "format": formats[-1].lower() if formats else None,
        "count": _count(text, label, plural),
        "wrapper": _wrapper(text),
        "fence": _fence(text),
        "commentary": _commentary(text),
    }


def _lost_choices(spec: RowSpec, text: str) -> list[str]:
    words = last_words(text, spec.label, spec.plural)
    choices = {
        "format": spec.format,
        "count": (spec.least, spec.most),
        "wrapper": spec.wrapper or "",
        "fence": spec.fence,
        "commentary": spec.commentary,
    }
    # The text may be silent about a choice that the row leaves free.
    if spec.fence == "free" and words["fence"] is None:
        del choices["fence"]
    if spec.commentary and words["commentary"] is None:
        del choices["commentary"]
    return [name for name, choice in choices.items() if words[name] != choice]


def _count(text: str, label: str, plural: str) -> tuple[int, int] | None:
    number = rf"(\d+|{'|'.join(_WORDS)})"
    nouns = f"(?:{re.escape(plural)}|{re.escape(label)})"
    form = rf"\b{number}(?:\s*(?:-|–|to|and|or)\s*{number})?\s+{nouns}\b"  # noqa: RUF001 (a dash that people type)
    counts = re.findall(form, text, re.IGNORECASE)
    if not counts:
        return None
    minimum, maximum = counts[-1]
    return _number(minimum), _number(maximum or minimum)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else _WORDS.index(text.lower())


def _wrapper(text: str) -> str | None:
    keys = {match.end(): match[1] for match in _KEY.finditer(text)}
    keys |= {match.end(): "" for match in _BARE.finditer(text)}
    return keys[max(keys)] if keys else None


def _fence(text: str) -> str | None:
    mentions = list(_BLOCK.finditer(text))
    if not mentions:
        return None
    mention = mentions[-1]
    if _is_refused(text, mention.start()):
        return "forbidden"
    ends = (". ", "\n")
    start = max(0, *(text.rfind(end, 0, mention.start()) for end in ends))
    after = [text.find(end, mention.end()) for end in ends]
    end = min((position for position in after if position >= 0), default=len(text))
    language = _LANGUAGE.search(text[start:end])
    if language is None:
        return "required"
    return f"required:{(language[1] or language[2]).lower()}"


def _commentary(text: str) -> bool | None:
    mentions = list(_COMMENT.finditer(text))
    return not _is_refused(text, mentions[-1].start()) if mentions else None


def _is_refused(text: str, start: int) -> bool:
    """Return whether the words before a place refuse the one at it."""
    return bool(_REFUSAL.search(text[max(0, start - _REFUSAL_REACH) : start]))


def _lost_facts(spec: RowSpec, text: str) -> list[str]:
    """Return the facts about fields that a text lacks."""
    if spec.presentation == "schema":
        schemas = (json.loads(text[start:end]) for start, end in json_spans(text))
        return [] if spec.schema in schemas else ["the schema"]
    lost: list[str] = []
    fields = dict(all_fields(spec.fields))
    names = [field.name for field in fields.values()]
    stretches = _stretches(text, names)
    for path, field in fields.items():
        if spec.presentation in _WITH_PATHS and path not in text:
            lost.append(f"the path {path}")
        about = stretches.get(field.name, "")
        lost += [f"{path}: {fact}" for fact in _missing_facts(field, about)]
    return lost


def _stretches(text: str, names: list[str]) -> dict[str, str]:
    """Return the text after each mention of each field, joined."""
    mentions = [match for match in _NAME.finditer(text) if match[0] in set(names)]
    starts = [*(mention.start() for mention in mentions), len(text)]
    stretches: dict[str, str] = {}
    for mention, (start, end) in zip(mentions, pairwise(starts), strict=True):
        stretch = text[mention.end() : min(end, start + _LONGEST_STRETCH)]
        stretches[mention[0]] = f"{stretches.get(mention[0], '')} {stretch}"
    return stretches


def _missing_facts(field: Field, text: str) -> Iterator[str]:
    if not text:
        yield "not named"
        return
    form = _TYPES.get(field.type)
    if form is not None and not form.search(text):
        yield f"its type {field.type}"
    for value in field.values:
        if not _states(value, text):
            yield f"the value {value}"
    for number in (field.minimum, field.maximum, field.min_items, field.max_items):
        if number is not None and not _states(number_text(number), text):
            yield f"the limit {number_text(number)}"
    if field.optional != bool(_OPTIONAL.search(text)):
        yield "whether it is optional"


def _states(word: str, text: str) -> bool:
    """Return whether a text has a word or number, not inside of another.

    `4` is not in `40`, `0.4` or `a4`.
    """
    form = rf"(?<![\w.]){re.escape(word)}(?!\w|\.\d)"
    return re.search(form, text) is not None
