"""Score an answer: cleaned, parsed, validated, and put into one class.

A schema without `additionalProperties: false` accepts members that it does not declare.
A member is declared if a subschema that applies to its object names it in `properties`
or matches it in `patternProperties`, or if the object is open by its own statement:
`additionalProperties` or `unevaluatedProperties` other than false. An object without
declared members is free-form: all its members count as declared.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.json.pointer import at, parse_tokens, pointer
from curation.schema.dialects import DIALECTS
from curation.schema.keywords import KeywordKind, names_of_kind
from curation.schema.subschemas import edited_objects
from curation.validation.faults import answer_faults
from evaluation.answers.extraction import (
    POLICIES,
    MissingAnswer,
    TriageRules,
    read_json_answer,
    triage,
)
from evaluation.answers.judge import compiled_schema
from evaluation.core.records import Record, Response, Verdict
from evaluation.suites.passrate.suite import (
    PUBLISHED_CLEANING,
    FailureClass,
    PassrateSettings,
)

if TYPE_CHECKING:
    import jsonschema_rs

    from curation.core.json_types import Json
    from evaluation.core.suite import Judge, Scorer


#: Keywords that declare members by their names.
_NAMING: Final = ("properties", "patternProperties")
#: Keywords that make an object open, or refuse every member that is not declared.
_COMPLETING: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
#: The keyword that marks schemas with one of these.
_MARK: Final = "csbdata-complete"
_ANNOTATIONS: Final = names_of_kind(KeywordKind.ANNOTATION)
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
        refuses_in_words=True,
        splits_thinking=settings.cleaning != PUBLISHED_CLEANING,
    )

    def prepare(record: Record) -> Judge:
        compiled = compiled_schema(record.schema, record.dialect)
        if isinstance(compiled, str):
            unusable = _failed(FailureClass.SCHEMA_ERROR, compiled, counted=False)
            return lambda _response: unusable
        plain = compiled.validator_without_formats
        validator = compiled.validator if settings.formats else plain
        return partial(_judge, validator, marked_validator(compiled), settings, rules)

    return prepare


def _judge(
    validator: jsonschema_rs.Validator,
    marked: jsonschema_rs.Validator,
    settings: PassrateSettings,
    rules: TriageRules,
    response: Response,
) -> Verdict:
    text = triage(response, rules)
    if isinstance(text, MissingAnswer):
        return _failed(FailureClass(text.kind), text.reason)
    answer = read_json_answer(text)
    if answer.problem is not None:
        kind = FailureClass.SYNTAX_ERROR
        if response.finish == "length":
            kind = FailureClass.TRUNCATED
        details: dict[str, Json] = {"problem": answer.problem.value}
        return _failed(kind, f"not JSON: {answer.detail}", details)
    verdict = _validated(validator, marked, settings, answer.value)
    if not answer.duplicates:
        return verdict
    names: list[Json] = [*answer.duplicates]
    noted = {**verdict.details, "duplicate_members": names}
    return msgspec.structs.replace(verdict, details=noted)


def _validated(
    validator: jsonschema_rs.Validator,
    marked: jsonschema_rs.Validator,
    settings: PassrateSettings,
    value: Json,
) -> Verdict:
    if validator.is_valid(value):
        extra = undeclared_members(marked, value)
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
    faults = answer_faults(validator, value)
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


def marked_validator(compiled: CompiledSchema) -> jsonschema_rs.Validator:
    """Return a validator whose annotations show the declared members of an answer."""
    value = compiled.value
    # A reference may lead to a keyword of another dialect, such as `$defs`.
    for dialect in DIALECTS:
        value = edited_objects(value, dialect, _marked)
    schema = CompiledSchema.from_json(value, compiled.dialect.name)
    return schema.validator_without_formats


def _marked(schema: dict[str, Json]) -> Json:
    """Mark a schema that leaves no member undeclared; drop what declares nothing."""
    members: dict[str, Json] = {
        name: value
        for name, value in schema.items()
        if name not in _ANNOTATIONS and (value or name not in _NAMING)
    }
    return {**members, _MARK: True} if _COMPLETING & schema.keys() else members


def undeclared_members(marked: jsonschema_rs.Validator, value: Json) -> tuple[str, ...]:
    """Return the JSON pointers of undeclared members, sorted.

    Args:
        marked: The `marked_validator` of the schema, which accepts the value.
        value: The value.

    Example:
        >>> from curation.instances.constraints.compiled_schema import CompiledSchema
        >>> schema = {"properties": {"a": {"properties": {"b": True}}}}
        >>> marked = marked_validator(CompiledSchema.from_json(schema, "2020-12"))
        >>> undeclared_members(marked, {"a": {"b": 1, "c": 2}, "d": 3})
        ('/a/c', '/d')
    """
    declared: dict[str, set[str]] = defaultdict(set)
    complete: set[str] = set()
    annotation: Any  # of a library without a type for annotations
    for annotation in marked.evaluate(value).annotations():
        location, names = annotation["instanceLocation"], annotation["annotations"]
        if isinstance(names, dict):
            complete |= {location} if _MARK in names else set()
        elif annotation["schemaLocation"].endswith(_NAMING):
            declared[location].update(names)
    undeclared = []
    for location in declared.keys() - complete:
        tokens = parse_tokens(location)
        members: Any = at(value, tokens)
        undeclared += [
            pointer((*tokens, name)) for name in members.keys() - declared[location]
        ]
    return tuple(sorted(undeclared))
