"""Read answers as JSON, and compile the schemas that they are held to."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NoReturn

from curation.core.documents import Rejected
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.interpretations import read_schema
from curation.json.text import depth, parse
from curation.system.words import counted, shortened

if TYPE_CHECKING:
    from curation.core.json_types import Json

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


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonAnswer:
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
    return why_unusable(compiled) or compiled


def why_unusable(compiled: CompiledSchema) -> str:
    """Compile a schema's validators; return why that fails, empty if it does not."""
    try:
        compiled.validator, compiled.validator_without_formats  # noqa: B018 - compiled here
        compiled.references  # noqa: B018 - its references are found here
    except ValueError as error:
        return shortened(str(error).partition("\n")[0], _SHOWN)
    return ""
