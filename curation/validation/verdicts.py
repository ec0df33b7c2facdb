"""Verdicts of jsonschema and jsonschema-rs on whether a schema can be used.

jsonschema-rs reads a schema when it builds a validator; for jsonschema its metaschema
check and its reference library (`referencing`) are called. The metaschema check is
slow: it runs on a share of the schemas, chosen by digest, and where the two may differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

import jsonschema_rs
from jsonschema_specifications import REGISTRY
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from curation.json.pointer import at, pointer, tokens_of_fragment
from curation.json.values import plain_of_document, remembered
from curation.schema.keywords import REFERENCE_KEYWORDS
from curation.schema.subschemas import children, subschemas
from curation.validation.metaschemas import (
    MASK,
    RUST_VALIDATORS,
    cause,
    python_complaint,
    refuse,
    validators_may_differ,
)

if TYPE_CHECKING:
    from referencing import Resource, Specification

    from curation.core.json_types import Json, UntypedJson
    from curation.schema.dialects import Dialect


class _Resolver(Protocol):
    """What `Registry.resolver` returns; `referencing` exports no name for it."""

    def lookup(self, ref: str) -> _Resolved: ...

    def in_subresource(self, subresource: Resource[Json]) -> _Resolver: ...


class _Resolved(Protocol):
    @property
    def contents(self) -> Json: ...

    @property
    def resolver(self) -> _Resolver: ...


#: How `referencing` ends where a schema is expected and something else stands.
_LIBRARY_FAILS = (AttributeError, TypeError)
#: Longest text kept of an error.
_SHOWN = 300
#: A reference that stays in the resource where it stands, under every base.
_POINTER = re.compile(r"#(?:/|$)")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatorVerdict:
    """What one validator says of a schema."""

    validator: str
    #: Why it refuses the schema; empty where it accepts.
    error: str = ""
    #: Whether the error is a reference that leads nowhere.
    lost_reference: bool = False

    @property
    def accepts(self) -> bool:
        """Whether the validator can use the schema."""
        return not self.error

    def __str__(self) -> str:
        """Return the verdict as one clause."""
        return f"{self.validator} {self.error or 'accepts it'}"


def rust_verdict(schema: Json, dialect: Dialect) -> ValidatorVerdict:
    """Return whether jsonschema-rs builds a validator of the schema."""
    built = rust_validator(schema, dialect)
    error = built if isinstance(built, str) else ""
    return ValidatorVerdict(validator="jsonschema-rs", error=error)


@remembered
def rust_validator(schema: Json, dialect: Dialect) -> jsonschema_rs.Validator | str:
    """Return jsonschema-rs's validator, formats aside, or why it builds none.

    The last results are cached.
    """
    value: UntypedJson = plain_of_document(schema)
    try:
        return RUST_VALIDATORS[dialect.name](value, retriever=refuse, mask=MASK)
    except jsonschema_rs.ValidationError as failure:
        tokens, message = cause(failure)
        where = pointer(tokens) or "(root)"
        return f"refuses it: {where}: {_line(message)}"
    except (jsonschema_rs.ReferencingError, ValueError) as failure:
        return f"refuses it: {_line(str(failure))}"


def refers(text: bytes) -> bool:
    """Return whether a schema, by its JSON text, may hold a reference at all."""
    return any(b'"%s"' % keyword.encode() in text for keyword in REFERENCE_KEYWORDS)


def python_verdict(
    schema: Json, dialect: Dialect, *, thorough: bool, follow: bool = True
) -> ValidatorVerdict:
    """Return whether jsonschema can read the schema and find every reference.

    Args:
        schema: The schema.
        dialect: Its dialect, whatever its `$schema` says.
        thorough: Run jsonschema's own `check_schema`. Otherwise the schema must be
            known to be valid (`curation.validation.metaschemas`).
        follow: Look for every reference. Otherwise it must be known to hold none.
    """
    name = "jsonschema"
    complaint = python_complaint(schema, dialect) if thorough else None
    if complaint is not None:
        return ValidatorVerdict(validator=name, error=f"refuses it: {complaint}")
    lost = _lost_reference(schema, dialect) if follow else None
    if lost is not None:
        error = f"does not find {lost}"
        return ValidatorVerdict(validator=name, error=error, lost_reference=True)
    return ValidatorVerdict(validator=name)


def _line(message: str) -> str:
    text = _SPACE.sub(" ", message).strip()
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _lost_pointer(schema: Json, dialect: Dialect) -> str | None:
    """Return a pointer that leads nowhere; the empty text if all lead somewhere.

    None if the base changes inside, or a reference is not a pointer.
    """
    visited: set[int] = set()
    followed: set[str] = set()
    targets = [schema]
    while targets:
        refs: set[str] = set()
        for subschema in subschemas(targets.pop(), dialect):
            if id(subschema) in visited:
                continue
            visited.add(id(subschema))
            inner = subschema.get(dialect.id_keyword)
            if isinstance(inner, str) and subschema is not schema:
                return None
            refs.update(
                reference
                for keyword in dialect.reference_keywords
                if isinstance(reference := subschema.get(keyword), str)
            )
        if not all(map(_POINTER.match, refs)):
            return None
        for ref in sorted(refs - followed):
            try:
                target = at(schema, tokens_of_fragment(ref))
            except LookupError:
                return ref
            if id(target) not in visited:
                targets.append(target)
        followed |= refs
    return ""


def _lost_reference(schema: Json, dialect: Dialect) -> str | None:
    lost = _lost_pointer(schema, dialect)
    if lost is not None:
        return lost or None
    specification = specification_with(dialect.uri)
    resource = specification.create_resource(schema)
    uri = resource.id() or ""
    registry = REGISTRY.with_resource(uri, resource)
    try:
        registry = registry.crawl()
    except _LIBRARY_FAILS as error:
        return f"any reference: its library fails with {type(error).__name__}"
    search = _Search(dialect=dialect, specification=specification)
    search.targets.append((schema, registry.resolver(uri)))
    while search.targets and search.lost is None:
        search.walk(*search.targets.pop())
    return search.lost


@dataclass(slots=True, kw_only=True)
class _Search:
    """The search for a lost reference: what was seen, and where references led."""

    dialect: Dialect
    specification: Specification[Json]
    visited: set[int] = field(default_factory=set)
    targets: list[tuple[Json, _Resolver]] = field(default_factory=list)
    lost: str | None = None

    def walk(self, start: Json, outer: _Resolver) -> None:
        """Follow every reference below a schema that was not met before."""
        followed: set[tuple[int, str]] = set()
        resolvers = [outer]
        stack = [(start, outer)]
        while stack:
            subschema, resolver = stack.pop()
            if not isinstance(subschema, dict) or id(subschema) in self.visited:
                continue
            self.visited.add(id(subschema))
            for keyword in subschema.keys() & self.dialect.reference_keywords:
                ref = subschema[keyword]
                if isinstance(ref, str) and (id(resolver), ref) not in followed:
                    followed.add((id(resolver), ref))
                    self._follow(ref, resolver)
            for _, child in children(subschema, self.dialect):
                inner = self._inside(child, resolver)
                if inner is not resolver:
                    resolvers.append(inner)
                stack.append((child, inner))

    def _inside(self, child: Json, resolver: _Resolver) -> _Resolver:
        if not isinstance(child, dict):
            return resolver
        if not isinstance(child.get(self.dialect.id_keyword), str):
            return resolver
        return resolver.in_subresource(self.specification.create_resource(child))

    def _follow(self, ref: str, resolver: _Resolver) -> None:
        try:
            resolved = resolver.lookup(ref)
        except (Unresolvable, ValueError):
            self.lost = self.lost or ref
        except _LIBRARY_FAILS as error:
            self.lost = self.lost or f"{ref}: its library fails, {error!r}"
        else:
            if id(resolved.contents) not in self.visited:
                self.targets.append((resolved.contents, resolved.resolver))


#: The slow check runs on one schema in so many.
ONE_IN = 256


def is_in_share(text: bytes) -> bool:
    """Return whether the digest of a canonical text chooses it for the slow check."""
    return int.from_bytes(sha256(text).digest()[:4]) % ONE_IN == 0


def both_verdicts(
    schema: Json, dialect: Dialect, text: bytes
) -> tuple[ValidatorVerdict, ValidatorVerdict]:
    """Return what jsonschema and jsonschema-rs say of a schema, in this order.

    Args:
        schema: The schema, whose references are all its own.
        dialect: The dialect that it is read in.
        text: Its canonical form.
    """
    thorough = is_in_share(text) or validators_may_differ(schema, dialect)
    return (
        python_verdict(schema, dialect, thorough=thorough, follow=refers(text)),
        rust_verdict(schema, dialect),
    )
