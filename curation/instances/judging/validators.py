"""Verdicts of both validators on an instance, with formats on and off.

jsonschema reads patterns by ECMA-262 here, as the specification asks; Python's differ.
`unevaluatedProperties` asks which names `patternProperties` has evaluated (JSON Schema
core 2020-12, section 11.3), so it is here too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import WeakKeyDictionary

import msgspec
import regress
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import lookup_recursive_ref

from curation.instances.constraints.keyword_values import read_array, read_object
from curation.instances.values.strings import SAFE_UNREAD, automaton_matches, is_long
from curation.json.text import canonical
from curation.schema.dialects import DIALECTS, DRAFT_2019_09
from curation.schema.keywords import REFERENCE_KEYWORDS
from curation.validation.python_validators import PYTHON_VALIDATORS, jsonschema

if TYPE_CHECKING:
    from jsonschema import FormatChecker, ValidationError

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.interpretations import Interpretations

#: A validator of jsonschema's, whose classes have no types. A keyword is a function of
#: the validator, the keyword's value, the instance and the schema that holds the
#: keyword; it yields errors. `format_checker` is a `Memory`, which outlives `evolve`.
PythonValidator: TypeAlias = Any


@dataclass(slots=True)
class Memory:
    """What one verdict remembers, so that no reference is followed twice for a value.

    jsonschema hands its checker of formats to every validator of a subschema, and to
    no keyword anything else.
    """

    #: jsonschema's own; None if formats are not asserted.
    formats: FormatChecker | None
    #: Whether a target is the same schema however it was reached.
    is_static: bool
    has_refused: bool = False
    #: Where a reference leads, by the address from which it starts.
    resolved: dict[tuple[str, str], Any] = field(default_factory=dict)
    #: The error of a value in a schema, or None, by their identities.
    errors: dict[tuple[int, str, int], ValidationError | None] = field(
        default_factory=dict
    )

    def forget(self) -> None:
        """Begin another verdict: values have other identities."""
        self.has_refused = False
        self.errors.clear()

    def check(self, instance: object, name: str) -> None:
        """Check a format as jsonschema does.

        Raises:
            FormatError: the instance does not have that format.
        """
        if self.formats is None:
            return
        try:
            self.formats.check(instance, name)
        except jsonschema.exceptions.FormatError:
            self.has_refused = True
            raise


def _reference(
    validator: PythonValidator, reference: str, instance: Json, _: Mapping[str, Json]
) -> Iterator[ValidationError]:
    """Follow a reference once, and judge a value by its target once.

    Branches of `oneOf` that share definitions take exponential time otherwise.
    """
    memory, resolver = validator.format_checker, validator._resolver  # noqa: SLF001 - no public way exists
    start = (resolver._base_uri, reference)  # noqa: SLF001 - as above
    if memory.is_static and start not in memory.resolved:
        with suppress(Unresolvable):
            memory.resolved[start] = resolver.lookup(reference)
    target = memory.resolved.get(start)
    if target is None:
        yield from validator._validate_reference(reference, instance)  # noqa: SLF001 - as above
        return
    key = (id(target.contents), target.resolver._base_uri, id(instance))  # noqa: SLF001 - as above
    if key not in memory.errors:
        errors = validator.descend(instance, target.contents, resolver=target.resolver)
        memory.errors[key] = next(iter(errors), None)
    if error := memory.errors[key]:
        yield error


#: Keywords that evaluate every property.
_EVALUATING_ALL: Final = ("additionalProperties", "unevaluatedProperties")
_BRANCHES: Final = ("allOf", "anyOf", "oneOf")


def _unevaluated_properties(
    validator: PythonValidator,
    unevaluated: Json,
    instance: Json,
    schema: Mapping[str, Json],
) -> Iterator[jsonschema.ValidationError]:
    if not isinstance(instance, dict):
        return
    beside = {name: schema[name] for name in schema if name != _EVALUATING_ALL[1]}
    evaluated = _evaluated(validator.evolve(schema=beside), instance)
    for name in instance:
        if name not in evaluated and not validator.evolve(schema=unevaluated).is_valid(
            instance[name]
        ):
            yield jsonschema.ValidationError(f"{name!r} is not evaluated")


def _evaluated(validator: PythonValidator, instance: dict[str, Json]) -> set[str]:
    """Return the names that a schema evaluates in an object that it accepts."""
    schema = validator.schema
    if not isinstance(schema, dict):
        return set()
    names = read_object(schema, "properties").keys() & instance.keys()
    patterns = read_object(schema, "patternProperties")
    names |= {
        name
        for name in instance
        if any(is_match(pattern, name) for pattern in patterns)
    }
    if any(keyword in schema for keyword in _EVALUATING_ALL):
        return set(instance)
    for applied in _applied(validator, schema, instance):
        names |= _evaluated(applied, instance)
    return names


def _applied(
    validator: PythonValidator, schema: dict[str, Json], instance: dict[str, Json]
) -> Iterator[PythonValidator]:
    """Yield a validator of every schema that applies to the same object and holds."""
    resolver = validator._resolver  # noqa: SLF001 - no public way exists
    for keyword in REFERENCE_KEYWORDS:
        if keyword in schema:
            recursive = keyword == "$recursiveRef"
            validators = (
                lookup_recursive_ref(resolver)
                if recursive
                else resolver.lookup(schema[keyword])
            )
            yield validator.evolve(
                schema=validators.contents, _resolver=validators.resolver
            )
    subschemas = [
        *(branch for name in _BRANCHES for branch in read_array(schema, name)),
        *(
            subschema
            for name, subschema in read_object(schema, "dependentSchemas").items()
            if name in instance
        ),
    ]
    if "if" in schema:
        holds = validator.evolve(schema=schema["if"]).is_valid(instance)
        subschemas += [schema["if"], schema.get("then" if holds else "else", {})]
    for subschema in subschemas:
        applied = validator.evolve(schema=subschema)
        if applied.is_valid(instance):
            yield applied


#: From this many items on, comparing each pair takes too long.
_MANY_ITEMS: Final = 64
#: Distinct patterns kept compiled.
_REMEMBERED: Final = 16_384


@lru_cache(maxsize=_REMEMBERED)
def _regex(pattern: str) -> regress.Regex:
    """Compile a pattern by ECMA-262, with the `u` flag where it allows that."""
    try:
        return regress.Regex(pattern, "u")
    except regress.RegressError:
        return regress.Regex(pattern)


def is_match(pattern: str, text: str) -> bool:
    r"""Return whether an ECMA-262 pattern matches somewhere in a text.

    Raises:
        ValueError: a backtracking engine could take exponential time, and there is no
            automaton.

    Example:
        >>> is_match(r"^\d$", "\u0663")
        False
    """
    if is_long(pattern, text):
        matched = automaton_matches(pattern, text)
        if matched is not None:
            return matched
        if len(text) > SAFE_UNREAD:
            raise ValueError(
                f"{pattern!r} may take too long for {len(text)} characters"
            )
    return _regex(pattern).find(text) is not None


def _pattern(
    _: PythonValidator, pattern: str, instance: Json, __: Mapping[str, Json]
) -> Iterator[jsonschema.ValidationError]:
    if isinstance(instance, str) and not is_match(pattern, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: PythonValidator,
    members: Mapping[str, Json],
    instance: Json,
    _: Mapping[str, Json],
) -> Iterator[jsonschema.ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, schema in members.items():
        for name, value in instance.items():
            if is_match(pattern, name):
                yield from validator.descend(
                    value, schema, path=name, schema_path=pattern
                )


def _additional_properties(
    validator: PythonValidator,
    additional: Json,
    instance: Json,
    schema: Mapping[str, Mapping[str, Json]],
) -> Iterator[jsonschema.ValidationError]:
    if not isinstance(instance, dict):
        return
    declared = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in declared or any(is_match(pattern, name) for pattern in patterns):
            continue
        if additional is False:
            yield jsonschema.ValidationError(f"{name!r} is not allowed")
        else:
            yield from validator.descend(value, additional, path=name)


def _unique_items(
    validator: PythonValidator, unique: Json, instance: Json, schema: Mapping[str, Json]
) -> Iterator[jsonschema.ValidationError]:
    """Compare long arrays by canonical form; jsonschema compares each pair."""
    if not isinstance(instance, list) or len(instance) < _MANY_ITEMS:
        original = PYTHON_VALIDATORS["2020-12"].VALIDATORS["uniqueItems"]
        yield from original(validator, unique, instance, schema) or ()
    elif unique and len(set(map(canonical, instance))) < len(instance):
        yield jsonschema.ValidationError("an item stands twice")


def _accepted_by_one(
    limit: int,
    validator: PythonValidator,
    branches: Sequence[Json],
    instance: Json,
    _: Mapping[str, Json],
) -> Iterator[jsonschema.ValidationError]:
    """Ask branches until `limit` accept; jsonschema lists the errors of each.

    Each is its own resource if it has an identifier.
    """
    accepting = (
        branch for branch in branches if not any(validator.descend(instance, branch))
    )
    if len(list(islice(accepting, limit))) != 1:
        yield jsonschema.ValidationError("not accepted by one branch")


_KEYWORDS: Final = {
    "$ref": _reference,
    "anyOf": partial(_accepted_by_one, 1),
    "oneOf": partial(_accepted_by_one, 2),
    "uniqueItems": _unique_items,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}
_KEYWORDS_SINCE_2019: Final = {
    **_KEYWORDS,
    "unevaluatedProperties": _unevaluated_properties,
}
#: typeshed leaves it without types.
_extend: Final[Callable[..., Any]] = jsonschema.validators.extend


#: Dialect name to jsonschema's validator class with these keywords.
ECMA_VALIDATORS: Final[Mapping[str, Any]] = {
    dialect.name: _extend(
        PYTHON_VALIDATORS[dialect.name],
        _KEYWORDS_SINCE_2019 if dialect.order >= DRAFT_2019_09.order else _KEYWORDS,
    )
    for dialect in DIALECTS
}


#: Longest text kept of an error of jsonschema's.
_SHOWN: Final = 200
#: Keywords whose target depends on how it was reached.
_DYNAMIC: Final = (b"$dynamicRef", b"$recursiveRef")
#: jsonschema's validators of schemas that are in use, by whether formats are asserted.
_VALIDATORS: Final[WeakKeyDictionary[CompiledSchema, dict[bool, PythonValidator]]] = (
    WeakKeyDictionary()
)


class Verdicts(msgspec.Struct, frozen=True, kw_only=True):
    """Whether each validator accepts; None if it was not asked, or failed."""

    jsonschema_rs: bool
    #: Formats off.
    jsonschema_rs_plain: bool
    jsonschema: bool | None = None
    #: Formats off.
    jsonschema_plain: bool | None = None
    #: Why jsonschema gave no verdict; empty where it did or was not asked.
    error: str = ""
    #: Both verdicts with the keywords heeded that its draft ignores; None if the
    #: draft ignores nothing (`curation.instances.constraints.interpretations`).
    heeding: Verdicts | None = None

    @property
    def text(self) -> str:
        """The verdicts as the JSON text of one packaged column."""
        return json.dumps(self.as_json())

    def as_json(self) -> dict[str, Json]:
        """Return the verdicts as a JSON object."""
        members: dict[str, Json] = {
            "jsonschema_rs": [self.jsonschema_rs, self.jsonschema_rs_plain],
            "jsonschema": [self.jsonschema, self.jsonschema_plain],
        }
        if self.error:
            members["error"] = self.error
        if self.heeding:
            members["heeding"] = self.heeding.as_json()
        return members


def verdicts_of_each(
    interpretations: Interpretations, value: Json, *, ask_jsonschema: bool
) -> Verdicts:
    """Return the verdicts of the validators on a value, by each interpretation.

    Args:
        interpretations: The schema.
        value: The instance.
        ask_jsonschema: Whether jsonschema is asked too.
    """
    own_verdicts = verdicts(interpretations.own, value, ask_jsonschema=ask_jsonschema)
    heeding = interpretations.heeding
    if heeding is None:
        return own_verdicts
    heeding_verdicts = verdicts(heeding, value, ask_jsonschema=ask_jsonschema)
    return msgspec.structs.replace(own_verdicts, heeding=heeding_verdicts)


def verdicts(
    compiled: CompiledSchema, value: Json, *, ask_jsonschema: bool
) -> Verdicts:
    """Return the verdicts of the validators on a value under the schema's dialect.

    Args:
        compiled: The schema.
        value: The instance.
        ask_jsonschema: Whether jsonschema is asked too, which takes a hundred times
            as long.

    Example:
        >>> compiled = CompiledSchema.from_json({"format": "date"}, "draft-07")
        >>> verdicts(compiled, "tomorrow", ask_jsonschema=True).text
        '{"jsonschema_rs": [false, true], "jsonschema": [false, true]}'
    """
    on, off = compiled.verdicts(value)
    rust_verdicts = Verdicts(jsonschema_rs=on, jsonschema_rs_plain=off)
    if not ask_jsonschema:
        return rust_verdicts
    try:
        validator = _validator(compiled, formats=True)
        strict = plain = _accepts(validator, value)
        if validator.format_checker.has_refused:
            plain = _accepts(_validator(compiled, formats=False), value)
    except Exception as error:  # noqa: BLE001 - the library may fail with anything
        why = f"{type(error).__name__}: {error}"[:_SHOWN]
        return msgspec.structs.replace(rust_verdicts, error=why)
    return msgspec.structs.replace(
        rust_verdicts, jsonschema=strict, jsonschema_plain=plain
    )


def jsonschema_accepts(compiled: CompiledSchema, value: Json) -> bool | None:
    """Return whether jsonschema accepts a value, formats asserted; None if it fails."""
    with suppress(Exception):  # the library may fail with anything
        return _accepts(_validator(compiled, formats=True), value)
    return None


def _validator(compiled: CompiledSchema, *, formats: bool) -> PythonValidator:
    """Return jsonschema's validator of a schema, made once."""
    cache = _VALIDATORS.setdefault(compiled, {})
    validator = cache.get(formats)
    if validator is None:
        make = ECMA_VALIDATORS[compiled.dialect.name]
        memory = Memory(
            formats=make.FORMAT_CHECKER if formats else None,
            is_static=not any(word in compiled.canonical for word in _DYNAMIC),
        )
        validator = make(compiled.value, registry=Registry(), format_checker=memory)
        cache[formats] = validator
    return validator


def _accepts(validator: PythonValidator, value: Json) -> bool:
    validator.format_checker.forget()
    try:
        return bool(validator.is_valid(value))
    except BaseException as error:
        # A registry's map, written in Rust, panics where Python's stack ends.
        if type(error).__name__ != "PanicException":
            raise
        raise RecursionError(str(error)) from error
