"""The subschemas that a proof looks at, and what their keywords mean."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import re2

from curation.references.resolution import document_of, follow_reference
from curation.schema.dialects import DRAFT_2019_09
from curation.schema.locations import SchemaLocation
from curation.schema.subschemas import subschemas

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from curation.core.json_types import Json, UntypedJson
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect

#: Keywords outside a dialect's own that a validator may heed all the same.
_HEEDED = frozenset(
    {
        "format",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "dependencies",
        "additionalItems",
        "$dynamicRef",
        "$recursiveRef",
    }
)
#: Keywords of a dialect's own that ask nothing of an instance.
_SILENT = frozenset(
    {
        "definitions",
        "$defs",
        "$vocabulary",
        "$anchor",
        "$dynamicAnchor",
        "$recursiveAnchor",
    }
)
#: Patterns that every engine reads alike, asked of printable ASCII.
_COMMON_PATTERN = re.compile(
    r"(?:[A-Za-z0-9_^$.*+?|)\[\]{}, /:@#!%=<>~&;'\"-]|\\[dw.$^*+?|()\[\]{}/-]"
    r"|\((?!\?)|\(\?:)*"
)
_AMBIGUOUS = re.compile(r"\[\^?\]|\[[^\]]*\[|\{,|\?\{|[*+?}][*+]")
_PRINTABLE = re.compile(r"[ -~]*")


class SchemaView:
    """One schema in its dialect: its subschemas, and where its references lead."""

    def __init__(self, schema: Json, dialect: Dialect) -> None:
        """Look at a whole schema in a dialect; nothing is computed yet."""
        self.dialect = dialect
        self.effective = dialect.effective
        self._document = document_of(schema, dialect)
        self._targets: dict[tuple[str, str], SchemaLocation | None] = {}
        #: Keywords that may make a difference to what is accepted.
        self.heeded = _heeded(self.effective)
        self.exclusive_flags = dialect.order <= 4  # noqa: PLR2004 - draft-04

    @cached_property
    def root(self) -> SchemaLocation:
        """The schema as a whole."""
        return self._document.root

    def child(self, location: SchemaLocation, *tokens: str) -> SchemaLocation:
        """Return the schema that some tokens lead to from another.

        Raises:
            LookupError: nothing stands there.
        """
        value = _value_at(location.schema, tokens)
        return SchemaLocation(location.tokens + tokens, value, self.base_in(location))

    def base_in(self, location: SchemaLocation) -> str:
        """Return the base URI inside a schema, its own identifier considered."""
        return self._document.inside(location)

    def target(self, location: SchemaLocation) -> SchemaLocation | None:
        """Return where the `$ref` of a schema leads; None where that is not sure."""
        reference = location.schema["$ref"]
        if not isinstance(reference, str):
            return None
        key = (self.base_in(location), reference)
        if key not in self._targets:
            self._targets[key] = self._target(*key)
        return self._targets[key]

    def _target(self, base: str, reference: str) -> SchemaLocation | None:
        document = self._document
        if self._other_dialects:
            return None
        try:
            found = follow_reference(reference, base, [document])
        except (LookupError, ValueError):
            return None
        if found is None or not isinstance(found[1].schema, dict | bool):
            return None
        location = found[1]
        if not location.is_subschema and self._resources_inside:
            return None
        return location

    @cached_property
    def _other_dialects(self) -> bool:
        """Whether a resource inside may be of another dialect."""
        if not self._resources_inside:
            return False
        document = self._document
        inner = (marked for marked in document.scanned.marked if marked)
        return any("$schema" in _value_at(document.schema, tokens) for tokens in inner)

    @cached_property
    def _resources_inside(self) -> bool:
        """Whether a subschema below the root may have a base URI of its own."""
        root, keyword = self._document.schema, self.dialect.id_keyword
        every = subschemas(root, self.dialect)
        # The whole scan costs more than this, and most records need none.
        if not any(keyword in schema and schema is not root for schema in every):
            return False
        return bool(self._document.scanned.inner_resources)

    @cached_property
    def tuples(self) -> str:
        """The keyword whose array holds the schemas of the first items."""
        return "prefixItems" if "prefixItems" in self.effective else "items"

    @cached_property
    def hides_siblings(self) -> bool:
        """Whether a `$ref` hides what stands beside it."""
        return self.dialect.order < DRAFT_2019_09.order

    def keywords(self, schema: Mapping[str, Json]) -> frozenset[str]:
        """Return the keywords of a schema that may make a difference."""
        if self.hides_siblings and "$ref" in schema:
            return frozenset({"$ref"})
        return self.heeded & schema.keys()

    def accepts_all(self, location: SchemaLocation) -> bool:
        """Return whether a schema surely accepts every value."""
        schema = location.schema
        if not isinstance(schema, dict):
            return schema is True
        return not (self.keywords(schema) - {self.dialect.id_keyword})


@lru_cache(maxsize=16)
def _heeded(effective: frozenset[str]) -> frozenset[str]:
    return (effective | _HEEDED) - _SILENT


def _value_at(value: UntypedJson, tokens: Tokens) -> UntypedJson:
    for token in tokens:
        value = value[int(token)] if isinstance(value, list) else value[token]
    return value


def equality_key(value: Json) -> Hashable:
    """Return what is equal for values that JSON Schema takes for equal, only."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return ("array", *map(equality_key, value))
    if isinstance(value, dict):
        return (
            "object",
            frozenset((name, equality_key(member)) for name, member in value.items()),
        )
    return value


def matches(pattern: str, text: str) -> bool | None:
    """Return whether a pattern is found in a text; None where engines may differ."""
    compiled = _compiled(pattern)
    if compiled is None or not _PRINTABLE.fullmatch(text):
        return None
    return compiled.search(text) is not None


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> Any:  # noqa: ANN401 - re2 has no types
    if not _COMMON_PATTERN.fullmatch(pattern) or _AMBIGUOUS.search(pattern):
        return None
    try:
        return re2.compile(pattern)
    except re2.error:
        return None
