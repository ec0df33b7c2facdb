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
from collections.abc import Iterator
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
    read_toml,
)

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
    if not text or row.spec is None or any(lost_requirements(row.spec, text)):
        return record
    spec = replace(row.spec, voice="model", retractions=())
    reworded = replace(row, prompt=text, voice="model", spec=spec)
    return replace(record, fields=msgspec.to_builtins(reworded))


def lost_requirements(spec: RowSpec, text: str) -> Iterator[str]:
    """Yield the choices that a request lost, and the paths of fields that lost a fact.

    Args:
        spec: The choices of the row.
        text: The request.
    """
    words = last_words(text, spec.label, spec.plural)
    choices = {
        "format": spec.format,
        "count": (spec.least, spec.most),
        "wrapper": spec.wrapper or "",
        "fence": spec.fence,
        "commentary": spec.commentary,
    }
    yield from (name for name, choice in choices.items() if words[name] != choice)
    if spec.presentation == "schema":
        schemas = (json.loads(text[start:end]) for start, end in json_spans(text))
        if spec.schema not in schemas:
            yield "the schema"
        return
    fields = dict(all_fields(spec.fields))
    stretches = _stretches(text, {field.name for field in fields.values()})
    shows_paths = spec.presentation in ("bullets", "glossary", "table")
    for path, field in fields.items():
        is_shown = path in text or not shows_paths
        if not is_shown or not _has_facts(stretches.get(field.name, ""), field):
            yield path


_SCHEMA_WORDS: Final = re.compile(r"(?i)json[ -]?schema")
_FORMAT: Final = re.compile(r"(?i)\b(json|yaml)\b")
_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
_KEY: Final = re.compile(
    r"(?i)\bkey\b[^.\n`\"]{0,40}[`\"]([^`\"\n]+)[`\"]"
    r"|\b(?:bare|plain|naked|top-level) (?:list|array)\b|\b(?:no|without a) wrapper\b"
)
_BLOCK: Final = re.compile(r"(?i)\bcode[ -]?(?:block|fence)s?\b|\bfenced?\b")
_LANGUAGE: Final = re.compile(r"(?i)```(json|yaml)\b|\b(json|yaml) code")
_COMMENT: Final = re.compile(
    r"(?i)\b(?:commentary|explanations?|(?:additional|extra) text)\b"
)
_SENTENCE_END: Final = re.compile(r"\. |\n")
#: A refusal of the words after it in the same part of a sentence.
_REFUSAL: Final = re.compile(
    r"(?i)\b(?:no|not|without|never|skip|drop|avoid|omit|don't|nor)\b[^,.;:\n]*$"
)


def last_words(text: str, label: str, plural: str) -> dict[str, object]:
    """Return the final statements of a text.

    They are the `format`, the `count` and the key of the `wrapper` (empty for a bare
    list), each None without a statement; the `fence`, by default `free`; and whether
    `commentary` is allowed, by default True.

    Args:
        text: The request.
        label: The noun of one item.
        plural: The noun of several.
    """
    formats = _FORMAT.findall(_SCHEMA_WORDS.sub("", text))
    keys = _KEY.findall(text)
    _, is_comment_refused = _last_mention(_COMMENT, text)
    return {
        "format": formats[-1].lower() if formats else None,
        "count": _count(text, f"(?:{re.escape(plural)}|{re.escape(label)})"),
        "wrapper": keys[-1] if keys else None,
        "fence": _fence(text),
        "commentary": not is_comment_refused,
    }


def _count(text: str, nouns: str) -> tuple[int, int] | None:
    number = rf"(\d+|{'|'.join(_WORDS)})"
    form = rf"(?i)\b{number}(?:\s*(?:-|–|to|and|or)\s*{number})?\s+{nouns}\b"  # noqa: RUF001 (a dash that people type)
    counts = re.findall(form, text)
    if not counts:
        return None
    minimum, maximum = counts[-1]
    return _number(minimum), _number(maximum or minimum)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else _WORDS.index(text.lower())


def _last_mention(form: re.Pattern[str], text: str) -> tuple[str, bool]:
    """Return the last sentence with a word, and whether words before that refuse it.

    Without the word the sentence is empty.
    """
    for sentence in reversed(_SENTENCE_END.split(text)):
        if mentions := [*form.finditer(sentence)]:
            before = sentence[: mentions[-1].start()]
            return sentence, _REFUSAL.search(before) is not None
    return "", False


def _fence(text: str) -> str:
    sentence, is_refused = _last_mention(_BLOCK, text)
    if not sentence:
        return "free"
    if is_refused:
        return "forbidden"
    language = _LANGUAGE.search(sentence)
    if language is None:
        return "required"
    return f"required:{(language[1] or language[2]).lower()}"


_NAME: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")


def _stretches(text: str, names: set[str]) -> dict[str, str]:
    """Return the text after each mention of each field, joined."""
    mentions = [match for match in _NAME.finditer(text) if match[0] in names]
    ends = [*(mention.start() for mention in mentions[1:]), len(text)]
    stretches: dict[str, str] = {}
    for mention, end in zip(mentions, ends, strict=False):
        stretch = text[mention.end() : end]
        stretches[mention[0]] = f"{stretches.get(mention[0], '')} {stretch}"
    return stretches


#: Words for each type, in any style.
_TYPES: Final = {
    "string": r"\b(?:string|text|str)\b",
    "integer": r"\b(?:integer|int|whole number)\b",
    "number": r"\b(?:number|decimal|float)\b",
    "boolean": r"\b(?:boolean|bool|true or false|true/false)\b",
    "objects": r"\b(?:list|array|items?)\b|\[",
    "strings": r"\b(?:list|array|items?)\b|\[",
}
_OPTIONAL: Final = re.compile(
    r"\boptional|\b(?:may|can) be (?:left out|omitted|missing|absent)|not required"
)


def _has_facts(text: str, field: Field) -> bool:
    """Return whether a text has a field's type, values and limits, and if optional.

    `4` is not in `40`, `0.4` or `a4`.
    """
    limits = (field.minimum, field.maximum, field.min_items, field.max_items)
    numbers = (number_text(limit) for limit in limits if limit is not None)
    facts = (
        rf"(?<![\w.]){re.escape(it)}(?!\w|\.\d)" for it in (*field.values, *numbers)
    )
    return (
        text != ""
        and all(re.search(fact, text) for fact in (_TYPES.get(field.type, ""), *facts))
        and field.optional == bool(_OPTIONAL.search(text))
    )
