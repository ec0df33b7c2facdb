"""Proofs that a schema accepts nothing: simple ones, and sound.

For each schema a set of types is computed of which it may accept a value. Whatever
is not understood counts as accepting; recursion starts from nothing, so that a
required member that needs itself again, without end, is refuted: every instance is
finite. No proof means nothing: the schema may accept no instance all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.lint_values import crossed, forbidden, named_types, types_of
from curation.references import SchemaDocument
from curation.roots import TYPES
from curation.schema_walk import pointer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.dialects import Dialect
    from curation.documents import Json
    from curation.schema_walk import Tokens

#: Schemas looked at for one proof.
_FUEL = 5_000
#: Schemas entered one from another.
_DEEPEST = 150
#: `integer` is a number here.
_KINDS = TYPES - {"integer"}
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Why nothing is accepted, and where that begins."""

    pointer: str
    why: str

    def __str__(self) -> str:
        """Return the proof as one line."""
        return f"{self.pointer or '(root)'}: {self.why}"


def refute(schema: Json, dialect: Dialect) -> Proof | None:
    """Return a proof that the schema accepts no instance at all, or None."""
    refuter = _Refuter(schema, dialect)
    while True:
        before = dict(refuter.known)
        refuter.visited.clear()
        if refuter.kinds((), schema) or refuter.fuel <= 0:
            return None
        if refuter.known == before:
            return refuter.proof()


class _Refuter:
    """One round after another, until what is known to be accepted grows no more."""

    def __init__(self, schema: Json, dialect: Dialect) -> None:
        self._document = SchemaDocument(schema=schema, dialect=dialect, uri="")
        self._dialect = dialect
        self.fuel = _FUEL
        #: Where a schema stands, to the types it may accept as far as is known.
        self.known: dict[Tokens, frozenset[str]] = {}
        self.visited: set[Tokens] = set()
        self._why: Proof | None = None

    def proof(self) -> Proof:
        """Return the innermost reason met last."""
        return self._why or Proof(pointer="", why="every instance would be endless")

    def kinds(self, tokens: Tokens, schema: Json) -> frozenset[str]:
        """Return the types of which the schema may accept a value, as is known."""
        if isinstance(schema, bool):
            return _KINDS if schema else self._nothing(tokens, "the schema is `false`")
        if not isinstance(schema, dict) or len(tokens) > _DEEPEST or self.fuel <= 0:
            self.fuel = min(self.fuel, 0)
            return _KINDS
        if tokens in self.visited:
            return self.known.get(tokens, _NOTHING)
        self.visited.add(tokens)
        self.fuel -= 1
        result = self._kinds(tokens, schema)
        self.known[tokens] = result
        return result

    def _nothing(self, tokens: Tokens, why: str) -> frozenset[str]:
        self._why = Proof(pointer=pointer(tokens), why=why)
        return _NOTHING

    def _kinds(self, tokens: Tokens, schema: Mapping[str, Json]) -> frozenset[str]:
        kinds = _KINDS
        if "$ref" in schema:
            kinds = self._target(schema["$ref"])
            if self._dialect.ref_hides_siblings:
                return kinds
        types = named_types(schema)
        if types is not None:
            kinds &= _plain(types)
        kinds &= self._listed(tokens, schema)
        left = kinds & self._combined(tokens, schema)
        if kinds and not left and self._why is None:
            self._nothing(tokens, "no type is allowed by all that is asked")
        kinds = left
        for low, kind in crossed(schema):
            if kind in kinds:
                self._nothing((*tokens, low), "the bounds leave no value")
                kinds -= {kind}
        if "object" in kinds and not self._object(tokens, schema):
            kinds -= {"object"}
        if "array" in kinds and not self._array(tokens, schema):
            kinds -= {"array"}
        return kinds

    def _target(self, reference: Json) -> frozenset[str]:
        """Return the types of a local pointer's target; all, of any other's."""
        local = isinstance(reference, str) and reference.startswith("#/")
        if reference != "#" and not local:
            return _KINDS
        if self._document.scanned.inner_resources:
            return _KINDS
        try:
            found = self._document.find(self._document.base, reference[1:])
        except LookupError:
            return _KINDS
        return _KINDS if found is None else self.kinds(found.tokens, found.value)

    def _listed(self, tokens: Tokens, schema: Mapping[str, Json]) -> frozenset[str]:
        kinds = _KINDS
        if isinstance(schema.get("enum"), list):
            of_each = (_plain(types_of(e, self._dialect)) for e in schema["enum"])
            kinds &= _NOTHING.union(*of_each)
        if "const" in schema and "const" in self._dialect.effective:
            kinds &= _plain(types_of(schema["const"], self._dialect))
        types = named_types(schema)
        if types is not None and not kinds & _plain(types):
            return self._nothing(tokens, "no listed value has the type")
        return kinds

    def _combined(self, tokens: Tokens, schema: Mapping[str, Json]) -> frozenset[str]:
        kinds = _KINDS
        for word in ("allOf", "anyOf", "oneOf"):
            inner = schema.get(word)
            if not isinstance(inner, list) or not inner:
                continue
            each = [
                self.kinds((*tokens, word, str(index)), one)
                for index, one in enumerate(inner)
            ]
            kinds &= (
                _KINDS.intersection(*each) if word == "allOf" else _NOTHING.union(*each)
            )
        if schema.get("not") is True or schema.get("not") == {}:
            return self._nothing((*tokens, "not"), "everything is excluded")
        return kinds

    def _object(self, tokens: Tokens, schema: Mapping[str, Json]) -> bool:
        """Tell whether an object may be accepted."""
        names = schema.get("required")
        if not isinstance(names, list):
            return True
        most = schema.get("maxProperties")
        if isinstance(most, int) and len(set(map(str, names))) > most:
            self._nothing((*tokens, "maxProperties"), "more members are required")
            return False
        properties = schema.get("properties")
        for name in names:
            if not isinstance(name, str):
                continue
            if forbidden(schema, name):
                self._nothing(tokens, f"{name!r} is required and forbidden")
                return False
            if isinstance(properties, dict) and name in properties:
                where = (*tokens, "properties", name)
                if not self.kinds(where, properties[name]):
                    return False
        return True

    def _array(self, tokens: Tokens, schema: Mapping[str, Json]) -> bool:
        """Tell whether an array may be accepted."""
        least = schema.get("minItems")
        items = schema.get("items")
        if (
            isinstance(least, int | float)
            and least > 0
            and isinstance(items, dict | bool)
            and not schema.get("prefixItems")
        ):
            return bool(self.kinds((*tokens, "items"), items))
        return True


def _plain(types: frozenset[str]) -> frozenset[str]:
    """Return the types with `integer` taken for `number`."""
    if "integer" in types:
        return (types - {"integer"}) | {"number"}
    return types
