"""Where the schemas stand that a refutation looks at, and what their words mean."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import re2

from curation.references.resolution import SchemaDocument, base_of, follow_reference
from curation.schema.dialects import DRAFT_2019_09
from curation.schema.subschemas import children, subschemas

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect

#: Words outside a dialect's own that a validator may heed all the same.
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
#: Words of a dialect's own that ask nothing of an instance.
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


class Node(NamedTuple):
    """A schema, where it stands, and the base URI in force inside it."""

    tokens: Tokens
    schema: UntypedJson
    base: str


class Ground:
    """One record, its dialect, and where its references lead."""

    def __init__(self, schema: UntypedJson, dialect: Dialect) -> None:
        """Look at nothing yet."""
        self.dialect = dialect
        self.effective = dialect.effective
        self._document = SchemaDocument(schema=schema, dialect=dialect, uri="")
        self._targets: dict[tuple[str, str], Node | None] = {}
        #: Words that may make a difference to what is accepted.
        self.heeded = _heeded(self.effective)
        self.exclusive_flags = dialect.order <= 4  # noqa: PLR2004 - draft-04

    @cached_property
    def root(self) -> Node:
        """The root of the record."""
        return Node((), self._document.schema, self._document.base)

    def child(self, node: Node, *tokens: str) -> Node:
        """Return the schema that some tokens lead to from another.

        Raises:
            LookupError: nothing stands there.
        """
        value = node.schema
        for token in tokens:
            value = value[int(token)] if isinstance(value, list) else value[token]
        base = base_of(value, self.dialect, node.base)
        return Node(node.tokens + tokens, value, base)

    def children(self, node: Node) -> Iterator[Node]:
        """Yield the schemas directly inside a schema, in the order they stand."""
        for tokens, schema in children(node.schema, self.dialect):
            base = base_of(schema, self.dialect, node.base)
            yield Node(node.tokens + tokens, schema, base)

    def target(self, node: Node) -> Node | None:
        """Return where the `$ref` of a schema leads; None where that is not sure."""
        reference = node.schema["$ref"]
        if not isinstance(reference, str):
            return None
        key = (node.base, reference)
        if key not in self._targets:
            self._targets[key] = self._target(*key)
        return self._targets[key]

    def _target(self, base: str, reference: str) -> Node | None:
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
        return Node(location.tokens, location.schema, document.inside(location))

    @cached_property
    def _other_dialects(self) -> bool:
        """Whether a resource inside may be of another dialect."""
        if not self._resources_inside:
            return False
        inner = (tokens for tokens in self._document.scanned.marked if tokens)
        return any("$schema" in self._at(tokens) for tokens in inner)

    @cached_property
    def _resources_inside(self) -> bool:
        """Whether a place below the root may have a base URI of its own."""
        root, word = self._document.schema, self.dialect.id_keyword
        every = subschemas(root, self.dialect)
        # The whole scan costs more than this, and most records need none.
        if not any(word in each and each is not root for each in every):
            return False
        return bool(self._document.scanned.inner_resources)

    def _at(self, tokens: Tokens) -> UntypedJson:
        value = self._document.schema
        for token in tokens:
            value = value[int(token)] if isinstance(value, list) else value[token]
        return value

    @cached_property
    def tuples(self) -> str:
        """The keyword whose array holds the schemas of the first items."""
        return "prefixItems" if "prefixItems" in self.effective else "items"

    @cached_property
    def hides_siblings(self) -> bool:
        """Whether a `$ref` hides what stands beside it."""
        return self.dialect.order < DRAFT_2019_09.order

    def words(self, schema: dict[str, UntypedJson]) -> frozenset[str]:
        """Return the words of a schema that may make a difference."""
        if self.hides_siblings and "$ref" in schema:
            return frozenset({"$ref"})
        return self.heeded & schema.keys()

    def accepts_all(self, node: Node) -> bool:
        """Tell whether a schema surely accepts every value."""
        schema = node.schema
        if not isinstance(schema, dict):
            return schema is True
        return not (self.words(schema) - {self.dialect.id_keyword})


@lru_cache(maxsize=16)
def _heeded(effective: frozenset[str]) -> frozenset[str]:
    return (effective | _HEEDED) - _SILENT


def key(value: UntypedJson) -> Hashable:
    """Return what is equal for values that JSON Schema takes for equal, only."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return ("array", *map(key, value))
    if isinstance(value, dict):
        return ("object", frozenset((name, key(each)) for name, each in value.items()))
    rest: Hashable = value
    return rest


def matches(pattern: str, text: str) -> bool | None:
    """Tell whether a pattern is found in a text; None where engines may differ."""
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
