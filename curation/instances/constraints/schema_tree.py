"""A schema with its dialect: the locations in it, and where references lead.

Nothing here fetches: beyond the schema itself only the standard metaschemas are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curation.instances.constraints.keyword_values import item_keywords, object_of
from curation.instances.scalars.strings import StringConstraints, matches
from curation.json.pointer import member
from curation.references.library import standard_document
from curation.references.resolution import (
    SchemaDocument,
    base_of,
    follow_reference,
)
from curation.schema.subschemas import SchemaLocation

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect


class SchemaTree:
    """The locations of a schema; one object each, so that they compare by `is`.

    Example:
        >>> from curation.schema.dialects import DRAFT_07
        >>> schema = {"definitions": {"n": {"minimum": 0}}, "$ref": "#/definitions/n"}
        >>> tree = SchemaTree(schema, DRAFT_07)
        >>> tree.target(tree.root).pointer
        '/definitions/n'
    """

    def __init__(self, schema: UntypedJson, dialect: Dialect) -> None:
        """Take a schema whose numbers are ordinary floats (`curation.json.text`)."""
        self.schema = schema
        self.dialect = dialect
        self.document = SchemaDocument(schema=schema, dialect=dialect, uri="")
        self._documents: dict[str, SchemaDocument] = {"": self.document}
        #: By the URI of the document and the tokens in it.
        self._locations: dict[tuple[str, Tokens], SchemaLocation] = {}
        self._targets: dict[tuple[SchemaLocation, str], SchemaLocation | None] = {}
        #: Results of functions about the schema (`Memo`).
        self.memos: dict[object, Any] = {}
        #: By pattern and name, whether the one matches the other.
        self._matching: dict[tuple[str, str], bool] = {}
        self.root = self._intern("", (), schema, "")

    def _intern(
        self, document: str, tokens: Tokens, schema: Json, base: str
    ) -> SchemaLocation:
        key = (document, tokens)
        found = self._locations.get(key)
        if found is None:
            found = SchemaLocation(tokens, schema, base, document)
            self._locations[key] = found
        return found

    def location_at(self, tokens: Tokens) -> SchemaLocation:
        """Return the location that tokens from the root lead to.

        Raises:
            LookupError: nothing stands there.
        """
        return self.child(self.root, tokens)

    def child(self, location: SchemaLocation, tokens: Tokens) -> SchemaLocation:
        """Return the location that tokens from another one lead to.

        Raises:
            LookupError: nothing stands there.
        """
        found = self._locations.get((location.document, location.tokens + tokens))
        if found is not None:
            return found
        value, base = location.schema, location.base
        for token in tokens:
            base = base_of(value, self.dialect, base)
            value = member(value, token)
        return self._intern(location.document, location.tokens + tokens, value, base)

    def target(
        self, location: SchemaLocation, keyword: str = "$ref"
    ) -> SchemaLocation | None:
        """Return where the reference in a schema leads, or None if nowhere.

        Args:
            location: The schema object that holds the reference.
            keyword: The keyword that refers: `$ref`, `$dynamicRef`, `$recursiveRef`.
        """
        key = (location, keyword)
        if key not in self._targets:
            self._targets[key] = self.follow(location, location.schema.get(keyword))
        return self._targets[key]

    def follow(
        self, location: SchemaLocation, reference: Json
    ) -> SchemaLocation | None:
        """Return where a reference would lead if a schema held it, or None."""
        if not isinstance(reference, str):
            return None
        inside = base_of(location.schema, self.dialect, location.base)
        try:
            documents = [self._document(location.document)]
            found = follow_reference(reference, inside, documents, self._document)
        except (LookupError, ValueError):
            return None
        if found is None:
            return None
        document, target = found
        return self._intern(document.uri, target.tokens, target.schema, target.base)

    def property_locations(
        self, part: SchemaLocation, name: str
    ) -> list[SchemaLocation]:
        """Return the schemas that one schema object applies to a property.

        `additionalProperties` is one of them where nothing else is. What references,
        branches and `unevaluatedProperties` apply is not looked for.
        """
        schema = part.schema
        found: list[SchemaLocation] = []
        if name in object_of(schema, "properties"):
            found.append(self.child(part, ("properties", name)))
        found += [
            self.child(part, ("patternProperties", pattern))
            for pattern in object_of(schema, "patternProperties")
            if self._is_match(pattern, name)
        ]
        if not found and "additionalProperties" in schema:
            found.append(self.child(part, ("additionalProperties",)))
        return found

    def item_locations(self, part: SchemaLocation, index: int) -> list[SchemaLocation]:
        """Return the schemas that one schema object applies to an element."""
        schema = part.schema
        prefix, rest = item_keywords(schema, self.dialect)
        if prefix and index < len(schema[prefix]):
            return [self.child(part, (prefix, str(index)))]
        return [self.child(part, (rest,))] if rest else []

    def _is_match(self, pattern: str, name: str) -> bool:
        known = self._matching.get((pattern, name))
        if known is None:
            known = matches(StringConstraints(patterns=(pattern,)), name)
            self._matching[pattern, name] = known
        return known

    def _document(self, uri: str) -> SchemaDocument:
        """Return the schema's own document or a standard one.

        Raises:
            LookupError: there is no standard document of that URI.
        """
        found = self._documents.get(uri)
        if found is None:
            schema = standard_document(uri)
            if schema is None:
                raise LookupError(uri)
            found = SchemaDocument(schema=schema, dialect=self.dialect, uri=uri)
            self._documents[uri] = found
        return found
