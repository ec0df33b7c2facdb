"""Score an answer: cleaned, parsed, validated, and put into one class.

A schema without `additionalProperties: false` accepts members that it does not declare.
A member is declared if a subschema that applies to its object names it in `properties`
or matches it in `patternProperties`, or if the object is open by its own statement:
`additionalProperties` or `unevaluatedProperties` other than false. An object without
declared members is free-form: all its members count as declared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from curation.json.pointer import Tokens, pointer
from curation.schema.keywords import REFERENCE_KEYWORDS
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
    Mode,
    PassrateSettings,
)
from evaluation.walking.why import is_match

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.schema.subschemas import SchemaLocation
    from evaluation.core.suite import Judge


#: The class of a response without an answer.
_CLASSES: Final = {
    NoAnswer.FAILED: FailureClass.API_ERROR,
    NoAnswer.REFUSED: FailureClass.REFUSAL,
    NoAnswer.TRUNCATED: FailureClass.TRUNCATED,
    NoAnswer.THINKING: FailureClass.EMPTY,
    NoAnswer.EMPTY: FailureClass.EMPTY,
}
#: Most faults of one answer that are recorded.
_RECORDED: Final = 10


class PassrateScorer:
    """Judges responses.

    Example:
        >>> scorer = PassrateScorer(PassrateSettings())
        >>> record = Record(id="a", schema='{"type": "object"}')
        >>> scorer(record)(Response(record="a", text="[]")).failure_class
        'schema_violation'
    """

    def __init__(self, settings: PassrateSettings) -> None:
        """Take the settings of the suite."""
        self._settings = settings
        self._rules = TriageRules(
            policy=POLICIES[settings.cleaning],
            refusals=Refusals.BY_WORDS,
            null_fails=False,
            splits_thinking=settings.cleaning != PUBLISHED_CLEANING,
        )

    def __call__(self, record: Record) -> Judge:
        """Return the judge of one record's responses."""
        compiled = compiled_schema(record.schema, record.dialect)
        if isinstance(compiled, str):
            unusable = _failed(FailureClass.SCHEMA_ERROR, compiled, counted=False)
            return lambda _response: unusable
        return partial(self._judge, compiled)

    def _judge(self, compiled: CompiledSchema, response: Response) -> Verdict:
        text = triage(response, self._rules)
        if isinstance(text, MissingAnswer):
            return _failed(_CLASSES[text.kind], text.reason)
        answer = read_json_answer(text)
        if answer.problem is not None:
            kind = FailureClass.SYNTAX_ERROR
            if response.finish == "length":
                kind = FailureClass.TRUNCATED
            details: dict[str, Json] = {"problem": answer.problem.value}
            return _failed(kind, f"not JSON: {answer.detail}", details)
        verdict = self._validated(compiled, answer.value)
        if not answer.duplicates:
            return verdict
        names: list[Json] = [*answer.duplicates]
        noted = {**verdict.details, "duplicate_members": names}
        return msgspec.structs.replace(verdict, details=noted)

    def _validated(self, compiled: CompiledSchema, value: Json) -> Verdict:
        validator = compiled.validator_without_formats
        if self._settings.formats:
            validator = compiled.validator
        if validator.is_valid(value):
            return self._accepted(undeclared_members(compiled, value))
        faults = answer_faults(validator, compiled.value, value)
        undeclared = [fault.undeclared for fault in faults]
        kind = FailureClass.SCHEMA_VIOLATION
        if all(undeclared):
            kind = FailureClass.HALLUCINATION
        errors: list[Json] = [fault.as_json() for fault in faults[:_RECORDED]]
        keywords = {fault.keyword for fault in faults}
        details: dict[str, Json] = {
            "errors": errors,
            "keyword": keywords.pop() if len(keywords) == 1 else "mixed",
            "also_extra_fields": any(undeclared) and not all(undeclared),
        }
        return Verdict(
            passed=False,
            failure_class=kind.value,
            reasons=tuple(fault.reason for fault in faults[:_RECORDED]),
            scores={"strict": 0.0, "schema": 0.0},
            details=details,
        )

    def _accepted(self, extra: tuple[str, ...]) -> Verdict:
        """Return the verdict on a value that the schema itself accepts."""
        passed = not extra or self._settings.mode is Mode.SCHEMA
        fields: list[Json] = [*extra]
        reasons = tuple(f"{name}: the schema declares no such field" for name in extra)
        return Verdict(
            passed=passed,
            failure_class="" if passed else FailureClass.HALLUCINATION.value,
            reasons=() if passed else reasons,
            scores={"strict": float(not extra), "schema": 1.0},
            details={"extra_fields": fields} if extra else {},
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


@dataclass(slots=True)
class _Declarations:
    """The declarations of one object's members by the subschemas that apply to it."""

    #: Schemas that apply to the value of each member, by its name.
    by_name: dict[str, list[SchemaLocation]] = field(default_factory=dict)
    #: Whether the object is open by its own statement.
    is_open: bool = False
    #: Whether any member is declared at all.
    any_declared: bool = False


def _walk(
    compiled: CompiledSchema, locations: Sequence[SchemaLocation], value: Json
) -> Iterator[Tokens]:
    """Yield the tokens of undeclared members, in the order of the value."""
    if isinstance(value, dict):
        applying = _applying(compiled, locations, value)
        declarations = _declarations(compiled, applying, value)
        for name, inner in value.items():
            schemas = declarations.by_name.get(name)
            if schemas is None:
                if declarations.any_declared and not declarations.is_open:
                    yield (name,)
                continue
            for tokens in _walk(compiled, schemas, inner):
                yield (name, *tokens)
    elif isinstance(value, list):
        applying = _applying(compiled, locations, value)
        for index, item in enumerate(value):
            schemas = [
                location
                for applied in applying
                for location in _item_schemas(compiled, applied, index)
            ]
            for tokens in _walk(compiled, schemas, item):
                yield (str(index), *tokens)


def _applying(
    compiled: CompiledSchema, locations: Sequence[SchemaLocation], value: Json
) -> list[SchemaLocation]:
    """Return all schema objects that apply to a value in place, each once.

    References are followed; of `anyOf` and `oneOf` the branches that accept the value
    apply, of `if` the part that its condition chooses.
    """
    applying: dict[SchemaLocation, None] = {}
    waiting = list(reversed(locations))
    while waiting:
        location = waiting.pop()
        if location in applying or not isinstance(location.schema, dict):
            continue
        applying[location] = None
        waiting += reversed(list(_in_place(compiled, location, value)))
    return list(applying)


def _in_place(
    compiled: CompiledSchema, location: SchemaLocation, value: Json
) -> Iterator[SchemaLocation]:
    keywords = location.schema
    for keyword in REFERENCE_KEYWORDS:
        target = compiled.target(location, keyword) if keyword in keywords else None
        if target is not None:
            yield target
    if "$ref" in keywords and compiled.dialect.ref_hides_siblings:
        return
    for keyword in ("allOf", "anyOf", "oneOf"):
        for index in range(len(keywords.get(keyword, ()))):
            branch = compiled.child(location, (keyword, str(index)))
            if keyword == "allOf" or compiled.accepts(branch, value):
                yield branch
    yield from _conditional(compiled, location, value)


def _conditional(
    compiled: CompiledSchema, location: SchemaLocation, value: Json
) -> Iterator[SchemaLocation]:
    keywords = location.schema
    if "if" in keywords:
        condition = compiled.child(location, ("if",))
        holds = compiled.accepts(condition, value)
        if holds:
            yield condition
        branch = "then" if holds else "else"
        if branch in keywords:
            yield compiled.child(location, (branch,))
    if isinstance(value, dict):
        for keyword in ("dependentSchemas", "dependencies"):
            schemas = keywords.get(keyword)
            for name in schemas if isinstance(schemas, dict) else ():
                if name in value and isinstance(schemas[name], dict | bool):
                    yield compiled.child(location, (keyword, name))


def _declarations(
    compiled: CompiledSchema, applying: Sequence[SchemaLocation], value: dict[str, Json]
) -> _Declarations:
    declarations = _Declarations()
    for location in applying:
        keywords = location.schema
        if "$ref" in keywords and compiled.dialect.ref_hides_siblings:
            continue
        properties = keywords.get("properties", {})
        patterns = keywords.get("patternProperties", {})
        declarations.any_declared |= bool(properties or patterns)
        further = [
            keyword
            for keyword in ("additionalProperties", "unevaluatedProperties")
            if keyword in keywords and keywords[keyword] is not False
        ]
        declarations.is_open |= bool(further)
        for name in value:
            places: list[Tokens] = []
            if name in properties:
                places.append(("properties", name))
            places += [
                ("patternProperties", pattern)
                for pattern in patterns
                if is_match(pattern, name)
            ]
            places = places or [(keyword,) for keyword in further]
            for place in places:
                schema = compiled.child(location, place)
                declarations.by_name.setdefault(name, []).append(schema)
    return declarations


def _item_schemas(
    compiled: CompiledSchema, location: SchemaLocation, index: int
) -> Iterator[SchemaLocation]:
    keywords = location.schema
    if "$ref" in keywords and compiled.dialect.ref_hides_siblings:
        return
    for keyword, further in (("prefixItems", "items"), ("items", "additionalItems")):
        schemas = keywords.get(keyword)
        if isinstance(schemas, list):
            if index < len(schemas):
                yield compiled.child(location, (keyword, str(index)))
            elif isinstance(keywords.get(further), dict):
                yield compiled.child(location, (further,))
            return
    if isinstance(keywords.get("items"), dict):
        yield compiled.child(location, ("items",))
