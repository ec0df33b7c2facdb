"""A record's schema: validation, expected types and required paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

import jsonschema_rs
from referencing import Registry
from referencing.exceptions import Unresolvable

from curation.core.json_types import Json, UntypedJson
from curation.json.pointer import at, tokens_of_fragment
from curation.json.text import plain
from curation.json.values import type_of
from curation.schema.dialects import DRAFT_2020_12, declared
from curation.validation.metaschemas import RUST_VALIDATORS, refuse
from curation.validation.python_validators import PYTHON_VALIDATORS, SchemaError
from evaluation.walking.why import is_match

#: Replaces every index in a path of a schema.
ANY_INDEX: Final = "*"
_SHOWN: Final = 200


class _Check(Protocol):
    """Says why an instance is refused; None if it is accepted."""

    def __call__(self, instance: Json, /) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSchema:
    """A record's schema with a compiled validator."""

    #: Why no answer can be judged by it; empty if it can be used.
    unusable: str
    check: _Check

    def refusal(self, instance: Json) -> str | None:
        """Return why the schema refuses an instance; None if it accepts."""
        return self.unusable or self.check(instance)


def dialect_of(schema: Json) -> str:
    """Return the name of the dialect that a schema declares, by default 2020-12."""
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    return (declared(uri) or DRAFT_2020_12).name


def compile_schema(schema: Json, dialect: str | None) -> TargetSchema:
    """Compile a schema; formats are annotations, as in the paper.

    Args:
        schema: The schema. No validator ever fetches a reference.
        dialect: Its dialect, to be validated by jsonschema alone, as the authors did.
            None for the declared one, by jsonschema-rs; by jsonschema if only that
            accepts the schema.
    """
    value: UntypedJson = plain(schema)
    if dialect is None:
        dialect = dialect_of(schema)
        validator = _rust_validator(value, dialect)
        if validator is not None:
            return TargetSchema(unusable="", check=_rust_check(validator))
    return _python_target(value, dialect)


def _rust_validator(value: UntypedJson, dialect: str) -> jsonschema_rs.Validator | None:
    if dialect not in RUST_VALIDATORS:
        return None
    try:
        return RUST_VALIDATORS[dialect](value, validate_formats=False, retriever=refuse)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return None


def _rust_check(validator: jsonschema_rs.Validator) -> _Check:
    def check(instance: Json, /) -> str | None:
        try:
            if validator.is_valid(instance):
                return None
            failure = next(iter(validator.iter_errors(instance)), None)
        except ValueError as error:
            return _line(f"the validator failed: {error}")
        return _line(failure.message) if failure else "refused"

    return check


def _python_target(value: UntypedJson, dialect: str) -> TargetSchema:
    # Its library has no common type for validators of all dialects.
    validator_class: Any = PYTHON_VALIDATORS[dialect]
    unusable = ""
    try:
        validator_class.check_schema(value)
    except (SchemaError, RecursionError) as error:
        message = getattr(error, "message", "") or type(error).__name__
        unusable = _line(f"the schema is invalid: {message}")
    except Exception as error:  # noqa: BLE001 - a schema can make the library raise anything
        unusable = _line(f"no validator takes the schema: {error!r}")
    if not isinstance(value, dict | bool):
        unusable, value = "the schema is no object and no boolean", False
    validator = validator_class(value, registry=Registry())
    return TargetSchema(unusable=unusable, check=_python_check(validator))


def _python_check(validator: Any) -> _Check:  # noqa: ANN401 - as above
    def check(instance: Json, /) -> str | None:
        try:
            failure = next(validator.iter_errors(instance), None)
        except Unresolvable as error:
            return _line(f"a reference of the schema has no target: {error}")
        except RecursionError:
            return "the validator failed: nested too deeply"
        except Exception as error:  # noqa: BLE001 - for one, a pattern that is invalid
            return _line(f"the validator failed: {error!r}")
        return _line(failure.message) if failure else None

    return check


