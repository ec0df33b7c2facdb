"""Bundling: the schemas that references lead to, brought into the record.

Only needed parts come in: the schema that a reference leads to, and what that one
refers to in turn. Inside, identifiers and anchors are removed, since every reference
becomes a pointer from the record's root; nothing else changes.

A `$dynamicRef` or `$recursiveRef` looks for its target in the resources that an
evaluation has entered, so that no pointer can take its place: then whole documents come
in and keep their identifiers. Source: JSON Schema core 2020-12, sections 8.2.3.2 and
9.3.1.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote, urlsplit

from curation.core.documents import ABSENT, Change
from curation.core.json_types import Json
from curation.json.pointer import (
    Drop,
    Put,
    Tokens,
    at,
    change_at,
    rewritten,
    to_fragment,
)
from curation.references.closure import Closure, ReachedSchema
from curation.references.schema import ResolvedReference, Schema
from curation.schema.dialects import declared
from curation.schema.roots import unused
from curation.schema.subschemas import join

#: From the key of each schema that comes in to its name among the definitions.
_Names = Mapping[tuple[int, Tokens], str]

#: Keywords of a schema that tie it to its place.
_MARKS = ("$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "$vocabulary")
_UNREADABLE = re.compile(r"[^\w.-]+")
_SUFFIX = re.compile(r"(?:[._-]schema)?\.json$|\.schema$")
#: Last segments of a path that do not name its subject.
_UNTELLING = re.compile(r"v?[\d._-]+|schema|jsonschema|draft")


def bundle_record(closure: Closure, rule: str) -> tuple[Json, list[Change]]:
    """Return a record with the schemas it needs of other documents, and the changes.

    Args:
        closure: Everything that the record refers to.
        rule: Name of the rule that the changes are recorded under.
    """
    record = closure.record
    holder = record.dialect.definitions_keyword
    outside = closure.outside_schemas()
    keys = {reached.key for reached in outside}
    parts = [each for each in outside if keys.isdisjoint(_around(each.key))]
    names = _chosen_names(parts, {*_members(record.value, holder)})
    inside: dict[tuple[int, Tokens], list[ReachedSchema]] = defaultdict(list)
    for reached in outside:
        for key in names.keys() & {reached.key, *_around(reached.key)}:
            inside[key].append(reached)
    edits: dict[Tokens, Put | Drop] = (
        {**dict(_addresses(closure, record))}
        if closure.is_dynamic
        else _pointers(closure, names)
    )
    changes: list[Change] = []
    for tokens, edit in edits.items():
        after: Json = ABSENT
        note = "pointers start at the root"
        if isinstance(edit, Put):
            after, note = edit.value, ""
        changes.append(change_at(rule, tokens, at(record.value, tokens), after, note))
    schema = rewritten(record.value, edits)
    if not parts or not isinstance(schema, dict):
        return schema, changes
    definitions = {**_members(schema, holder)}
    for part in parts:
        name = names[part.key]
        definitions[name] = added = (
            _whole_document(closure, part.document)
            if closure.is_dynamic
            else _part(part, inside[part.key], names, holder)
        )
        anchor = to_fragment(part.location.tokens).removesuffix("#")
        note = f"from {part.document.uri}{anchor}"
        changes.append(change_at(rule, (holder, name), ABSENT, added, note))
    schema = {**schema, holder: definitions}
    if closure.is_dynamic and record.base:
        keyword, named = record.dialect.id_keyword, _identified(schema, record)
        if named is not schema:
            before, note = schema.get(keyword, ABSENT), "a scope has named resources"
            changes.append(change_at(rule, (keyword,), before, record.base, note))
        schema = named
    return schema, changes


def _around(key: tuple[int, Tokens]) -> Iterator[tuple[int, Tokens]]:
    """Yield the keys of all that holds a schema in its document, outermost first."""
    document, tokens = key
    return ((document, tokens[:length]) for length in range(len(tokens)))


def _members(schema: Json, holder: str) -> dict[str, Json]:
    members = schema.get(holder) if isinstance(schema, dict) else None
    return members if isinstance(members, dict) else {}


def _chosen_names(parts: Sequence[ReachedSchema], used: set[str]) -> _Names:
    names: dict[tuple[int, Tokens], str] = {}
    for part in parts:
        split = urlsplit(part.document.uri)
        path = [unquote(segment) for segment in split.path.split("/") if segment]
        path = path or [split.netloc or "document"]
        path[-1] = _SUFFIX.sub("", path[-1]) or path[-1]
        start = len(path) - 1
        while start > 0 and _UNTELLING.fullmatch(path[start]):
            start -= 1
        readable = ".".join(
            segment for segment in path[start:] if segment != "jsonschema"
        )
        short = stem = _readable(readable)
        folder = _readable(".".join(path[max(start - 1, 0) : start]))
        longer = f"{folder}.{stem}" if folder else stem
        tokens = part.location.tokens
        if tokens:
            named = len(tokens) % 2 == 0 and tokens[-2] in (
                "definitions",
                "$defs",
                "properties",
            )
            short = _readable(tokens[-1] if named else ".".join(tokens))
            longer = f"{stem}.{short}"
        names[part.key] = name = unused(longer if short in used else short, used)
        used.add(name)
    return names


def _readable(name: str) -> str:
    return _UNREADABLE.sub("_", name) or "_"


def _pointer(resolved: ResolvedReference, names: _Names, holder: str) -> str:
    """Return the reference to its target in the record to be made."""
    tokens = resolved.location.tokens
    key = id(resolved.document), tokens
    for around in (*_around(key), key):
        if around in names:
            tokens = (holder, names[around], *tokens[len(around[1]) :])
            break
    return to_fragment(tokens)


def _pointers(closure: Closure, names: _Names) -> dict[Tokens, Put | Drop]:
    """Return the edits of the record's own references.

    A mere fragment stays. If another reference is inside a resource of its
    own, no pointer from there reaches the root: then all inner identifiers go, and
    every reference becomes a pointer.
    """
    record = closure.record
    references = [
        resolved for reached in closure.own_schemas() for resolved in reached.references
    ]
    leaving = [
        resolved
        for resolved in references
        if not resolved.reference.text.startswith("#")
    ]
    flatten = any(resolved.reference.base != record.base for resolved in leaving)
    edits: dict[Tokens, Put | Drop] = {}
    for resolved in references if flatten else leaving:
        reference = resolved.reference
        value = _pointer(resolved, names, record.dialect.definitions_keyword)
        if value != reference.value:
            edits[(*reference.tokens, reference.keyword)] = Put(value)
    if flatten:
        for resource in record.inner_resources:
            edits[(*resource, record.dialect.id_keyword)] = Drop()
    return edits


def _part(
    part: ReachedSchema, inside: Sequence[ReachedSchema], names: _Names, holder: str
) -> Json:
    skip = len(part.location.tokens)
    keywords = {*_MARKS, part.document.dialect.id_keyword}
    edits: dict[Tokens, Put | Drop] = {}
    for reached in inside:
        for location in reached.walk:
            for keyword in keywords & location.keywords.keys():
                edits[(*location.tokens[skip:], keyword)] = Drop()
        for resolved in reached.references:
            reference = resolved.reference
            tokens = (*reference.tokens[skip:], reference.keyword)
            edits[tokens] = Put(_pointer(resolved, names, holder), "$ref")
    return rewritten(part.location.schema, edits)


def _whole_document(closure: Closure, document: Schema) -> Json:
    edits: dict[Tokens, Put | Drop] = {**dict(_addresses(closure, document))}
    for location in document.walk:
        if declared(location.keywords.get("$schema")) is not document.dialect:
            edits[*location.tokens, "$schema"] = Drop()
    value = rewritten(document.value, edits)
    return _identified(
        value if isinstance(value, dict) else {"allOf": [value]}, document
    )


def _addresses(closure: Closure, document: Schema) -> Iterator[tuple[Tokens, Put]]:
    """Yield the references of a document that use another URI of their target."""
    for reached in closure.schemas():
        for resolved in reached.references if reached.document is document else ():
            reference, target = resolved.reference, resolved.document
            uri, fragment = join(reference.base, reference.text)
            if uri != target.base and uri not in target.resources:
                value = f"{target.base}#{fragment}" if fragment else target.base
                yield (*reference.tokens, reference.keyword), Put(value)


def _identified(schema: dict[str, Json], document: Schema) -> dict[str, Json]:
    """Return a document's schema with an absolute identifier."""
    keyword = document.dialect.id_keyword
    identifier = schema.get(keyword)
    if isinstance(identifier, str) and join("", identifier)[0] == document.base:
        return schema
    named: dict[str, Json] = {keyword: document.base}
    return schema | named if keyword in schema else named | schema
