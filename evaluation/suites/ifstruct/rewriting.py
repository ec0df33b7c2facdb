"""Have a model reword a request; take its text if that states every requirement.

The last word counts: a request may think aloud. What it says of fields stays as it is,
in prose the name of each with its type and limits. The patterns match ordinary English
requests; a statement that they cannot read counts as lost, so that a row rather keeps
its own text.
"""

from __future__ import annotations

import re
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
from evaluation.suites.ifstruct.wording import STYLES, facts_of

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
    spec = replace(row.spec, retractions=())
    reworded = replace(row, prompt=text, voice="model", spec=spec)
    return replace(record, fields=msgspec.to_builtins(reworded))


def _states_all(row: IfstructRecord, spec: RowSpec, text: str) -> bool:
    nouns = (spec.plural, spec.label)
    if last_words(text, *nouns) != last_words(row.prompt, *nouns):
        return False
    if row.presentation != "prose":
        return STYLES[row.presentation](row, spec.fields) in text
    # Between a field and its facts there is no other field.
    facts = (f"`{it.name}`[^`]*{re.escape(facts_of(it))}" for it in spec.fields)
    return all(re.search(fact, text) for fact in facts)


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