def _line(message: str) -> str:
    text = " ".join(message.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


_EVERY: Final = frozenset(
    {"null", "boolean", "integer", "number", "string", "array", "object"}
)
# So many references and unions inside one another, at one location, are a loop.
_MOST_REFERENCES: Final = 16
# Locations that are cached for one schema.
_CACHED: Final = 20_000

# Schemas of which at least one holds; and all clauses of a location, which all hold.
_Clause: TypeAlias = "tuple[dict[str, Json], ...]"
_Clauses: TypeAlias = "tuple[_Clause, ...]"
_ANYTHING: Final[dict[str, Json]] = {"type": [*sorted(_EVERY)]}
_NOTHING: Final[dict[str, Json]] = {"enum": []}


@dataclass(frozen=True, slots=True)
class ResolvedTypes:
    """The types of a schema, references and unions followed.

    A location is expected if a keyword of the schema names it: a property, a pattern
    of names, an item, or a schema for all others. If a keyword names it and no type is
    declared, every type is right. A location that no keyword names expects no type.
    """

    schema: Json
    _clauses: dict[tuple[str | int, ...], _Clauses] = field(default_factory=dict)
    #: None for a location that no keyword names.
    _expected: dict[tuple[str | int, ...], frozenset[str] | None] = field(
        default_factory=dict
    )

    def accepts(self, path: tuple[str | int, ...], value: Json) -> bool:
        """Return whether a leaf of the answer has a type that is expected there."""
        if path in self._expected:
            expected = self._expected[path]
        else:
            clauses = self._walk(path)
            expected = _types(clauses) if clauses else None
            if len(self._expected) < _CACHED:
                self._expected[path] = expected
        if expected is None:
            return False
        kind = type_of(value)
        return kind in expected or (kind == "integer" and "number" in expected)

    def _walk(self, path: tuple[str | int, ...]) -> _Clauses:
        """Return the clauses of a location; empty if no keyword names it."""
        clauses = tuple(self._expanded(self.schema, 0))
        for length, step in enumerate(path, 1):
            place = path[:length]
            cached = self._clauses.get(place)
            clauses = self._step(clauses, step) if cached is None else cached
            if len(self._clauses) < _CACHED:
                self._clauses[place] = clauses
        return clauses

    def _step(self, clauses: _Clauses, step: str | int) -> _Clauses:
        below: dict[tuple[int, ...], _Clause] = {}
        for clause in clauses:
            branches = [
                [
                    part
                    for child in _children(schema, step)
                    for part in self._expanded(child, 0)
                ]
                for schema in clause
            ]
            named = [branch for branch in branches if branch]
            if not named:
                continue
            for part in named[0] if len(clause) == 1 else [_either(named)]:
                below[tuple(map(id, part))] = part
        return tuple(below.values())

    def _expanded(self, schema: Json, hops: int) -> list[_Clause]:
        """Return a schema with its references and combined schemas, at one location."""
        if not isinstance(schema, dict):
            return [(_ANYTHING if schema else _NOTHING,)]
        clauses: list[_Clause] = [(schema,)]
        if hops == _MOST_REFERENCES:
            return clauses
        reference = schema.get("$ref")
        if isinstance(reference, str):
            clauses += self._expanded(self._target(reference), hops + 1)
        all_of = schema.get("allOf")
        for part in all_of if isinstance(all_of, list) else ():
            clauses += self._expanded(part, hops + 1)
        unions = [schema.get(keyword) for keyword in ("anyOf", "oneOf")]
        if "if" in schema:
            unions.append([schema.get("then", True), schema.get("else", True)])
        for union in unions:
            if isinstance(union, list) and union:
                branches = [self._expanded(branch, hops + 1) for branch in union]
                clauses.append(_either(branches))
        return clauses

    def _target(self, reference: str) -> Json:
        """Return the target of a reference inside the document; {} if outside."""
        if not reference.startswith("#"):
            return {}
        try:
            return at(self.schema, tokens_of_fragment(reference))
        except LookupError:
            return {}


def _either(branches: list[list[_Clause]]) -> _Clause:
    """Return one clause of several branches, of which any may hold."""
    merged: dict[int, dict[str, Json]] = {}
    for branch in branches:
        schemas = [schema for clause in branch for schema in clause]
        if all(_own_types(schema) is None for schema in schemas):
            schemas.append(_ANYTHING)
        merged.update((id(schema), schema) for schema in schemas)
    return tuple(merged.values())


def _types(clauses: _Clauses) -> frozenset[str]:
    types = _EVERY
    for clause in clauses:
        declared_types = [
            own for schema in clause if (own := _own_types(schema)) is not None
        ]
        if declared_types:
            types &= frozenset[str]().union(*declared_types)
    return types


def _widened(types: frozenset[str]) -> frozenset[str]:
    """Return the types with `integer` where `number` is, so that sets can be cut."""
    return types | {"integer"} if "number" in types else types


def _own_types(schema: dict[str, Json]) -> frozenset[str] | None:
    """Return the types of a schema's own `type`, `enum` and `const`; None of none."""
    types: frozenset[str] | None = None
    kind = schema.get("type")
    names = [kind] if isinstance(kind, str) else kind
    if isinstance(names, list):
        types = _widened(frozenset(name for name in names if isinstance(name, str)))
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list):
        of_values = _widened(frozenset(map(type_of, values)))
        types = of_values if types is None else types & of_values
    return types


