"""A schema with its dialect, its references followed and jsonschema-rs validators."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, wraps
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
)

import jsonschema_rs
import msgspec

from curation.core.documents import ABSENT
from curation.instances.constraints.keyword_values import (
    DECIDING,
    KNOWN_FORMATS,
    item_keywords,
    read_array,
    read_object,
)
from curation.json.pointer import Tokens, pointer, to_fragment
from curation.json.text import canonical, plain
from curation.references.schema import Schema
from curation.schema.dialects import BY_NAME, Dialect
from curation.schema.keywords import REFERENCE_KEYWORDS
from curation.validation.faults import (
    ErrorPaths,
    exact_paths,
    may_lose_names,
    plain_paths,
)
from curation.validation.metaschemas import RUST_DRAFTS, RUST_VALIDATORS, refuse

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from curation.schema.subschemas import SchemaLocation


class Holder(Protocol):
    """An object that results are kept with."""

    memos: dict[object, Any]


_Holder = TypeVar("_Holder", bound=Holder)
_Further = ParamSpec("_Further")
_Value = TypeVar("_Value")


def memo(
    function: Callable[Concatenate[_Holder, _Further], _Value],
) -> Callable[Concatenate[_Holder, _Further], _Value]:
    """Keep a function's results with its first argument, by the further ones.

    Example:
        >>> from types import SimpleNamespace
        >>> length = memo(lambda _, text: len(text))
        >>> holder = SimpleNamespace(memos={})
        >>> length(holder, "abc"), list(holder.memos.values())
        (3, [{('abc',): 3}])
    """

    @wraps(function)
    def remembering(
        holder: _Holder, /, *further: _Further.args, **named: _Further.kwargs
    ) -> _Value:
        results = holder.memos.setdefault(function, {})
        key = (*further, *named.items()) if named else further
        # One look: the hash of a long key is computed each time.
        result = results.get(key, ABSENT)
        if result is ABSENT:
            result = results[key] = function(holder, *further, **named)
        value: _Value = result
        return value

    return remembering


_REFERENCES: Final = frozenset(REFERENCE_KEYWORDS)
#: Where the record is in the registry from which single subschemas are compiled.
_HERE: Final = "json-schema:///record"
#: Members of a schema's canonical form: which draft it is of, and a format.
_DECLARED: Final = re.compile(rb'"\$schema":"[^"]*"')
_FORMAT: Final = re.compile(rb'"format":"([^"]*)"')
#: Subschemas with a separate validator; beyond, all share one.
_SINGLY: Final = 8


class FailedAssertion(msgspec.Struct, frozen=True, kw_only=True):
    """One failed assertion, as jsonschema-rs reports it."""

    keyword: str
    #: Where the keyword is in the record, references followed.
    schema_pointer: str
    instance_pointer: str
    #: The keywords passed through, references not followed, from the root.
    evaluation_path: Tokens = ()
    #: Whether a name is refused, not a value; jsonschema-rs loses the path to
    #: `propertyNames` where that refers.
    of_name: bool = False


class CompiledSchema(Schema):
    """A schema with its dialect, and jsonschema-rs's validators of it.

    Formats are asserted unless a name states otherwise.

    Example:
        >>> compiled = CompiledSchema.from_json({"type": "string"}, "draft-07")
        >>> compiled.is_valid("text"), compiled.is_valid(7)
        (True, False)
    """

    def __init__(self, value: UntypedJson, dialect: Dialect) -> None:
        """Take a schema whose numbers are ordinary floats (`curation.json.text`)."""
        super().__init__(value, dialect)
        #: Results of functions about the schema (`memo`).
        self.memos: dict[object, Any] = {}
        self._accepting: dict[SchemaLocation, Callable[[Json], bool]] = {}

    @classmethod
    def from_json(cls, schema: UntypedJson, dialect_name: str) -> Self:
        """Return a schema as JSON text was read, under a dialect of the benchmark.

        Args:
            schema: Any JSON value; its numbers may remember how they were spelled.
            dialect_name: `draft-04`, `draft-06`, `draft-07`, `2019-09` or `2020-12`.
        """
        return cls(plain(schema), BY_NAME[dialect_name])

    def forget(self) -> None:
        """Drop what is remembered of it, once it is no longer asked about.

        That refers back to the schema, so that else only a collection frees it, which
        takes a tenth of the time of a search.
        """
        self.memos.clear()
        self._accepting.clear()

    @property
    def fault(self) -> str:
        """Why jsonschema-rs cannot use the schema, in one line; empty if it can."""
        try:
            self.validator  # noqa: B018 - compiled here, so that a fault shows
        except (ValueError, TypeError) as error:
            return str(error).partition("\n")[0] or type(error).__name__
        return ""

    @cached_property
    def validator_without_formats(self) -> jsonschema_rs.Validator:
        """The validator of the whole schema that asserts no format.

        Raises:
            ValueError: jsonschema-rs cannot use the schema.
        """
        if not self._mentions_format:
            return self.validator
        return self.compile(formats=False)

    @cached_property
    def canonical(self) -> bytes:
        """The schema in its canonical form."""
        return canonical(self.value)

    @cached_property
    def _mentions_format(self) -> bool:
        """Whether the schema has a known format, or refers to a metaschema."""
        text = _DECLARED.sub(b"", self.canonical)
        has_format = any(
            name.decode() in KNOWN_FORMATS for name in _FORMAT.findall(text)
        )
        return has_format or b"json-schema.org" in text

    def is_valid(self, value: Json) -> bool:
        """Return whether the schema accepts a value."""
        return bool(self.validator.is_valid(value))

    def is_valid_without_formats(self, value: Json) -> bool:
        """Return whether the schema accepts a value where no format is asserted."""
        return bool(self.validator_without_formats.is_valid(value))

    @memo
    def branches(
        self, location: SchemaLocation, keyword: str
    ) -> tuple[SchemaLocation, ...]:
        """Return the locations of the schemas that a keyword lists."""
        count = len(read_array(location.schema, keyword))
        return tuple(self.child(location, (keyword, str(at))) for at in range(count))

    def targets(self, location: SchemaLocation) -> list[SchemaLocation]:
        """Return where the reference keywords of a schema lead."""
        if _REFERENCES.isdisjoint(location.schema):
            return []
        targets = (
            self.target(location, keyword)
            for keyword in REFERENCE_KEYWORDS
            if keyword in location.schema
        )
        return [target for target in targets if target is not None]

    def verdicts(self, value: Json) -> tuple[bool, bool]:
        """Return whether a value is accepted with formats asserted, and without."""
        asserted = self.is_valid(value)
        if not self._mentions_format:
            return asserted, asserted
        return asserted, self.is_valid_without_formats(value)

    def errors(self, value: Json, *, formats: bool = True) -> list[FailedAssertion]:
        """Return the assertions that a value fails, as the validator lists them.

        Args:
            value: Any JSON value.
            formats: Whether formats are asserted.
        """
        validator = self.validator if formats else self.validator_without_formats
        errors = list(validator.iter_errors(value))
        if not errors:
            return []
        if self._loses_names or may_lose_names(value):
            paths = exact_paths(validator, value, errors)
            return list(map(self._assertion, errors, paths))
        return list(map(self._assertion, errors))

    @cached_property
    def _loses_names(self) -> bool:
        return may_lose_names(self.value)

    def _assertion(
        self, error: jsonschema_rs.ValidationError, exact: ErrorPaths | None = None
    ) -> FailedAssertion:
        paths = exact or plain_paths(error)
        if exact is None and not self.inner_resources:
            tokens = tuple(map(str, error.schema_path))
        else:
            tokens = self._record_tokens(paths.evaluation)
        return FailedAssertion(
            keyword=paths.evaluation[-1] if paths.evaluation else "",
            schema_pointer=pointer(tokens),
            instance_pointer=pointer(paths.instance),
            evaluation_path=paths.evaluation,
            of_name=type(error.kind).__name__.endswith("PropertyNames"),
        )

    def _record_tokens(self, evaluation_path: Tokens) -> Tokens:
        """Return the tokens of a failed keyword inside the record.

        jsonschema-rs counts from the embedded resource, if there is one, and may lose
        names (`curation.validation.faults.exact_paths`).
        """
        location = self.root
        tokens: Tokens = ()
        for token in evaluation_path:
            refers = token in REFERENCE_KEYWORDS and isinstance(location.schema, dict)
            if refers and not tokens:
                target = self.target(location, token)
                if target is None:
                    break
                location = target
                continue
            tokens = (*tokens, token)
            location, tokens = self._step(location, tokens)
        return location.tokens + tokens

    def _step(
        self, location: SchemaLocation, tokens: Tokens
    ) -> tuple[SchemaLocation, Tokens]:
        """Return the subschema that tokens lead to, and the tokens left to follow."""
        try:
            child = self.child(location, tokens)
        except LookupError:
            return location, tokens
        shape = self.dialect.applicators.get(tokens[0])
        several = isinstance(child.schema, list) or (shape and "object" in shape.value)
        named = shape and not (len(tokens) == 1 and several)
        return (child, ()) if named else (location, tokens)

    def accepts(self, location: SchemaLocation, value: Json) -> bool:
        """Return whether the schema at a location accepts a value.

        What jsonschema-rs cannot compile by itself is taken to accept everything.
        """
        if isinstance(location.schema, bool):
            return location.schema
        accepts = self._accepting.get(location)
        if accepts is None:
            accepts = self._accepting[location] = self._accepts_at(location)
        return accepts(value)

    def _accepts_at(self, location: SchemaLocation) -> Callable[[Json], bool]:
        """Return the verdict of a schema; of a mere reference, its target's."""
        if len(self._accepting) >= _SINGLY and not location.document:
            name = to_fragment(location.tokens)
            names, together = self._together
            if name in names:
                return lambda value: bool(together.is_valid({name: value}))
        if isinstance(location.schema, dict) and location.schema.keys() == {"$ref"}:
            target = self.target(location)
            if target is not None and isinstance(target.schema, dict):
                if target not in self._accepting:
                    self._accepting[target] = self._compile_at(target)
                return self._accepting[target]
        return self._compile_at(location)

    @cached_property
    def _registries(self) -> list[tuple[str, jsonschema_rs.Registry]]:
        """Return URIs of the schema, each with a registry that knows it by that URI.

        Its own identifier comes first; a relative one, or that of a metaschema, fails,
        so that a URI of ours follows.
        """
        draft, keyword = RUST_DRAFTS[self.dialect.name], self.dialect.id_keyword
        variants = [(self.base or _HERE, self.value)]
        if self.base and isinstance(self.value, dict):
            bare = {
                name: value for name, value in self.value.items() if name != keyword
            }
            variants.append((_HERE, bare))
        registries = []
        for uri, schema in variants:
            with suppress(ValueError):
                resources = [(uri, schema)]
                registry = jsonschema_rs.Registry(
                    resources, draft=draft, retriever=refuse
                )
                registries.append((uri, registry))
        return registries

    def _compile_at(self, location: SchemaLocation) -> Callable[[Json], bool]:
        """Compile the schema at a location by itself."""
        if location is self.root:
            return self.is_valid
        name = to_fragment(location.tokens)
        validator = self._compile(
            lambda uri: {"$ref": (location.document or uri) + name}
        )
        # What jsonschema-rs cannot compile by itself refuses nothing.
        return validator.is_valid if validator else lambda _: True

    @cached_property
    def _together(self) -> tuple[frozenset[str], jsonschema_rs.Validator]:
        """One validator of all schemas that values are asked about, by their fragments.

        It takes an object with the value as member of that name. Each validator of one
        schema holds all that its references lead to: of a large schema, megabytes.
        """
        names = frozenset(
            to_fragment(location.tokens)
            for location in self.walk
            if not DECIDING.isdisjoint((*location.tokens[-2:], *location.keywords))
        )
        validator = self._compile(
            lambda uri: {"properties": {name: {"$ref": uri + name} for name in names}}
        )
        if validator is None:
            return frozenset(), self.validator
        return names, validator

    def _compile(
        self, schema_at: Callable[[str], UntypedJson]
    ) -> jsonschema_rs.Validator | None:
        """Compile what refers to the schema by a URI; None if that is not possible."""
        validator = RUST_VALIDATORS[self.dialect.name]
        for uri, registry in self._registries:
            with suppress(ValueError, jsonschema_rs.ReferencingError):
                return validator(
                    schema_at(uri),
                    registry=registry,
                    validate_formats=True,
                    retriever=refuse,
                )
        return None

    @memo
    def member_locations(
        self, part: SchemaLocation, step: str | int
    ) -> list[SchemaLocation]:
        """Return the schemas that one schema object applies to a property or element.

        `additionalProperties` is one of them where nothing else is. What references,
        branches and `unevaluated...` apply is not searched.
        """
        schema = part.schema
        locations: list[SchemaLocation] = []
        if isinstance(step, int):
            prefix, remaining = item_keywords(schema, self.dialect)
            if prefix and step < len(schema[prefix]):
                return [self.child(part, (prefix, str(step)))]
            return [self.child(part, (remaining,))] if remaining else []
        if step in read_object(schema, "properties"):
            locations.append(self.child(part, ("properties", step)))
        if "patternProperties" in schema:
            locations += [
                self.child(part, ("patternProperties", pattern))
                for pattern in read_object(schema, "patternProperties")
                if self._is_match(pattern, step)
            ]
        if not locations and "additionalProperties" in schema:
            locations.append(self.child(part, ("additionalProperties",)))
        return locations

    @memo
    def _is_match(self, pattern: str, name: str) -> bool:
        from curation.instances.values.strings import StringConstraints, matches  # noqa: PLC0415 - slow

        return matches(StringConstraints(patterns=(pattern,)), name)
