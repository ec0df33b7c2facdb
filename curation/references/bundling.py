"""Bundling: the schemas that references lead to, brought into the record.

Only what is needed comes in: the schema that a reference leads to, and what that one
refers to in turn. Inside, identifiers and anchors are removed, since every reference
becomes a pointer from the record's root; nothing else changes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from curation.core.documents import ABSENT, Change
from curation.json.pointer import (
    Drop,
    Put,
    Tokens,
    at,
    change_at,
    fragment_of,
    rewritten,
)
from curation.schema.roots import unused

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.references.closure import Closure, ReachedSchema
    from curation.references.schema import ResolvedReference

#: Keywords of a schema that tie it to its place.
MARKS = ("$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "$vocabulary")
_UNREADABLE = re.compile(r"[^\w.-]+")
_SUFFIX = re.compile(r"(?:[._-]schema)?\.json$|\.schema$")
#: Last segments of a path that do not name what it is about.
_UNTELLING = re.compile(r"v?[\d._-]+|schema|jsonschema|draft")


class Bundle:
    """One record, made to stand alone.

    Attributes:
        schema: The record with what it needs of other documents.
        changes: The edits, in the name of the rule.
    """

    def __init__(self, closure: Closure, rule: str) -> None:
        """Bundle a record.

        Args:
            closure: Everything that the record refers to.
            rule: Name of the rule that the changes are recorded under.
        """
        self._closure = closure
        self._rule = rule
        self._record = closure.record
        self._keyword = self._record.dialect.definitions_keyword
        self._parts = _outermost(closure.outside_schemas())
        #: The schemas reached at and below each part.
        self._inside: dict[tuple[int, Tokens], list[ReachedSchema]] = defaultdict(list)
        keys = {part.key for part in self._parts}
        for reached in closure.outside_schemas():
            tokens = reached.location.tokens
            for length in range(len(tokens) + 1):
                key = id(reached.document), tokens[:length]
                if key in keys:
                    self._inside[key].append(reached)
        self._names = self._chosen_names()
        self.changes: list[Change] = []
        self.schema: Json = self._bundled()

    def _bundled(self) -> Json:
        schema = rewritten(self._record.value, self._own_edits())
        if not self._parts or not isinstance(schema, dict):
            return schema
        definitions = dict(self._definitions(schema))
        for part in self._parts:
            name = self._names[part.key]
            definitions[name] = added = self._part(part)
            fragment = fragment_of(part.location.tokens).removesuffix("#")
            self._change(
                (self._keyword, name),
                ABSENT,
                added,
                f"from {part.document.uri}{fragment}",
            )
        return {**schema, self._keyword: definitions}

    def _definitions(self, schema: Json) -> Mapping[str, Json]:
        members = schema.get(self._keyword) if isinstance(schema, dict) else None
        return members if isinstance(members, dict) else {}

    def _change(
        self, tokens: Tokens, before: Json, after: Json, note: str = ""
    ) -> None:
        self.changes.append(change_at(self._rule, tokens, before, after, note))

    def _chosen_names(self) -> Mapping[tuple[int, Tokens], str]:
        used = set(self._definitions(self._record.value))
        names: dict[tuple[int, Tokens], str] = {}
        for part in self._parts:
            short, longer = _candidates(part)
            name = unused(longer if short in used else short, used)
            used.add(name)
            names[part.key] = name
        return names

    def _new_tokens(self, resolved: ResolvedReference) -> Tokens:
        """Return where the target of a reference stands in the record to be made."""
        tokens = resolved.location.tokens
        if resolved.document is self._record:
            return tokens
        for length in range(len(tokens) + 1):
            name = self._names.get((id(resolved.document), tokens[:length]))
            if name is not None:
                return (self._keyword, name, *tokens[length:])
        raise LookupError(tokens)

    def _own_edits(self) -> dict[Tokens, Put | Drop]:
        """Return the edits of the record's own references.

        A mere fragment stays. If another reference stands inside a resource of its
        own, no pointer from there reaches the root: then all inner identifiers go, and
        every reference becomes a pointer.
        """
        references = [
            resolved
            for reached in self._closure.own_schemas()
            for resolved in reached.references
        ]
        local = [resolved.reference.text.startswith("#") for resolved in references]
        flatten = any(
            not is_fragment and resolved.reference.base != self._record.base
            for resolved, is_fragment in zip(references, local, strict=True)
        )
        edits: dict[Tokens, Put | Drop] = {}
        for resolved, is_fragment in zip(references, local, strict=True):
            if is_fragment and not flatten:
                continue
            reference = resolved.reference
            tokens = (*reference.tokens, reference.keyword)
            value = fragment_of(self._new_tokens(resolved))
            if value != reference.value:
                edits[tokens] = Put(value)
                self._change(tokens, reference.value, value)
        if flatten:
            for resource in self._record.inner_resources:
                tokens = (*resource, self._record.dialect.id_keyword)
                edits[tokens] = Drop()
                gone = at(self._record.value, tokens)
                self._change(tokens, gone, ABSENT, "pointers start at the root")
        return edits

    def _part(self, part: ReachedSchema) -> Json:
        skip = len(part.location.tokens)
        keywords = {*MARKS, part.document.dialect.id_keyword}
        edits: dict[Tokens, Put | Drop] = {}
        for reached in self._inside[part.key]:
            for location in reached.walk:
                for keyword in keywords & location.keywords.keys():
                    edits[(*location.tokens[skip:], keyword)] = Drop()
            for resolved in reached.references:
                reference = resolved.reference
                tokens = (*reference.tokens[skip:], reference.keyword)
                value = fragment_of(self._new_tokens(resolved))
                edits[tokens] = Put(value, "$ref")
        return rewritten(part.location.schema, edits)


def _outermost(schemas: Iterable[ReachedSchema]) -> list[ReachedSchema]:
    keys = {reached.key for reached in schemas}
    return [
        reached
        for reached in schemas
        if not any(
            (id(reached.document), reached.location.tokens[:length]) in keys
            for length in range(len(reached.location.tokens))
        )
    ]


def _candidates(reached: ReachedSchema) -> tuple[str, str]:
    split = urlsplit(reached.document.uri)
    path = [unquote(part) for part in split.path.split("/") if part]
    path = path or [split.netloc or "document"]
    path[-1] = _SUFFIX.sub("", path[-1]) or path[-1]
    start = len(path) - 1
    while start > 0 and _UNTELLING.fullmatch(path[start]):
        start -= 1
    stem = _readable(".".join(part for part in path[start:] if part != "jsonschema"))
    folder = _readable(".".join(path[max(start - 1, 0) : start]))
    tokens = reached.location.tokens
    if not tokens:
        return stem, f"{folder}.{stem}" if folder else stem
    named = len(tokens) % 2 == 0 and tokens[-2] in (
        "definitions",
        "$defs",
        "properties",
    )
    short = _readable(tokens[-1] if named else ".".join(tokens))
    return short, f"{stem}.{short}"


def _readable(name: str) -> str:
    return _UNREADABLE.sub("_", name) or "_"
