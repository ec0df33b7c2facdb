"""Let every reference lead somewhere inside the record itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import unquote

from curation.core.rule import ABSENT, Change, Context, Document, Reason, Rejected, Rule
from curation.json.pointer import (
    Drop,
    Put,
    Tokens,
    at,
    change_at,
    pointer,
    rewritten,
    tokens_of,
)
from curation.json.values import canonical_of_part, objects
from curation.json.values import tokens as tokens_of_trail
from curation.references.closure import Closure, closure_of
from curation.references.embedding import bundle_of
from curation.references.loops import disputed, endless
from curation.references.reachable import taking_part
from curation.references.schema import Reference, join, legal, schema_of
from curation.rules.clean.wrap import NAME as WRAP
from curation.schema.dialects import BY_NAME, Dialect
from curation.schema.subschemas import subschemas
from curation.validation.metaschemas import complaint
from curation.workers.limits import Limits, too_many

NAME = "references"
#: Why a reference is written otherwise that leads inside the record already.
_SAME_PLACE = "it leads to the same place"
_UNREAD = "it leads out of the record, and no keyword leads to it"
#: A reference that is no mere fragment, in canonical text.
_NO_FRAGMENT = re.compile(rb'"\$ref":"(?!#)')
#: Keywords whose values are instances.
_INSTANCES = frozenset({"enum", "const", "default", "examples", "example"})
#: Tokens of a reference that the wrap adds: `/properties/NAME/$ref`.
_ADDED = 3
_LIMITS = Limits()


def _apply(document: Document, context: Context) -> Document | Rejected:
    dialect = BY_NAME[_name(document)]
    refers = any(
        keyword in subschema
        for subschema in subschemas(document.schema, dialect)
        for keyword in dialect.reference_keywords
    )
    if not refers and not _may_lead_out(document):
        return document
    closure = closure_of(schema_of(document.schema, dialect))
    if isinstance(closure, Rejected) and closure.reason is not Reason.REMOTE_REFERENCE:
        return _of_the_author(closure, document)
    if isinstance(closure, Rejected) or _leaves(closure):
        bundled = _bundled(document, dialect, context)
        if isinstance(bundled, Rejected):
            return bundled
        document = bundled
        closure = closure_of(schema_of(document.schema, dialect))
        if isinstance(closure, Rejected):
            return closure
    loop = endless(closure)
    if loop is not None:
        where = pointer(loop)
        detail = f"{where or '(root)'}: the reference leads back to itself without end"
        return Rejected(
            reason=Reason.UNRESOLVED_REFERENCE, detail=detail, pointer=where
        )
    elsewhere = disputed(closure)
    if elsewhere is not None:
        where = pointer(elsewhere)
        detail = f"{where or '(root)'}: jsonschema does not find what it refers to"
        lost = Rejected(
            reason=Reason.UNRESOLVED_REFERENCE, detail=detail, pointer=where
        )
        return _of_the_author(lost, document)
    return _written(document, closure)


def _of_the_author(lost: Rejected, document: Document) -> Rejected:
    """Say of a reference that `wrap-library` has added that the file has none there.

    What is wrong is then the definition, which the author has written: no schema can
    be made of it.
    """
    wrapped = any(
        change.rule == WRAP and change.pointer == "/properties"
        for change in document.changes
    )
    tokens = tokens_of(lost.pointer)
    if not wrapped or len(tokens) != _ADDED or tokens[0] != "properties":
        return lost
    target = unquote(document.schema["properties"][tokens[1]]["$ref"][1:])
    why = complaint(at(document.schema, tokens_of(target)), BY_NAME[_name(document)])
    detail = f"{target}: taken for a definition by `{WRAP}`, but no schema: {why}"
    return replace(lost, reason=Reason.INVALID_SCHEMA, detail=detail, pointer=target)


def _name(document: Document) -> str:
    return document.dialect or "2020-12"


def _leaves(closure: Closure) -> bool:
    return bool(closure.outside_schemas()) or any(
        not _local(resolved.reference).startswith("#")
        for reached in closure.own_schemas()
        for resolved in reached.references
        if resolved.reference.value
    )


def _bundled(
    document: Document, dialect: Dialect, context: Context
) -> Document | Rejected:
    read = schema_of(document.schema, dialect, document.base_uri or "")
    closure = closure_of(read, context.library)
    if isinstance(closure, Rejected):
        return closure
    bundle = bundle_of(closure, NAME)
    refused = too_many(bundle.schema, _LIMITS)
    if refused is not None:
        return refused
    wrong = complaint(bundle.schema, dialect)
    if wrong is not None:
        detail = f"what is referred to is no valid {dialect.name} schema: {wrong}"
        return Rejected(reason=Reason.INVALID_SCHEMA, detail=detail)
    return document.changed(bundle.schema, bundle.changes)


def _local(reference: Reference) -> str:
    """Return a reference to its own document as the mere fragment that it means.

    RFC 3986, section 4.4: what is equal to the base URI but for its fragment
    refers to the same document.
    """
    uri, fragment = join(reference.base, reference.text)
    same = bool(reference.base) and uri == reference.base
    return f"#{fragment}" if same else reference.text


def _written(document: Document, closure: Closure) -> Document:
    """Write each reference as short as it can be, without stray characters."""
    edits: dict[Tokens, Put | Drop] = {}
    changes: list[Change] = []
    for reached in closure.own_schemas():
        for resolved in reached.references:
            reference = resolved.reference
            before, after = reference.text, legal(_local(reference))
            if after != before:
                tokens = (*reference.tokens, reference.keyword)
                edits[tokens] = Put(after)
                changes.append(change_at(NAME, tokens, before, after, _SAME_PLACE))
    for tokens, text in _unread(document, closure):
        edits[tokens] = Drop()
        changes.append(change_at(NAME, tokens, text, ABSENT, _UNREAD))
    if not edits:
        return document
    return document.changed(rewritten(document.schema, edits), changes)


def _may_lead_out(document: Document) -> bool:
    text = canonical_of_part(document.schema, document.schema)
    return _NO_FRAGMENT.search(text) is not None


def _unread(document: Document, closure: Closure) -> Iterator[tuple[Tokens, str]]:
    """Yield every `$ref` out of the record that stands in no schema and no instance."""
    schema, record = document.schema, closure.record
    if not _may_lead_out(document):
        return
    schemas = {tokens for tokens, _ in taking_part(schema, record.dialect)}
    for trail, members in objects(schema):
        text = members.get("$ref")
        if not isinstance(text, str) or text.startswith("#"):
            continue
        tokens = tokens_of_trail(trail)
        holder = next(
            length
            for length in range(len(tokens), -1, -1)
            if tokens[:length] in schemas
        )
        if tokens[holder:] and tokens[holder] not in _INSTANCES:
            yield (*tokens, "$ref"), text


RULE = Rule(
    name=NAME,
    summary="Every reference resolves inside the record, under its own dialect: "
    "what stands in other documents of the source or in a metaschema is brought in; "
    "what leads nowhere, out of the source or round in a circle ends the record. "
    "Where a reference looks at its scope (`$dynamicRef`, `$recursiveRef`), documents "
    "come in whole and keep their identifiers. A `$ref` out of the record that no "
    "keyword leads to is dropped.",
    source="JSON Schema core, sections on `$ref` and `$id` of each draft; RFC 3986, "
    "RFC 6901",
    apply=_apply,
    reasons=(
        Reason.UNRESOLVED_REFERENCE,
        Reason.REMOTE_REFERENCE,
        Reason.INVALID_SCHEMA,
        Reason.TOO_LARGE,
    ),
)
