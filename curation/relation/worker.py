"""The worker of comparisons: jsonschema-rs's algebra, and distinguishing values.

The algebra is experimental and has no budget: a comparison may take minutes
or gigabytes, so that the parent ends it (`curation.relation.comparer`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import jsonschema_rs
import msgspec

from curation.core.json_types import Json, UntypedJson
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.references.gathering import gathered
from curation.relation.questions import (
    AlgebraAnswer,
    AlgebraQuestion,
    PlainSchema,
    Question,
    SchemaQuestion,
    ValueAnswer,
    ValueQuestion,
)
from curation.relation.recursion import Induction
from curation.schema.dialects import BY_NAME, DRAFT_2020_12
from curation.schema.subschemas import edited_objects
from curation.schema.translation import CannotPortError, ported
from curation.validation.metaschemas import RUST_DRAFTS

if TYPE_CHECKING:
    from curation.instances.model import Witness


def _read(schema: PlainSchema) -> UntypedJson:
    value: UntypedJson = json.loads(schema.text)
    return value


@lru_cache(maxsize=8)
def _compiled(schema: PlainSchema) -> CompiledSchema:
    return CompiledSchema(_read(schema), BY_NAME[schema.dialect])


@lru_cache(maxsize=8)
def _canonical(schema: PlainSchema, dialect: str) -> jsonschema_rs.CanonicalSchema:
    value = _read(schema)
    if dialect != schema.dialect:
        source = BY_NAME[schema.dialect]
        value = ported(gathered(value, source), source, BY_NAME[dialect])
    return jsonschema_rs.canonicalize(
        value, draft=RUST_DRAFTS[dialect], validate_formats=True, offline=True
    )


#: Longer texts are all alike for a proof.
_MAX_LENGTH: Final = 200
_MAX_ROUNDS: Final = 3
_FAILURES = (
    ValueError,
    CannotPortError,
    jsonschema_rs.ReferencingError,
    RecursionError,
)


def prove(question: AlgebraQuestion) -> AlgebraAnswer:
    """Return the algebra's proofs about two schemas.

    Schemas of different dialects are compared as schemas of 2020-12.
    """
    dialects = {question.first.dialect, question.second.dialect}
    dialect = dialects.pop() if len(dialects) == 1 else DRAFT_2020_12.name
    try:
        first_schema = _canonical(question.first, dialect)
        second_schema = _canonical(question.second, dialect)
        rests = [
            _without(first_schema, second_schema),
            _without(second_schema, first_schema),
        ]
    except _FAILURES as error:
        return AlgebraAnswer(failure=f"{type(error).__name__}: {error}"[:200])
    proven = [rest is None for rest in rests]
    if not any(proven):
        rests.append(_rest(lambda: first_schema.intersect(second_schema)))
    return AlgebraAnswer(
        first_in_second=proven[0],
        second_in_first=proven[1],
        apart=not any(proven) and rests[-1] is None,
        differences=tuple(filter(None, rests)),
    )


def texts(question: SchemaQuestion) -> tuple[str, ...]:
    """Return some values of a schema, or its canonical form if it has one."""
    if question.wanted == "witnesses":
        found = _witnesses(_compiled(question.schema))
        return tuple(json.dumps(witness.value) for witness in found)
    try:
        canonical = _canonical(question.schema, question.schema.dialect)
        return (json.dumps(canonical.to_json_schema()),)
    except (*_FAILURES, TypeError):
        return ()


def _witnesses(
    compiled: CompiledSchema, count: int = 12, covering: int = 8
) -> tuple[Witness, ...]:
    from curation.instances.witnesses.search import Budget, find_witnesses  # noqa: PLC0415 - slow

    budget = Budget(count=count, covering=covering)
    return find_witnesses(compiled, budget=budget).witnesses


def _rest(operation: Callable[[], jsonschema_rs.CanonicalSchema]) -> str | None:
    """Return a schema of an operation's values: None for no value, empty if unknown."""
    try:
        result = operation()
        if _is_empty(result):
            return None
        return json.dumps(result.to_json_schema())
    except (*_FAILURES, TypeError):
        return ""


def _is_empty(schema: jsonschema_rs.CanonicalSchema) -> bool:
    """Return whether it is proven that a schema accepts nothing."""
    no = jsonschema_rs.canonical.Satisfiability.NO
    with suppress(*_FAILURES, TypeError):
        # Items in items need a round for each level.
        for _ in range(_MAX_ROUNDS):
            if schema.satisfiability() == no:
                return True
            form: UntypedJson = schema.to_json_schema()
            plainer: UntypedJson = edited_objects(
                form, DRAFT_2020_12, _without_impossible
            )
            if plainer is form:
                break
            schema = jsonschema_rs.canonicalize(
                plainer, draft=schema.draft, validate_formats=True, offline=True
            )
    return schema.satisfiability() == no


