"""Judge one JSON text by one schema: valid or not, and what fails where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.interpretations import read_schema
from curation.json.text import parse, text_of_schema
from curation.schema.keywords import KeywordKind, names_of_kind
from curation.schema.subschemas import subschemas
from curation.system.errors import BadData, BadUsage
from curation.validation.faults import SchemaFault, answer_faults
from evaluation.answers.extraction import (
    POLICIES,
    JsonProblem,
    is_trivial,
    read_json_answer,
    split_thinking,
)

if TYPE_CHECKING:
    from curation.core.json_types import GivenSchema

#: The policy of rewards.
_TRAINED: Final = "outer_fence"
#: Characters of a message.
_SHOWN: Final = 200
#: Compiled schemas kept, and schemas whose assertions are counted once.
_MAX_SCHEMAS: Final = 1_024
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
    given: object = text
    if not isinstance(given, str):
        message = f"{type(given).__name__} is no text to judge"
        raise BadUsage(
            message, hint="give the JSON text: bytes.decode(), json.dumps(value)"
        )
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
    faults = answer_faults(validator, answer.value)
    failed = len({fault.schema_path for fault in faults})
    return TextJudgement(
        valid=False,
        score=(2 - failed / max(_assertions(compiled), failed)) / 3,
        faults=faults,
        reasons=tuple(fault.reason for fault in faults),
        duplicates=answer.duplicates,
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


def _answer_in(text: str, policy: str) -> str:
    if policy not in POLICIES:
        hint = f"choose one of {', '.join(POLICIES)}"
        raise BadUsage(f"unknown policy {policy!r}", hint=hint)
    return POLICIES[policy](split_thinking(text).answer)


@lru_cache(maxsize=_MAX_SCHEMAS)
def _assertions(compiled: CompiledSchema) -> int:
    inner = subschemas(compiled.value, compiled.dialect)
    return sum(len(_ASSERTIONS & schema.keys()) for schema in inner)


@lru_cache(maxsize=_MAX_SCHEMAS)
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
        return f"{schema.reason}: {schema.detail}"[:_SHOWN]
    compiled = (
        schema
        if isinstance(schema, CompiledSchema)
        else CompiledSchema.from_json(schema, dialect)
    )
    try:
        compiled.validator, compiled.validator_without_formats  # noqa: B018 - compiled here
        compiled.references  # noqa: B018 - its references are found here
    except ValueError as error:
        return str(error).partition("\n")[0][:_SHOWN]
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
