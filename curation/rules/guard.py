"""Edits of a document's schema, and the guard that admits each mechanical one.

A mechanical repair guesses the author's intention, so that three things are asked of
every edit of a subschema:

- each replaced or removed value is at or above a location of which the metaschema
  complains;
- what it adds elsewhere in the subschema says only what it removed there: no value is
  new, and no value is lost;
- what it leaves accepts something, and so does every schema around it (rule
  `repaired-sites`, once all repairs are made).

The edits of rule `patches` are hand-checked one by one instead. What supports a repair
of single records are in `raw/lists/repairs.tsv`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from curation.core.documents import RepairEvidence
from curation.core.rule import (
    ABSENT,
    Context,
    Document,
    Json,
    Origin,
    RepairKind,
    Rule,
    rule,
)
from curation.json.pointer import Tokens, at, change_at
from curation.json.text import nested_values, write
from curation.schema.dialects import ANY_DIALECT
from curation.schema.subschemas import edited
from curation.system.user_files import list_rows, raw_folder
from curation.validation.dialect_decision import refusing
from curation.validation.metaschemas import complaints

#: Refused places of a subschema, with the value that the author wrote at each.
Refused = Mapping[Tokens, Json]
#: From a subschema to its repair; the same object if nothing changes.
Mend = Callable[[dict[str, Json], Refused], dict[str, Json]]


def with_schema(
    document: Document, rule_name: str, schema: Json, *, note: str
) -> Document:
    """Return the document with another schema, and a change for every difference."""
    if schema is document.schema:
        return document
    return document.changed(
        schema,
        [
            change_at(rule_name, tokens, before, after, note)
            for tokens, before, after in differences((), document.schema, schema)
        ],
    )


def differences(
    tokens: Tokens, before: Json, after: Json
) -> Iterator[tuple[Tokens, Json, Json]]:
    """Yield where two values differ, as deep inside as possible, and both values.

    A value is `ABSENT` if none exists on its side.
    """
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name, member in before.items():
            if name in after:
                yield from differences((*tokens, name), member, after[name])
            else:
                yield (*tokens, name), member, ABSENT
        for name, member in after.items():
            if name not in before:
                yield (*tokens, name), ABSENT, member
    elif (
        isinstance(before, list)
        and isinstance(after, list)
        and len(before) == len(after)
    ):
        for index, (item, counterpart) in enumerate(zip(before, after, strict=True)):
            yield from differences((*tokens, str(index)), item, counterpart)
    else:
        yield tokens, before, after


def mechanical(
    name: str, *, summary: str, source: str, note: str
) -> Callable[[Mend], Rule]:
    """Make a rule, for schemas that their draft refuses, from a repair of subschemas.

    The function is called with each subschema that holds a refused place, inner ones
    first.

    Args:
        name: As for a `Rule`.
        summary: As for a `Rule`.
        source: As for a `Rule`.
        note: Why, for the ledger.
    """

    def of(mend: Mend) -> Rule:
        @rule(name, summary=summary, source=source, repair=RepairKind.MECHANICAL)
        def apply(document: Document, _context: Context) -> Document:
            dialect = refusing(document.schema)
            if dialect is None:
                return document
            below: dict[Tokens, dict[Tokens, Json]] = {}
            for path in complaints(document.schema, dialect):
                value = at(document.schema, path)
                for length in range(len(path) + 1):
                    below.setdefault(path[:length], {})[path[length:]] = value

            def edit(tokens: Tokens, schema: Json) -> Json:
                inside = below.get(tokens)
                if inside is None or not isinstance(schema, dict):
                    return schema
                after = mend(schema, inside)
                return after if admits(schema, after, inside) else schema

            repaired = edited(document.schema, ANY_DIALECT, edit)
            return with_schema(document, name, repaired, note=note)

        return apply

    return of


def admits(before: Json, after: Json, refused: Collection[Tokens]) -> bool:
    """Return whether an edit changes refused locations alone, and adds no value.

    Args:
        before: A subschema.
        after: Its replacement.
        refused: Places of which the metaschema complains, relative to the subschema.
    """
    written = {write(token) for path in refused for token in path}
    reaching = {path[:length] for path in refused for length in range(len(path) + 1)}
    beside: list[tuple[Json, Json]] = []
    for tokens, old, new in differences((), before, after):
        if tokens in reaching:
            written.update(_values(old))
        else:
            beside.append((old, new))
    return all(
        new is not ABSENT
        and set(_values(old)) <= set(_values(new)) <= written.union(_values(old))
        for old, new in beside
    )


def _values(value: Json) -> Iterator[str]:
    """Yield the values inside a value that are not containers, as JSON texts."""
    for inner in nested_values(value):
        if inner is not ABSENT and not isinstance(inner, dict | list):
            yield write(inner)


#: The config of the documents that the list speaks of.
_CONFIG = "Github"


class RepairSupport(NamedTuple):
    """What supports one rule's repair of one record."""

    evidence: RepairEvidence
    #: How the published text differs; empty if it does not.
    difference: str


@cache
def supports() -> Mapping[tuple[str, str], RepairSupport]:
    """Return what supports the repairs of GitHub's records, by id and rule."""
    rows = list_rows(raw_folder() / "lists" / "repairs.tsv")
    return MappingProxyType(
        {
            (unique_id, rule): RepairSupport(RepairEvidence(evidence), difference)
            for unique_id, rule, evidence, difference in rows
        }
    )


def evidence_counts(rule: str) -> dict[RepairEvidence, int]:
    """Return how many of GitHub's records a rule repairs by each kind of evidence."""
    kinds = [
        support.evidence for (_, name), support in supports().items() if name == rule
    ]
    return {kind: kinds.count(kind) for kind in RepairEvidence if kind in kinds}


def with_evidence(before: Document, after: Document, rule: str) -> Document:
    """Return a document whose latest changes have their evidence.

    Args:
        before: The document that a mechanical repair was given.
        after: What it returned.
        rule: The repair's name.
    """
    support = RepairSupport(RepairEvidence.REASONING, "")
    if before.config == _CONFIG and before.provenance.origin is Origin.UPSTREAM:
        support = supports().get((before.unique_id, rule), support)
    changes = after.changes[len(before.changes) :]
    supported = tuple(
        replace(
            change,
            note="; ".join(filter(None, (change.note, support.difference))),
            evidence=support.evidence.value,
        )
        for change in changes
    )
    return replace(
        after, changes=(*before.changes, *supported), repaired=(*after.repaired, rule)
    )
