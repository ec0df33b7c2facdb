"""Score an answer: cleaned, parsed, validated, and put into one class.

A schema without `additionalProperties: false` accepts members that it does not declare.
A member is declared if a subschema that applies to its object names it in `properties`
or matches it in `patternProperties`, or if the object is open by its own statement:
`additionalProperties` or `unevaluatedProperties` other than false. An object without
declared members is free-form: all its members count as declared.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from curation.instances.constraints.keyword_values import object_of
from curation.json.pointer import Tokens, pointer
from evaluation.answers.extraction import (
    POLICIES,
    MissingAnswer,
    NoAnswer,
    Refusals,
    TriageRules,
    triage,
)
from evaluation.answers.json_answers import compiled_schema, read_json_answer
from evaluation.answers.schema_faults import answer_faults
from evaluation.core.records import Record, Response, Verdict
from evaluation.suites.passrate.settings import (
    PUBLISHED_CLEANING,
    FailureClass,
    PassrateSettings,
)
from evaluation.walking.why import is_match

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.schema.subschemas import SchemaLocation
    from evaluation.core.suite import Judge, Scorer


#: The class of a response without an answer.
_CLASSES: Final = {
    NoAnswer.FAILED: FailureClass.API_ERROR,
    NoAnswer.REFUSED: FailureClass.REFUSAL,
    NoAnswer.TRUNCATED: FailureClass.TRUNCATED,
    NoAnswer.THINKING: FailureClass.EMPTY,
    NoAnswer.EMPTY: FailureClass.EMPTY,
}
#: Keywords that declare every member that nothing else in their schema names.
_OPENING: Final = ("additionalProperties", "unevaluatedProperties")
#: Maximum number of faults recorded for one answer.
_RECORDED: Final = 10


def passrate_scorer(settings: PassrateSettings) -> Scorer:
    """Return what judges the responses to schemas.

    Example:
        >>> record = Record(id="a", schema='{"type": "object"}')
        >>> judge = passrate_scorer(PassrateSettings())(record)
        >>> judge(Response(record="a", text="[]")).failure_class
        'schema_violation'
    """
    rules = TriageRules(
        policy=POLICIES[settings.cleaning],
        refusals=Refusals.BY_WORDS,
        null_fails=False,
        splits_thinking=settings.cleaning != PUBLISHED_CLEANING,
    )

    def prepare(record: Record) -> Judge:
        compiled = compiled_schema(record.schema, record.dialect)
        if isinstance(compiled, str):
            unusable = _failed(FailureClass.SCHEMA_ERROR, compiled, counted=False)
            return lambda _response: unusable
        return partial(_judge, compiled, settings, rules)

    return prepare


def _judge(
    compiled: CompiledSchema,
    settings: PassrateSettings,
    rules: TriageRules,
    response: Response,
) -> Verdict:
    text = triage(response, rules)
    if isinstance(text, MissingAnswer):
        return _failed(_CLASSES[text.kind], text.reason)
    answer = read_json_answer(text)
    if answer.problem is not None:
        kind = FailureClass.SYNTAX_ERROR
        if response.finish == "length":
            kind = FailureClass.TRUNCATED
        details: dict[str, Json] = {"problem": answer.problem.value}
        return _failed(kind, f"not JSON: {answer.detail}", details)
    verdict = _validated(compiled, settings, answer.value)
    if not answer.duplicates:
        return verdict
    names: list[Json] = [*answer.duplicates]
    noted = {**verdict.details, "duplicate_members": names}
    return msgspec.structs.replace(verdict, details=noted)


def _validated(
    compiled: CompiledSchema, settings: PassrateSettings, value: Json
) -> Verdict:
    validator = compiled.validator_without_formats
    if settings.formats:
        validator = compiled.validator
    if validator.is_valid(value):
        extra = undeclared_members(compiled, value)
        passed = not extra or settings.mode == "schema"
        fields: list[Json] = [*extra]
        reasons = (f"{name}: the schema declares no such field" for name in extra)
        return Verdict(
            passed=passed,
            failure_class="" if passed else FailureClass.HALLUCINATION.value,
            reasons=() if passed else tuple(reasons),
            scores={"strict": float(not extra), "schema": 1.0},
            details={"extra_fields": fields} if extra else {},
        )
    faults = answer_faults(validator, compiled.value, value)
    undeclared = [fault.undeclared for fault in faults]
    kind = FailureClass.SCHEMA_VIOLATION
    if all(undeclared):
        kind = FailureClass.HALLUCINATION
    errors: list[Json] = [fault.as_json() for fault in faults[:_RECORDED]]
    keywords = {fault.keyword for fault in faults}
    return Verdict(
        passed=False,
        failure_class=kind.value,
        reasons=tuple(fault.reason for fault in faults[:_RECORDED]),
        scores={"strict": 0.0, "schema": 0.0},
        details={
            "errors": errors,
            "keyword": keywords.pop() if len(keywords) == 1 else "mixed",
            "also_extra_fields": any(undeclared) and not all(undeclared),
        },
    )


def _failed(
    kind: FailureClass,
    reason: str,
    details: dict[str, Json] | None = None,
    *,
    counted: bool = True,
) -> Verdict:
    return Verdict(
        passed=False,
        failure_class=kind.value,
        reasons=(reason,),
        scores={"strict": 0.0, "schema": 0.0} if counted else {},
        details=details or {},
        counted=counted,
    )


def undeclared_members(compiled: CompiledSchema, value: Json) -> tuple[str, ...]:
    """Return the JSON pointers of undeclared members, in order.

    Args:
        compiled: The schema, which accepts the value.
        value: The value.

    Example:
        >>> from curation.instances.constraints.compiled_schema import CompiledSchema
        >>> schema = {"properties": {"a": {"properties": {"b": True}}}}
        >>> compiled = CompiledSchema.from_json(schema, "2020-12")
        >>> undeclared_members(compiled, {"a": {"b": 1, "c": 2}, "d": 3})
        ('/a/c', '/d')
    """
    return tuple(pointer(tokens) for tokens in _walk(compiled, [compiled.root], value))


def _walk(
    compiled: CompiledSchema, locations: Sequence[SchemaLocation], value: Json
) -> Iterator[Tokens]:
    """Yield the tokens of undeclared members, in the order of the value."""
    if not isinstance(value, dict | list):
        return
    applying = _applying(compiled, locations, value)
    is_free = isinstance(value, list) or not any(
        part.schema.get("properties") or part.schema.get("patternProperties")
        for part in applying
    )
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
        places = [
            location for part in applying for location in _places(compiled, part, step)
        ]
        if not places and not is_free:
            yield (str(step),)
        for tokens in _walk(compiled, places, inner) if places else ():
            yield (str(step), *tokens)


def _places(
    compiled: CompiledSchema, part: SchemaLocation, step: str | int
) -> list[SchemaLocation]:
    """Return the schemas that one schema object applies to a member or an element."""
    if isinstance(step, int):
        return compiled.member_locations(part, step)
    keywords = part.schema
    places: list[Tokens] = [
        ("patternProperties", pattern)
        for pattern in object_of(keywords, "patternProperties")
        if is_match(pattern, step)
    ]
    if step in object_of(keywords, "properties"):
        places.append(("properties", step))
    further: list[Tokens] = [
        (name,) for name in _OPENING if keywords.get(name, False) is not False
    ]
    return [compiled.child(part, pointer) for pointer in places or further]


def _applying(
    compiled: CompiledSchema, locations: Sequence[SchemaLocation], value: Json
) -> list[SchemaLocation]:
    """Return all schema objects that apply to a value in place, each once.

    References are followed; of `anyOf` and `oneOf` the branches that accept the value
    apply, of `if` the part that its condition chooses.
    """
    applying: dict[SchemaLocation, bool] = {}
    waiting = list(locations)
    while waiting:
        location = waiting.pop()
        if location in applying or not isinstance(location.schema, dict):
            continue
        waiting += compiled.targets(location)
        hidden = "$ref" in location.schema and compiled.dialect.ref_hides_siblings
        applying[location] = not hidden
        if not hidden:
            waiting += _in_place(compiled, location, value)
    return [location for location, applies in applying.items() if applies]


def _in_place(
    compiled: CompiledSchema, location: SchemaLocation, value: Json
) -> Iterator[SchemaLocation]:
    keywords = location.schema
    yield from compiled.branches(location, "allOf")
    branches = [
        *compiled.branches(location, "anyOf"),
        *compiled.branches(location, "oneOf"),
    ]
    if "if" in keywords:
        branches.append(compiled.child(location, ("if",)))
        branch = "then" if compiled.accepts(branches[-1], value) else "else"
        if branch in keywords:
            yield compiled.child(location, (branch,))
    yield from (branch for branch in branches if compiled.accepts(branch, value))
    if isinstance(value, dict):
        for keyword in ("dependentSchemas", "dependencies"):
            for name in object_of(keywords, keyword).keys() & value.keys():
                yield compiled.child(location, (keyword, name))
