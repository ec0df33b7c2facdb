"""Read answers as JSON, and compile the schemas that they are held to.

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
from collections import Counter
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from curation.core.documents import Rejected
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.interpretations import read_schema
from curation.json.text import depth, parse, text_of_schema
from curation.system.errors import BadData
from curation.system.words import counted, shortened
from evaluation.answers.extraction import split_thinking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import GivenSchema, Json

#: Maximum characters of an answer.
MOST_CHARACTERS: Final = 32 * 2**20
#: Levels of objects and arrays that validators can process.
MOST_LEVELS: Final = 250
#: Compiled schemas kept.
_MOST_SCHEMAS: Final = 1_024
_SHOWN: Final = 300
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


class JsonProblem(StrEnum):
    """A fault of a text that is not acceptable JSON."""

    SYNTAX = "syntax"
    """It is not JSON (RFC 8259)."""
    NOT_A_NUMBER = "not_a_number"
    """It holds NaN or an infinity, or a number that no double can hold."""
    TOO_DEEP = "too_deep"
    """It nests deeper than validators can follow."""
    TOO_LARGE = "too_large"
    """It is too long."""
    LONE_SURROGATE = "lone_surrogate"
    """A string holds half of a surrogate pair."""


class JsonAnswer(NamedTuple):
    """The result of reading one text."""

    value: Json = None
    problem: JsonProblem | None = None
    #: The fault, with its line and column.
    detail: str = ""
    #: Names repeated in one object; the last value counts, as in parsers.
    duplicates: tuple[str, ...] = ()


class _Refused(ValueError):  # noqa: N818 (named by its meaning)
    """A number that Python's parser would accept."""


def read_json_answer(text: str) -> JsonAnswer:
    """Return the value of an answer, or its fault; it never raises.

    Example:
        >>> read_json_answer('{"a": 1, "a": 2}')
        JsonAnswer(value={'a': 2}, problem=None, detail='', ...)
        >>> read_json_answer('{"a": NaN}').problem
        <JsonProblem.NOT_A_NUMBER: 'not_a_number'>
    """
    if len(text) > MOST_CHARACTERS:
        detail = f"{counted(len(text), 'character')}, over {MOST_CHARACTERS:,}"
        return JsonAnswer(problem=JsonProblem.TOO_LARGE, detail=detail)
    duplicates: list[str] = []

    def build(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        members = dict(pairs)
        if len(members) != len(pairs):
            counts = Counter(name for name, _ in pairs)
            duplicates.extend(name for name in members if counts[name] > 1)
        return members

    try:
        value: Json = json.loads(
            text,
            object_pairs_hook=build,
            parse_float=_read_float,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        detail = f"{error.msg} (line {error.lineno}, column {error.colno})"
        return JsonAnswer(problem=JsonProblem.SYNTAX, detail=detail)
    except _Refused as error:
        return JsonAnswer(problem=JsonProblem.NOT_A_NUMBER, detail=str(error))
    except RecursionError:
        return _too_deep()
    except ValueError:
        detail = "an integer of more than 4,300 digits"
        return JsonAnswer(problem=JsonProblem.NOT_A_NUMBER, detail=detail)
    brackets = text.count("{") + text.count("[")
    if brackets > MOST_LEVELS and depth(value) > MOST_LEVELS:
        return _too_deep()
    if _has_lone_surrogate(text, value):
        detail = "half of a surrogate pair in a string"
        return JsonAnswer(problem=JsonProblem.LONE_SURROGATE, detail=detail)
    return JsonAnswer(value=value, duplicates=tuple(dict.fromkeys(duplicates)))


def _too_deep() -> JsonAnswer:
    detail = f"nested over {MOST_LEVELS} levels"
    return JsonAnswer(problem=JsonProblem.TOO_DEEP, detail=detail)


def _read_float(spelling: str) -> float:
    value = float(spelling)
    if value in {float("inf"), float("-inf")}:
        raise _Refused(f"the number {spelling[:40]} is too large for a double")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is not JSON")


def _has_lone_surrogate(text: str, value: Json) -> bool:
    if _ESCAPED_SURROGATE.search(text) is None and text.isascii():
        return False
    return bool(_SURROGATE.search(json.dumps(value, ensure_ascii=False)))


@lru_cache(maxsize=_MOST_SCHEMAS)
def compiled_schema(text: str | None, dialect: str) -> CompiledSchema | str:
    """Return a schema with its validators, or why it cannot be used.

    Args:
        text: The schema as JSON text; None if a record has none.
        dialect: Name of its dialect; empty to decide it as the benchmark does.

    Example:
        >>> compiled_schema('{"type": "null"}', "2020-12").is_valid(None)
        True
    """
    if text is None:
        return "the record has no schema"
    schema = (
        parse(text.encode("utf-8", "surrogatepass")) if dialect else read_schema(text)
    )
    if isinstance(schema, Rejected):
        return shortened(f"{schema.reason}: {schema.detail}", _SHOWN)
    compiled = (
        schema
        if isinstance(schema, CompiledSchema)
        else CompiledSchema.from_json(schema, dialect)
    )
    try:
        compiled.validator, compiled.validator_without_formats  # noqa: B018 - compiled here
        compiled.references  # noqa: B018 - its references are found here
    except ValueError as error:
        return shortened(str(error).partition("\n")[0], _SHOWN)
    return compiled


def usable_schema(schema: GivenSchema) -> CompiledSchema:
    """Return a schema with its validators.

    Raises:
        BadData: not a valid schema, or a reference in it is unresolvable.
    """
    compiled = compiled_schema(text_of_schema(schema), "")
    if isinstance(compiled, str):
        raise BadData(f"this schema cannot be used: {compiled}")
    return compiled


#: A code block: three backticks or more, closed by as many.
_BLOCK: Final = re.compile(r"(`{3,9}+)(.*?)\1", re.DOTALL)
#: Characters before a value that show whether broken JSON contains it.
_SPACE: Final = 40
_LANGUAGE: Final = re.compile(r"\A[ \t]*([\w+#.-]*)[ \t]*\r?\n")
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


class CodeBlock(NamedTuple):
    """A closed code block."""

    #: In lower case; empty if none is named.
    language: str
    content: str


def code_blocks(text: str) -> list[CodeBlock]:
    r"""Return the closed code blocks of a text.

    Example:
        >>> code_blocks("Here:\n```json\n[1]\n```")
        [CodeBlock(language='json', content='[1]')]
    """
    blocks = []
    for match in _BLOCK.finditer(text):
        language = _LANGUAGE.match(match[2])
        content = match[2][language.end() :] if language else match[2]
        name = language[1].lower() if language else ""
        blocks.append(CodeBlock(name, content.strip()))
    return blocks


def envelope_of(text: str) -> str:
    r"""Return the name of a text's envelope.

    Example:
        >>> envelope_of("```json\n{}\n```"), envelope_of("Here you are: {}")
        ('fence', 'words')
    """
    parts = split_thinking(text)
    answer = parts.answer.strip()
    if not answer:
        return "none"
    if parts.thinking:
        return "thinking"
    block = _BLOCK.search(answer)
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
                index = _end_of(text, start)
            continue
        except (RecursionError, ValueError):
            return
        nested = _INSIDE_JSON.search(text, max(0, start - _SPACE), start)
        if not nested and not _CLOSING.match(text, index):
            yield start, index


def _end_of(text: str, start: int) -> int:
    """Return the end of a broken value, by its brackets outside of strings."""
    level = 0
    for mark in _STRING_OR_BRACKET.finditer(text, start):
        level += _LEVELS.get(mark[0], 0)
        if not level:
            return mark.end()
    return len(text)
