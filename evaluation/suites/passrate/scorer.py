"""Score an answer: cleaned, parsed, validated, and put into one class.

A schema without `additionalProperties: false` accepts members that it does not declare.
A member is declared if a subschema that applies to its object names it in `properties`
or matches it in `patternProperties`, or if the object is open by its own statement:
`additionalProperties` or `unevaluatedProperties` other than false. An object without
declared members is free-form: all its members count as declared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

import jsonschema_rs
import msgspec

from curation.json.pointer import Tokens, member, pointer
from curation.schema.dialects import BY_NAME
from curation.schema.keywords import REFERENCE_KEYWORDS
from curation.system.escaping import shortened
from evaluation.answers.extraction import (
    POLICIES,
    MissingAnswer,
    NoAnswer,
    Refusals,
    TriageRules,
    triage,
)
from evaluation.answers.json_answers import compiled_schema, read_json_answer
from evaluation.core.records import Record, Response, Verdict
from evaluation.suites.passrate.settings import FailureClass, Mode, PassrateSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.schema.subschemas import SchemaLocation
    from evaluation.core.suite import Judge


#: The class of a response without an answer.
_CLASSES: Final = {
    NoAnswer.FAILED: FailureClass.API_ERROR,
    NoAnswer.ENGINE_FAILED: FailureClass.ENGINE_ERROR,
    NoAnswer.REFUSED: FailureClass.REFUSAL,
    NoAnswer.TRUNCATED: FailureClass.TRUNCATED,
    NoAnswer.THINKING: FailureClass.EMPTY,
    NoAnswer.EMPTY: FailureClass.EMPTY,
}
#: Keywords that refuse undeclared members.
_ON_UNDECLARED: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
#: Keywords of all drafts; other tokens of a path are names and indexes.
_KEYWORDS: Final = frozenset().union(
    *(dialect.effective for dialect in BY_NAME.values())
)
#: Characters of a message.
_SHOWN: Final = 200
#: Most faults of one answer that are examined, and that are recorded.
_EXAMINED: Final = 200
#: Patterns of names that are kept compiled.
_MOST_PATTERNS: Final = 1_024
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFault:
    """One assertion that an answer fails."""

    message: str
    keyword: str
    #: JSON pointers into the answer and into the schema.
    instance_path: str
    schema_path: str
    #: Whether it refuses an undeclared member.
    undeclared: bool

    def as_json(self) -> dict[str, Json]:
        """Return it as in results."""
        return {
            "message": self.message,
            "keyword": self.keyword,
            "instance_path": self.instance_path,
            "schema_path": self.schema_path,
        }

    @property
    def reason(self) -> str:
        """One line for people, and for a model that repairs its answer."""
        place = self.instance_path or "(root)"
        return f"{place}: {self.message} [{self.keyword}]"


def answer_faults(
    validator: jsonschema_rs.Validator, schema: Json, value: Json
) -> tuple[SchemaFault, ...]:
    """Return the faults of an answer, branches of `anyOf` and `oneOf` included.

    Of several branches one counts: one that only refuses undeclared members, else the
    one whose failures reach deepest into the value, else the one with the fewest.

    Args:
        validator: The schema's validator.
        schema: The schema.
        value: An answer that it refuses.
    """
    faults: list[SchemaFault] = []
    for error in validator.iter_errors(value):
        faults += _faults_of(error, schema)
        if len(faults) >= _EXAMINED:
            break
    return tuple(faults)


def _faults_of(
    error: jsonschema_rs.ValidationError, schema: Json
) -> Iterator[SchemaFault]:
    contexts = (list(branch) for branch in getattr(error.kind, "context", None) or ())
    branches = [
        [fault for inner in context for fault in _faults_of(inner, schema)]
        for context in contexts
        if context
    ]
    if branches:
        yield from min(branches, key=_distance)
        return
    path = [str(token) for token in error.schema_path]
    keyword = _keyword(error, path)
    yield SchemaFault(
        message=shortened(error.message, _SHOWN),
        keyword=keyword,
        instance_path=pointer(tuple(map(str, error.instance_path))),
        schema_path=pointer(tuple(path)),
        undeclared=keyword in _ON_UNDECLARED
        or (keyword == "propertyNames" and _name_is_undeclared(error, path, schema)),
    )


def _keyword(error: jsonschema_rs.ValidationError, path: Sequence[str]) -> str:
    """Return the keyword that fails; that with a `false` schema for it."""
    if type(error.kind).__name__.endswith("PropertyNames"):
        return "propertyNames"
    return next((token for token in reversed(path) if token in _KEYWORDS), "")


def _name_is_undeclared(
    error: jsonschema_rs.ValidationError, path: Sequence[str], schema: Json
) -> bool:
    """Return whether `propertyNames` refuses a name that `properties` lacks too."""
    refused = getattr(error.kind, "error", None)
    name = getattr(refused, "instance", None)
    holder: Json = schema
    try:
        for token in path[: path.index("propertyNames")]:
            holder = member(holder, token)
    except (LookupError, ValueError):
        return True
    properties = holder.get("properties") if isinstance(holder, dict) else None
    return not isinstance(properties, dict) or name not in properties


def _distance(branch: Sequence[SchemaFault]) -> tuple[bool, int, int]:
    wrong = [fault for fault in branch if not fault.undeclared]
    deepest = max((fault.instance_path.count("/") for fault in wrong), default=0)
    return bool(wrong), -deepest, len(branch)


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
    compiled: CompiledSchema,
    applying: Sequence[SchemaLocation],
    value: dict[str, Json],
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
                if _pattern(pattern).is_valid(name)
            ]
            places = places or [(keyword,) for keyword in further]
            for place in places:
                schema = compiled.child(location, place)
                declarations.by_name.setdefault(name, []).append(schema)
    return declarations


@lru_cache(maxsize=_MOST_PATTERNS)
def _pattern(pattern: str) -> jsonschema_rs.Validator:
    """Return a validator of names, which matches as the schema's validator does."""
    return jsonschema_rs.Draft202012Validator({"pattern": pattern})


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
