"""Do jsonschema and jsonschema-rs accept a schema as one that can be used?

Each is asked to read the schema under its dialect and to find every reference
without fetching. jsonschema-rs does all of it when it builds a validator;
jsonschema does neither before it meets an instance, so its metaschema check and
its reference library (`referencing`) are asked here. Patterns are not compiled
for jsonschema: Python's engine is not that of ECMA-262, and a rule of its own
decides about them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jsonschema_rs
from jsonschema_specifications import REGISTRY
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from curation.check_schema import refuse
from curation.dialects import ANY_DIALECT
from curation.jsontext import plain
from curation.metaschemas import MASK, VALIDATORS, cause, recheck
from curation.schema_walk import children, pointer, subschemas

if TYPE_CHECKING:
    from referencing._core import Resolver

    from curation.dialects import Dialect
    from curation.documents import Json

_REFERRING = ("$ref", "$dynamicRef", "$recursiveRef")
#: Longest text kept of an error.
_SHOWN = 300
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
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


def of_jsonschema_rs(schema: Json, dialect: Dialect) -> Verdict:
    """Return whether jsonschema-rs builds a validator of the schema."""
    name = "jsonschema-rs"
    try:
        VALIDATORS[dialect.name](plain(schema), retriever=refuse, mask=MASK)
    except jsonschema_rs.ValidationError as error:
        tokens, message = cause(error)
        where = pointer(tokens) or "(root)"
        return Verdict(validator=name, error=f"refuses it: {where}: {_line(message)}")
    except (jsonschema_rs.ReferencingError, ValueError) as error:
        return Verdict(validator=name, error=f"refuses it: {_line(str(error))}")
    return Verdict(validator=name)


def of_jsonschema(schema: Json, dialect: Dialect, *, thorough: bool) -> Verdict:
    """Return whether jsonschema can read the schema and find every reference.

    With `thorough`, its own `check_schema` runs again; without, the schema is
    known to be valid under its metaschema (`curation.metaschemas`).
    """
    name = "jsonschema"
    complaint = recheck(schema, dialect) if thorough else None
    if complaint is not None:
        return Verdict(validator=name, error=f"refuses it: {complaint}")
    lost = _lost_reference(schema, dialect)
    if lost is not None:
        error = f"does not find {lost}"
        return Verdict(validator=name, error=error, lost_reference=True)
    return Verdict(validator=name)


def _line(message: str) -> str:
    text = _SPACE.sub(" ", message).strip()
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _lost_reference(schema: Json, dialect: Dialect) -> str | None:
    """Return the first reference that `referencing` cannot follow, or None."""
    if not any(
        word in each for each in subschemas(schema, ANY_DIALECT) for word in _REFERRING
    ):
        return None
    specification = specification_with(dialect.uri)
    resource = specification.create_resource(schema)
    start = REGISTRY.resolver_with_root(resource)
    seen: set[int] = set()
    stack: list[tuple[Json, Resolver[Json]]] = [(schema, start)]
    while stack:
        each, resolver = stack.pop()
        if not isinstance(each, dict) or id(each) in seen:
            continue
        seen.add(id(each))
        for word in _REFERRING:
            ref = each.get(word)
            if not isinstance(ref, str):
                continue
            try:
                found = resolver.lookup(ref)
            except (Unresolvable, ValueError):
                return ref
            stack.append((found.contents, found.resolver))
        for _, child in children(each, dialect):
            inner = resolver
            if isinstance(child, dict) and isinstance(
                child.get(dialect.id_keyword), str
            ):
                inner = resolver.in_subresource(specification.create_resource(child))
            stack.append((child, inner))
    return None
