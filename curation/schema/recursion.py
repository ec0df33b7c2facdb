"""Can a schema come back to itself through its references?"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from curation.json.pointer import Tokens, tokens_of
from curation.schema.subschemas import places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.schema.dialects import Dialect

#: Keywords whose value leads to another schema.
REFERRING = ("$ref", "$recursiveRef", "$dynamicRef")
_NAMING = ("$anchor", "$dynamicAnchor")
_LOOKED_AT = frozenset({*REFERRING, *_NAMING, "$id", "id"})


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
    """Return every reference with its place, and every anchor with its place."""
    referring: list[tuple[Tokens, str]] = []
    named: dict[str, Tokens] = {}
    for place in places(schema, dialect):
        if not isinstance(place.schema, dict) or _LOOKED_AT.isdisjoint(place.schema):
            continue
        referring.extend(
            (place.tokens, place.schema[word])
            for word in REFERRING
            if isinstance(place.schema.get(word), str)
        )
        for word in _NAMING:
            if isinstance(place.schema.get(word), str):
                named.setdefault(place.schema[word], place.tokens)
        plain = place.schema.get(dialect.id_keyword)
        if isinstance(plain, str) and plain.startswith("#"):
            named.setdefault(plain[1:], place.tokens)
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