def _without_impossible(part: dict[str, Json]) -> Json:
    """Return a part of a canonical schema with contradictions that the algebra leaves.

    It decides neither whether one pattern implies another, nor whether an item can be
    what `contains` asks for.
    """
    match part:
        case {"type": "string"} if _has_no_text(part):
            return {"not": {}}
        case {"items": dict(items), "contains": contains} if "prefixItems" not in part:
            return {**part, "contains": {"allOf": [items, contains]}}
    return part


def _has_no_text(part: UntypedJson) -> bool:
    """Return whether it is proven that no text meets lengths and patterns."""
    patterns, refused = [], []
    for assertion in (part, *part.get("allOf", ())):
        match assertion:
            case {"pattern": pattern}:
                patterns.append(pattern)
            case {"not": {"pattern": pattern, **more}} if not more:
                refused.append(pattern)
    if not patterns:
        return False
    from curation.regex.automaton import automaton  # noqa: PLC0415 - slow

    patterns.append(f"^[^]{{{min(part.get('minLength', 0), _MAX_LENGTH)}}}")
    if part.get("maxLength", _MAX_LENGTH) < _MAX_LENGTH:
        patterns.append(f"^[^]{{0,{part['maxLength']}}}$")
    texts = automaton(tuple(patterns), tuple(refused))
    return texts is not None and texts.is_empty()


def _without(
    small: jsonschema_rs.CanonicalSchema, large: jsonschema_rs.CanonicalSchema
) -> str | None:
    def covers(inner: UntypedJson, outer: UntypedJson) -> bool:
        first, second = (
            jsonschema_rs.canonicalize(
                schema, draft=small.draft, validate_formats=True, offline=True
            )
            for schema in (inner, outer)
        )
        return second.covers(first) == jsonschema_rs.canonical.Containment.YES

    # Recursive schemas are compared first: some the algebra refuses.
    with suppress(*_FAILURES, TypeError):
        inner: UntypedJson = small.to_json_schema()
        outer: UntypedJson = large.to_json_schema()
        if Induction(inner, outer, covers).succeeds():
            return None
    with suppress(jsonschema_rs.canonical.IncompatibleOperands):
        if large.covers(small) == jsonschema_rs.canonical.Containment.YES:
            return None
    return _rest(lambda: small.subtract(large))


def search(question: ValueQuestion) -> ValueAnswer:
    """Return a value on each side of two schemas, as far as there is one."""
    from curation.instances.judging.validators import verdicts  # noqa: PLC0415 - slow

    first_schema, second_schema = _compiled(question.first), _compiled(question.second)
    examples: dict[tuple[bool, bool], str] = {}
    tried: set[str] = set()
    for value in _candidates(question, first_schema, second_schema):
        text = json.dumps(value)
        if text in tried:
            continue
        tried.add(text)
        side = first_schema.is_valid(value), second_schema.is_valid(value)
        if any(side) and side not in examples:
            # jsonschema must agree on it, or be undecided.
            judged = [
                verdicts(schema, value, ask_jsonschema=True)
                for schema in (first_schema, second_schema)
            ]
            if all(
                verdict.jsonschema in (None, verdict.jsonschema_rs)
                for verdict in judged
            ):
                examples[side] = text
        if len(examples) == 3:  # noqa: PLR2004 - the sides
            break
    return ValueAnswer(
        only_first=examples.get((True, False)),
        only_second=examples.get((False, True)),
        both=examples.get((True, True)),
        tried=len(tried),
    )


def _candidates(
    question: ValueQuestion, first_schema: CompiledSchema, second_schema: CompiledSchema
) -> Iterator[Json]:
    """Yield values, the most likely to distinguish first."""
    from curation.instances.near_misses.search import find_near_misses  # noqa: PLC0415 - slow

    yield from map(json.loads, question.given)
    for text in question.differences:
        difference = _compiled(PlainSchema(text=text, dialect=DRAFT_2020_12.name))
        for witness in _witnesses(difference, 6, 0):
            yield witness.value
    for compiled in (first_schema, second_schema):
        witnesses = _witnesses(compiled)
        for witness in witnesses:
            yield witness.value
        for near_miss in find_near_misses(compiled, witnesses):
            yield near_miss.value


def start(
    _setup: Json,
) -> Callable[[Json], AlgebraAnswer | ValueAnswer | tuple[str, ...]]:
    """Return the handler of one question."""

    def answer(request: Json) -> AlgebraAnswer | ValueAnswer | tuple[str, ...]:
        question = msgspec.convert(request, Question)
        if isinstance(question, ValueQuestion):
            return search(question)
        if isinstance(question, SchemaQuestion):
            return texts(question)
        return prove(question)

    return answer
