"""Find the JSON of an answer that has words or a fence around it.

Models put envelopes around an answer, the same for every suite:

| envelope | the text, without thinking and end tokens |
|---|---|
| `bare` | the answer alone |
| `fence` | one code block and nothing else |
| `words` | words around the answer, with or without a code block |
| `thinking` | one of the above, after thinking |
| `none` | no text, or thinking alone |
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from evaluation.answers.extraction import (
    CODE_BLOCK,
    JsonAnswer,
    JsonProblem,
    read_json_answer,
    split_thinking,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Characters before a value that show whether broken JSON contains it.
_SPACE: Final = 40
_BRACKET: Final = re.compile(r"[{\[]")
#: Maximum broken values of a text: each takes time with its place, to name its line.
_MAX_BROKEN: Final = 2_000
#: An object, or an array of objects; words have other arrays.
_OBJECTS: Final = re.compile(r"\[?\s*\{")
#: What is before and after a value that is no part of a sentence.
_BEGINNING: Final = re.compile(r"(?:\A|\n|:)[\s*`]*\Z")
_ENDING: Final = re.compile(r"[ \t*`.]*\r?(?:\n|\Z)")
#: JSON after words; YAML and prose have brackets too.
_JSON_INSIDE: Final = re.compile(r'\{\s*"|\[\s*\{')
#: What comes before a value inside of broken JSON.
_INSIDE_JSON: Final = re.compile(r"(?:[\"']\s*:|[{\[]|[}\]]\s*,)\s*\Z")
_CLOSING: Final = re.compile(r"\s*[}\]]")
#: A member whose name has no quotes, as in JavaScript, where JSON has a name.
_BARE_NAME: Final = re.compile(r"[^\W\d][\w$-]*\s*:")
#: A string may lack its end: it is read once all the same.
_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]')
_LEVELS: Final = {"{": 1, "[": 1, "}": -1, "]": -1}


def find_envelope(text: str) -> str:
    r"""Return the name of a text's envelope.

    Example:
        >>> find_envelope("```json\n{}\n```"), find_envelope('See {"a": 1}')
        ('fence', 'words')
    """
    parts = split_thinking(text)
    answer = parts.answer.strip()
    if not answer:
        return "none"
    if parts.thinking:
        return "thinking"
    block = CODE_BLOCK.search(answer)
    if block is not None:
        return "fence" if block[0] == answer else "words"
    if answer.startswith(("{", "[")):
        return "bare" if answer.endswith(("}", "]")) else "words"
    return "words" if _JSON_INSIDE.search(answer) else "bare"


def find_json(text: str) -> JsonAnswer:
    """Return the JSON of an answer: all of the text, otherwise the last value in it.

    Thinking and end tokens are not part of it. In a text with words around, an object
    or array counts: objects and arrays of them before other arrays, which words have
    too ("see [1]"), then what has a line or the end of one to itself before what is
    inside of a sentence, then the last of several. A truncated or broken one does not
    count, nor what is inside of it.

    Example:
        >>> find_json('First {"a": 1}, no: {"a": 2}.').value
        {'a': 2}
        >>> find_json('{"a": 1').problem
        <JsonProblem.SYNTAX: 'syntax'>
    """
    text = split_thinking(text).answer.strip()
    answer = read_json_answer(text)
    if answer.problem is not JsonProblem.SYNTAX:
        return answer
    documents = [
        (bool(_OBJECTS.match(text, start)), _is_apart(text, start, end), start, end)
        for start, end in json_spans(text)
    ]
    if not documents:
        return answer
    *_, start, end = max(documents)
    return read_json_answer(text[start:end])


def _is_apart(text: str, start: int, end: int) -> bool:
    before = _BEGINNING.search(text, max(0, start - _SPACE), start)
    return bool(before and _ENDING.match(text, end))


def json_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the objects and arrays in a text begin and end that are whole."""
    decoder = json.JSONDecoder()
    index = broken = 0
    while broken < _MAX_BROKEN and (bracket := _BRACKET.search(text, index)):
        start = bracket.start()
        try:
            _, index = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            index = max(error.pos, start + 1)
            broken += 1
            is_name = error.msg.startswith("Expecting property name")
            if is_name and _BARE_NAME.match(text, index):
                index = _find_end(text, start)
            continue
        except (RecursionError, ValueError):
            return
        nested = _INSIDE_JSON.search(text, max(0, start - _SPACE), start)
        if not nested and not _CLOSING.match(text, index):
            yield start, index


def _find_end(text: str, start: int) -> int:
    """Return the end of a broken value, by its brackets outside of strings."""
    level = 0
    for mark in _STRING_OR_BRACKET.finditer(text, start):
        level += _LEVELS.get(mark[0], 0)
        if not level:
            return mark.end()
    return len(text)
