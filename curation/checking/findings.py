"""Findings of the rules that a maintainer would mend: the rest a check leaves out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from curation.core.documents import ABSENT, Change, Document, Lint, Reason, Rejected
from curation.json.pointer import Tokens, at, tokens_of
from curation.lint.contradictions import FORMATS, UNKNOWN_FORMAT
from curation.lint.lint import NON_OBJECT_ROOT
from curation.rules.clean import empty, references, wrap
from curation.schema.roots import asks_nothing, looks_like_a_schema

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.references.schema import Schema

#: What a reference that leads nowhere is rejected for.
_LOST_REFERENCE = (Reason.REMOTE_REFERENCE, Reason.UNRESOLVED_REFERENCE)


def is_benchmark_matter(rule: str, schema: Json) -> bool:
    """Return whether a rule asks of a schema what only a benchmark needs.

    A library of definitions, an empty object and `type: object` are legal schemas.
    """
    return rule == wrap.name or (
        rule == empty.name and (schema == {} or looks_like_a_schema(schema))
    )


def is_the_authors(change: Change) -> bool:
    """Return whether an edit mends something that the author has written.

    To bundle a reference, or to spell it otherwise, is no fault.
    """
    return change.rule != references.name


def own_places(document: Document) -> Callable[[str], bool]:
    """Return whether a pointer leads to what the file itself holds.

    The rest was brought in from other files, which have their own report.
    """
    brought_in = tuple(
        f"{change.pointer}/"
        for change in document.changes
        if change.rule == references.name and change.before == ABSENT
    )
    return lambda pointer: not f"{pointer}/".startswith(brought_in)


def is_named_already(new: Rejected, earlier: Iterable[Rejected]) -> bool:
    """Return whether it is the lost reference that an earlier rule has named."""
    return new.reason is Reason.UNRESOLVED_REFERENCE and any(
        rejected.reason in _LOST_REFERENCE for rejected in earlier
    )


def to_mend(lints: Iterable[Lint], schema: Schema) -> Iterator[Lint]:
    """Yield the lints that are faults, one for each place.

    Left out are formats of other registries, such as `uint8`; siblings of a `$ref` that
    say what its target says; and `additionalItems` that lets everything through.
    """
    pointers: set[str] = set()
    for lint in lints:
        tokens = tokens_of(lint.pointer)
        if lint.pointer and lint.pointer in pointers:
            continue
        if lint.code == NON_OBJECT_ROOT and asks_nothing(schema.value):
            continue
        if tokens and _is_harmless(lint.code, tokens, schema):
            continue
        pointers.add(lint.pointer)
        yield lint


def _is_harmless(code: str, tokens: Tokens, schema: Schema) -> bool:
    value = at(schema.value, tokens)
    if code == UNKNOWN_FORMAT:
        return near_format(str(value)) is None
    if tokens[-1] == "additionalItems":
        return value is True or value == {}
    if code != "ref-siblings":
        return False
    target = schema.target(schema.location_at(tokens[:-1]))
    return target is not None and target.keywords.get(tokens[-1]) == value


def near_format(name: str) -> str | None:
    """Return the format that an unknown name is a slip of, or None.

    Example:
        >>> near_format("datetime"), near_format("Date_Time"), near_format("uint8")
        ('date-time', 'date-time', None)
    """
    plain = name.strip().lower().replace("_", "-")
    if plain in FORMATS:
        return plain
    near = difflib.get_close_matches(plain, sorted(FORMATS), n=1, cutoff=0.85)
    return near[0] if near else None
