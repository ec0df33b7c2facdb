"""Judge one JSON text by one schema: valid or not, and what fails where."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from curation.json.text import text_of_schema
from curation.schema.keywords import KeywordKind, names_of_kind
from curation.schema.subschemas import subschemas
from curation.system.errors import BadUsage
from evaluation.answers.extraction import POLICIES, split_thinking
from evaluation.answers.json_answers import JsonProblem, read_json_answer, usable_schema
from evaluation.answers.schema_faults import SchemaFault, answer_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import GivenSchema, Json
    from curation.instances.constraints.compiled_schema import CompiledSchema

#: The policy of rewards.
_TRAINED: Final = "outer_fence"
#: Schemas whose assertions are counted once.
_KEPT: Final = 256
_ASSERTIONS: Final = names_of_kind(KeywordKind.ASSERTION) | {"additionalProperties"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextJudgement:
    """The verdict on one text."""

    #: Whether it is JSON that the schema accepts.
    valid: bool
    #: From 0 to 1: a third for JSON, a third for the share of the schema's assertions
    #: without a failure, a third for being valid.
    score: float
    #: The failed assertions, each with its places in the text and in the schema.
    faults: tuple[SchemaFault, ...] = ()
    #: Why the text is not an acceptable JSON value; None if it is.
    problem: JsonProblem | None = None
    #: One line for each fault, or one for the problem.
    reasons: tuple[str, ...] = ()
    #: Names repeated in an object: the last value counts.
    duplicates: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether the text is valid."""
        return self.valid


def judge(
    text: str, schema: GivenSchema, *, formats: bool = True, policy: str = ""
) -> TextJudgement:
    """Return whether a text is JSON that a schema accepts, and if not, why.

    The schema's dialect is declared by `$schema`, otherwise decided by its keywords as
    in the benchmark. Under `anyOf` and `oneOf`, the faults of the likeliest branch
    are given. Compiled schemas are kept: the next text costs 0.1 ms.

    Args:
        text: An answer, for example from a model.
        schema: A JSON Schema: a dict, a bool, its JSON text, or a model of pydantic.
        formats: Whether `format` is asserted.
        policy: What takes the JSON out of the text, once thinking and end tokens are
            off: `outer_fence` or `strip_all_backticks`; empty for the text as it is.

    Raises:
        BadUsage: unknown policy, or the text is not a string.
        BadData: not a valid schema, or a reference in it is unresolvable.

    Example:
        >>> schema = {"type": "object", "required": ["a"]}
        >>> judge('{"a": 1}', schema).valid
        True
        >>> judge("{}", schema).reasons
        ('(root): "a" is a required property [required]',)
        >>> judge("{a: 1}", schema).problem.value
        'syntax'
        >>> judge('{"a": 1, "a": 2}', schema).duplicates
        ('a',)
        >>> judge("<think>?</think>{}", schema, policy="outer_fence").score
        0.5
    """
    _refuse_no_text(text)
    compiled = usable_schema(schema)
    answer = read_json_answer(_answer_in(text, policy) if policy else text)
    if answer.problem is not None:
        reasons = (f"not JSON: {answer.detail}",)
        return TextJudgement(
            valid=False, score=0.0, problem=answer.problem, reasons=reasons
        )
    validator = compiled.validator if formats else compiled.validator_without_formats
    if validator.is_valid(answer.value):
        return TextJudgement(valid=True, score=1.0, duplicates=answer.duplicates)
    faults = answer_faults(validator, compiled.value, answer.value)
    failed = len({fault.schema_path for fault in faults})
    return TextJudgement(
        valid=False,
        score=(2 - failed / max(_assertions(compiled), failed)) / 3,
        faults=faults,
        reasons=tuple(fault.reason for fault in faults),
        duplicates=answer.duplicates,
    )


def _refuse_no_text(text: object) -> None:
    if not isinstance(text, str):
        message = f"{type(text).__name__} is no text to judge"
        raise BadUsage(
            message, then="give the JSON text: bytes.decode(), json.dumps(value)"
        )


def reward(text: str, schema: GivenSchema) -> float:
    """Return the reward of an answer in training, from 0 to 1.

    That is the score of `judge` for the text without thinking and fence; at most a
    third for a trivial answer (`is_trivial`), even if valid.

    Args:
        text: The answer of a model.
        schema: As of `judge`.

    Raises:
        BadData: not a valid schema, or a reference in it is unresolvable.

    Example:
        >>> schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
        >>> [reward(text, schema) for text in ("", '{"a": 1}')]
        [0.0, 1.0]
        >>> round(reward("{}", schema), 2)
        0.33
    """
    score = judge(text, schema, policy=_TRAINED).score
    if not score:
        return 0.0
    value = read_json_answer(_answer_in(text, _TRAINED)).value
    return min(score, 1 / 3) if is_trivial(value, text_of_schema(schema)) else score


def is_trivial(value: Json, schema: str) -> bool:
    """Return whether a value is trivial, given its schema.

    That is `null`, `true`, `false`, `[]`, `{}`, a bare string that the schema itself
    spells out in an `enum` or a `const`, and an object of nothing but members that are
    required at the root, where the schema knows others.

    Args:
        value: What a model wrote.
        schema: The schema's text.
    """
    if value is None or isinstance(value, bool) or value in ([], {}):
        return True
    root: Json = json.loads(schema.removeprefix("\ufeff"))
    if isinstance(value, str):
        return value in _spelt_out(root)
    if not isinstance(value, dict) or not isinstance(root, dict):
        return False
    required = root.get("required")
    properties = root.get("properties")
    if not isinstance(required, list) or not isinstance(properties, dict):
        return False
    names = {name for name in required if isinstance(name, str)}
    return set(value) <= names and not set(properties) <= names


def _spelt_out(schema: Json) -> Iterator[str]:
    """Yield the strings of every `enum` and `const` of a schema."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            enum = part.get("enum")
            const = part.get("const")
            values = [*enum, const] if isinstance(enum, list) else [const]
            yield from (value for value in values if isinstance(value, str))
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def _answer_in(text: str, policy: str) -> str:
    if policy not in POLICIES:
        then = f"choose one of {', '.join(POLICIES)}"
        raise BadUsage(f"unknown policy {policy!r}", then=then)
    return POLICIES[policy](split_thinking(text).answer)


@lru_cache(maxsize=_KEPT)
def _assertions(compiled: CompiledSchema) -> int:
    inner = subschemas(compiled.value, compiled.dialect)
    return sum(len(_ASSERTIONS & schema.keys()) for schema in inner)
