"""Of which types does a schema accept every value? Only what is certain counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.references.resolution import descend, follow_reference
from curation.schema.keywords import (
    TYPE_OF_KEYWORD,
    KeywordKind,
    names_of_kind,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.references.resolution import SchemaDocument
    from curation.schema.locations import SchemaLocation

#: The types of JSON values; integers are numbers.
ALL_TYPES: Final = frozenset({"array", "boolean", "null", "number", "object", "string"})
_NONE: Final = frozenset[str]()
#: Keywords that refuse nothing by themselves; `if` looks at its branches.
_PASSIVE: Final = names_of_kind(
    KeywordKind.IDENTIFIER, KeywordKind.ANCHOR, KeywordKind.DEFINITIONS
) | {"then", "else", "$ref"}


class AcceptedTypes:
    """What the schemas of one document accept whole; references are followed once.

    Example:
        >>> schema = {"anyOf": [{"required": ["a"]}, {"minLength": 1}]}
        >>> document = SchemaDocument(schema=schema, dialect=DRAFT_07, uri="")
        >>> AcceptedTypes(document).of(document.root) == ALL_TYPES
        True
    """

    def __init__(self, document: SchemaDocument) -> None:
        """Follow the references of a document inside it alone."""
        self._document = document
        self._dialect = document.dialect
        #: Base and reference to the answer; one that is still open counts as none.
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    def of(self, location: SchemaLocation) -> frozenset[str]:
        """Return the types of which a schema surely accepts every value.

        Raises:
            RecursionError: schemas nest too deeply.
        """
        schema: Json = location.schema
        if not isinstance(schema, dict):
            return ALL_TYPES if schema is True else _NONE
        accepted = ALL_TYPES
        if "$ref" in schema:
            accepted = self._target(location)
            if self._dialect.ref_hides_siblings:
                return accepted
        for keyword in (schema.keys() & self._dialect.effective) - _PASSIVE:
            if not accepted:
                break
            accepted &= self._of_keyword(keyword, location)
        return accepted

    def _of_keyword(self, keyword: str, location: SchemaLocation) -> frozenset[str]:
        schema = location.keywords
        value = schema[keyword]
        if keyword in TYPE_OF_KEYWORD:
            return ALL_TYPES - {TYPE_OF_KEYWORD[keyword]}
        if keyword == "type":
            return ALL_TYPES.intersection(_type_names(value))
        if keyword == "if":
            branches = [(name,) for name in ("then", "else") if name in schema]
            return ALL_TYPES.intersection(*self._all_of(location, branches))
        if keyword not in ("allOf", "anyOf", "oneOf") or not isinstance(value, list):
            return _NONE
        indices = [(keyword, str(index)) for index in range(len(value))]
        if keyword == "oneOf" and len(indices) != 1:
            return _NONE
        parts = self._all_of(location, indices)
        if keyword == "allOf":
            return ALL_TYPES.intersection(*parts)
        return _NONE.union(*parts)

    def _all_of(
        self, location: SchemaLocation, branches: Iterable[Tokens]
    ) -> list[frozenset[str]]:
        return [
            self.of(descend(location, tokens, self._dialect)) for tokens in branches
        ]

    def _target(self, location: SchemaLocation) -> frozenset[str]:
        """Return what the target of `$ref` accepts; nothing is sure of another one."""
        reference = location.keywords["$ref"]
        if not isinstance(reference, str):
            return _NONE
        base = self._document.inside(location)
        key = base, reference
        if key not in self._known:
            self._known[key] = _NONE
            try:
                found = follow_reference(reference, base, [self._document])
            except (LookupError, ValueError):
                return _NONE
            if found is not None:
                self._known[key] = self.of(found[1])
        return self._known[key]


def _type_names(value: Json) -> Iterable[str]:
    """Return the names that a `type` holds."""
    if isinstance(value, list):
        return [name for name in value if isinstance(name, str)]
    return [value] if isinstance(value, str) else ALL_TYPES
