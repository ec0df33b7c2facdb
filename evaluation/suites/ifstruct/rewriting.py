"""Have a model reword a request; take its text if that states every requirement.

The last word counts: a request may think aloud. Fields in prose may be reworded around
the words of their types and limits; any other style stays as it is. The patterns match
ordinary English requests; a statement that they cannot read counts as lost, so that a
row rather keeps its own text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Final

import msgspec
from msgspec.structs import replace

from evaluation.core.records import Message, Prompt, Record
from evaluation.suites.ifstruct.rows import (
    IfstructRecord,
    IfstructSettings,
    RowSpec,
    read_record,
    read_toml,
)
from evaluation.suites.ifstruct.wording import STYLES, facts_in_words

#: Tokens of a reworded request.
_BUDGET: Final = 4096
#: The request to reword, and manners of writing, one for each row in turn.
_REWORDING: Final = read_toml("rewording.toml")


def prompt(record: Record, _settings: IfstructSettings) -> Prompt:
    """Return the request that a model reword a row's text."""
    row = read_record(record.fields)
    manners = _REWORDING["manners"]
    manner = manners[sum(str(row.seed).encode()) % len(manners)]
    request = _REWORDING["task"].format(manner=manner, text=row.prompt)
    return Prompt(messages=(Message(role="user", content=request),), budget=_BUDGET)


def accept(record: Record, text: str) -> Record:
    """Return a row with a model's text, as voice `model`.

    It is the row itself if the text lost anything, or if nothing can be checked.
    """
    row = read_record(record.fields)
    if row.spec is None or not _states_all(row, row.spec, text):
        return record
    spec = replace(row.spec, voice="model", retractions=())
    reworded = replace(row, prompt=text, voice="model", spec=spec)
    return replace(record, fields=msgspec.to_builtins(reworded))


def _states_all(row: IfstructRecord, spec: RowSpec, text: str) -> bool:
    nouns = (spec.plural, spec.label)
    if last_words(text, *nouns) != last_words(row.prompt, *nouns):
        return False
    if spec.presentation != "prose":
        return STYLES[spec.presentation](spec) in text
    wanted = facts_by_name(facts_in_words(spec.fields))
    stated = facts_by_name(text)
    return all(
        facts <= stated[name] and (_OPTIONAL in facts) == (_OPTIONAL in stated[name])
        for name, facts in wanted.items()
    )


_FORMAT: Final = r"\b(json|yaml)\b(?![ -]?schema)"
_COUNT: Final = r"\b(\d+)(?: ?(?:-|–|to|and|or) ?(\d+))? (?:{}|{})\b"  # noqa: RUF001 (a dash that people type)
_KEY: Final = (
    r"\bkey\b[^.\n`\"]{0,40}[`\"]([^`\"\n]+)[`\"]"
    r"|\b(?:bare|plain|naked|top-level) (?:list|array)\b|\b(?:no|without a) wrapper\b"
)
_LANGUAGE: Final = r"```(json|yaml)\b|\b(json|yaml) code"
_BLOCK: Final = r"code[ -]?(?:block|fence)|\bfenced?\b"
_COMMENT: Final = r"\b(?:commentary|explanation|(?:additional|extra) text)"
#: A refusal of the words after it in the same part of a sentence.
_REFUSAL: Final = (
    r"(\b(?:no|not|without|never|skip|drop|avoid|omit|don't|nor)\b[^,.;:\n]*)?"
)


def last_words(text: str, plural: str, label: str) -> list[object]:
    """Return the last statements of a text on each choice, each in a list.

    They are the format, the number of items, the key of the wrapper (empty for a bare
    list), the language of the code block, whether there is to be a block, and whether
    there may be commentary.

    Args:
        text: The request.
        plural: The noun of several items.
        label: The noun of one.
    """
    lower = text.lower()
    count = _COUNT.format(re.escape(plural.lower()), re.escape(label.lower()))
    stated = (re.findall(form, lower) for form in (_FORMAT, count, _KEY, _LANGUAGE))
    blocks, comments = (
        [not refusal for refusal in re.findall(f"{_REFUSAL}(?:{form})", lower)]
        for form in (_BLOCK, _COMMENT)
    )
    return [*(words[-1:] for words in stated), blocks[-1:], comments[-1:] != [False]]


_NAME: Final = re.compile(r"(?<!\")\b([a-z0-9]+(?:_[a-z0-9]+)+)\b")
_OPTIONAL: Final = "left out"
_FACT: Final = re.compile(
    r'"[^"]*"|(?<![\w.])-?\d+(?:\.\d+)?|\btrue or false\b|\bwhole number\b'
    rf"|\b(?:number|text|list|object)|{_OPTIONAL}"
)


def facts_by_name(text: str) -> dict[str, set[str]]:
    """Return the types, limits and values that a text states after each name.

    Names of fields are several words joined by `_`, so prose never has one by chance;
    words in quotation marks are values.
    """
    _, *parts = _NAME.split(text)
    facts: dict[str, set[str]] = defaultdict(set)
    for name, words in zip(parts[::2], parts[1::2], strict=True):
        facts[name].update(_FACT.findall(words))
    return facts
