"""Bundling by identifier: whole documents, with every reference as it is written.

A `$dynamicRef` or `$recursiveRef` looks for its target in the resources that an
evaluation has entered, so that no pointer can take its place. Source: JSON Schema core
2020-12, sections 8.2.3.2 and 9.3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import ABSENT
from curation.json.pointer import Drop, Put, Tokens, at, rewritten
from curation.references.bundling import Bundle
from curation.schema.dialects import declared
from curation.schema.subschemas import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.references.closure import Closure, ReachedSchema
    from curation.references.schema import ResolvedReference, Schema


def bundle_of(closure: Closure, rule: str) -> Bundle:
    """Return a record made to stand alone, by identifiers where a scope counts.

    Args:
        closure: Everything that the record refers to.
        rule: Name of the rule that the changes are recorded under.
    """
    return (EmbeddedBundle if closure.is_dynamic else Bundle)(closure, rule)


class EmbeddedBundle(Bundle):
    """A record that holds other documents as resources of their own."""

    def _bundled(self) -> Json:
        schema, base = super()._bundled(), self._record.base
        if not self._parts or not isinstance(schema, dict) or not base:
            return schema
        named = _identified(schema, self._record)
        if named is not schema:
            keyword = self._record.dialect.id_keyword
            before = schema.get(keyword, ABSENT)
            self._change((keyword,), before, base, "a scope has named resources")
        return named

    def _own_edits(self) -> dict[Tokens, Put | Drop]:
        edits = dict(self._edits(self._record))
        for tokens, edit in edits.items():
            self._change(tokens, at(self._record.value, tokens), edit.value)
        return {**edits}

    def _part(self, part: ReachedSchema) -> Json:
        document = part.document
        edits: dict[Tokens, Put | Drop] = {**dict(self._edits(document))}
        for location in document.walk:
            if declared(location.keywords.get("$schema")) is not document.dialect:
                edits[*location.tokens, "$schema"] = Drop()
        value = rewritten(document.value, edits)
        return _identified(
            value if isinstance(value, dict) else {"allOf": [value]}, document
        )

    def _edits(self, document: Schema) -> Iterator[tuple[Tokens, Put]]:
        """Yield the new values of references that use another URI of their target."""
        for reached in self._closure.schemas():
            if reached.document is not document:
                continue
            for resolved in reached.references:
                reference = resolved.reference
                value = _addressed(resolved)
                if value != reference.text:
                    yield (*reference.tokens, reference.keyword), Put(value)


def _addressed(resolved: ResolvedReference) -> str:
    """Return a reference that leads to its target by an identifier."""
    uri, fragment = join(resolved.reference.base, resolved.reference.text)
    target = resolved.document
    if uri == target.base or uri in target.resources:
        return resolved.reference.text
    return f"{target.base}#{fragment}" if fragment else target.base


def _identified(schema: dict[str, Json], document: Schema) -> dict[str, Json]:
    """Return a document's schema with an absolute identifier."""
    keyword = document.dialect.id_keyword
    own = schema.get(keyword)
    if isinstance(own, str) and join("", own)[0] == document.base:
        return schema
    named: dict[str, Json] = {keyword: document.base}
    return schema | named if keyword in schema else named | schema