def _children(schema: dict[str, Json], step: str | int) -> Iterator[Json]:
    if isinstance(step, int):
        yield from _item_schemas(schema, step)
        return
    is_named = False
    properties = schema.get("properties")
    if isinstance(properties, dict) and step in properties:
        is_named = True
        yield properties[step]
    patterns = schema.get("patternProperties")
    for pattern, child in patterns.items() if isinstance(patterns, dict) else ():
        if is_match(pattern, step):
            is_named = True
            yield child
    further = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    if not is_named and isinstance(further, dict):
        yield further


def _item_schemas(schema: dict[str, Json], index: int) -> Iterator[Json]:
    items = schema.get("items")
    first = schema.get("prefixItems", items if isinstance(items, list) else None)
    if isinstance(first, list) and index < len(first):
        yield first[index]
    elif isinstance(items, dict):
        yield items
    elif isinstance(first, list):
        further = schema.get("additionalItems", schema.get("unevaluatedItems"))
        if isinstance(further, dict):
            yield further


_INDEX: Final = re.compile(r"\[(-?\d+)\]")


@dataclass(frozen=True, slots=True)
class PublishedTypes:
    """The types as the published code looks them up: by name, and no further.

    Paths are texts, read back into steps. Each object on the way says `type: object`
    and nothing else, each array `type: array`. Of a list of types the one that is not
    null is expected, so that null is wrong even if it is allowed; with a reference, a
    union, or two such types nothing is expected, and every value wrong. A float is
    never an integer, 1.0 included.
    """

    schema: Json

    def accepts(self, path: tuple[str | int, ...], value: Json) -> bool:
        """Return whether a leaf of the answer has the type that is expected there."""
        expected = self._type(str(path[0]))
        if isinstance(value, float):
            return expected == "number"
        kind = type_of(value)
        return kind == expected or (kind == "integer" and expected == "number")

    def _type(self, path: str) -> str | None:
        schema: Json = self.schema
        for place, part in enumerate(_INDEX.split(path)):
            for step in filter(None, (part,) if place % 2 else part.split(".")):
                holder = "array" if place % 2 else "object"
                if not isinstance(schema, dict) or schema.get("type") != holder:
                    return None
                schema = schema.get("items" if place % 2 else "properties")
                if not place % 2:
                    schema = schema.get(step) if isinstance(schema, dict) else None
        kind = schema.get("type") if isinstance(schema, dict) else None
        if isinstance(kind, list):
            names = [name for name in kind if name != "null"]
            kind = names[0] if len(names) == 1 else None
        return kind if isinstance(kind, str) else None


def required_paths(schema: Json, *, published: bool) -> frozenset[tuple[str, ...]]:
    """Return the paths of all required members, `*` in the place of an index.

    Required members of these, and items, are followed, references and unions are not.
    For the published code each type must be said.
    """
    paths: set[tuple[str, ...]] = set()
    stack: list[tuple[tuple[str, ...], Json]] = [((), schema)]
    while stack:
        place, inner = stack.pop()
        if not isinstance(inner, dict):
            continue
        kind, required = inner.get("type"), inner.get("required")
        names = {*map(str, required)} if isinstance(required, list) else set()
        properties, items = inner.get("properties"), inner.get("items")
        if not published or kind == "object":
            paths.update((*place, name) for name in names)
            members = properties if isinstance(properties, dict) else {}
            stack += [((*place, name), members.get(name)) for name in names]
        if isinstance(items, dict) and (not published or kind == "array"):
            stack.append(((*place, ANY_INDEX), items))
    return frozenset(paths)


def required_recall(required: frozenset[tuple[str, ...]], answer: Json) -> float:
    """Return the share of required paths that an answer has; 1 of none."""
    if not required:
        return 1.0
    present: set[tuple[str, ...]] = set()
    stack: list[tuple[tuple[str, ...], Json]] = [((), answer)]
    while stack:
        place, inner = stack.pop()
        if isinstance(inner, dict):
            for name, member in inner.items():
                present.add((*place, name))
                if isinstance(member, dict | list):
                    stack.append(((*place, name), member))
        elif isinstance(inner, list):
            stack += [
                ((*place, ANY_INDEX), item)
                for item in inner
                if isinstance(item, dict | list)
            ]
    return len(required & present) / len(required)
