"""Can a schema come back to itself through its references?"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from curation.json.pointer import Tokens, tokens_of
from curation.schema.dialects import REFERENCE_KEYWORDS
from curation.schema.subschemas import subschema_locations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.schema.dialects import Dialect

_NAMING = ("$anchor", "$dynamicAnchor")
_LOOKED_AT = frozenset({*REFERENCE_KEYWORDS, *_NAMING, "$id", "id"})


def is_recursive(schema: UntypedJson, dialect: Dialect) -> bool:
    """Tell whether a local reference leads, by way of others, back above itself.

    References by pointer, anchor or the root's own identifier are followed;
    those to other documents are not, nor are bases of embedded identifiers.
    """
    referring, named = _survey(schema, dialect)
    own = schema.get("$id", schema.get("id")) if isinstance(schema, dict) else None
    leads: list[tuple[Tokens, Tokens]] = []
    for tokens, ref in referring:
        target = _target(ref, str(own or ""), named)
        if target is not None:
            leads.append((tokens, target))
    targets = {target for _, target in leads}
    follows: dict[Tokens, set[Tokens]] = {each: set() for each in targets}
    for tokens, target in leads:
        for length in range(len(tokens) + 1):
            if tokens[:length] in targets:
                follows[tokens[:length]].add(target)
    return _has_cycle(follows)


def _survey(
    schema: UntypedJson, dialect: Dialect
) -> tuple[list[tuple[Tokens, str]], dict[str, Tokens]]:
    """Return every reference, and every anchor, with where it stands."""
    referring: list[tuple[Tokens, str]] = []
    named: dict[str, Tokens] = {}
    for location in subschema_locations(schema, dialect):
        tokens, subschema = location.tokens, location.schema
        if not isinstance(subschema, dict) or _LOOKED_AT.isdisjoint(subschema):
            continue
        referring.extend(
            (tokens, subschema[keyword])
            for keyword in REFERENCE_KEYWORDS
            if isinstance(subschema.get(keyword), str)
        )
        for keyword in _NAMING:
            if isinstance(subschema.get(keyword), str):
                named.setdefault(subschema[keyword], tokens)
        plain = subschema.get(dialect.id_keyword)
        if isinstance(plain, str) and plain.startswith("#"):
            named.setdefault(plain[1:], tokens)
    return referring, named


def _target(ref: str, own: str, named: dict[str, Tokens]) -> Tokens | None:
    """Return where a reference leads in its own document, or None."""
    document, _, fragment = ref.partition("#")
    if document and document != own.partition("#")[0]:
        return None
    fragment = unquote(fragment)
    if fragment and not fragment.startswith("/"):
        return named.get(fragment)
    return tokens_of(fragment)


def _has_cycle(follows: dict[Tokens, set[Tokens]]) -> bool:
    done: set[Tokens] = set()
    for start, first in follows.items():
        path: list[tuple[Tokens, Iterator[Tokens]]] = [(start, iter(first))]
        open_now = {start}
        while path and start not in done:
            here, rest = path[-1]
            following = next(rest, None)
            if following is None:
                path.pop()
                open_now.discard(here)
                done.add(here)
            elif following in open_now:
                return True
            elif following not in done:
                open_now.add(following)
                path.append((following, iter(follows[following])))
    return False
