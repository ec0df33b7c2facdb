"""Dialects: the drafts of JSON Schema as data, read off the table of keywords.

The benchmark has five, draft-04 to 2020-12; draft-03 is known only so that it can be
upgraded. Sources: the core and validation specifications of each draft at
json-schema.org/specification.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from curation.schema.keywords import KEYWORDS, Keyword, KeywordKind, Shape


class Dialect(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One draft of JSON Schema, as data; each draft is one object, equal to itself."""

    name: str
    #: The value of `$schema` that declares it.
    uri: str
    #: Position in time: a larger number is a newer draft.
    order: int
    #: Keyword to the shape of its subschemas.
    applicators: Mapping[str, Shape]
    #: Keywords that assert something of the instance, applicators aside.
    assertions: frozenset[str]
    #: Identifiers and references.
    core: frozenset[str]
    #: Those of `core` that give a schema a plain name; up to draft-07 an identifier
    #: that is a mere fragment does.
    anchor_keywords: tuple[str, ...]
    #: Those of `core` that refer to another schema.
    reference_keywords: tuple[str, ...]
    #: `id` in draft-04, `$id` later.
    id_keyword: str
    #: Where bundled definitions belong.
    definitions_keyword: str
    #: Up to draft-07 a `$ref` hides its siblings (draft-07 core, section 8.3).
    ref_hides_siblings: bool
    #: Keywords that do something here, annotations and `format` aside.
    effective: frozenset[str]
    #: Keywords by which a schema applies others, or holds them: a schema with none of
    #: them is a leaf.
    applying: frozenset[str]


_CORE = (KeywordKind.IDENTIFIER, KeywordKind.ANCHOR, KeywordKind.REFERENCE)


def _names(rows: Iterable[Keyword], *kinds: KeywordKind) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.name for row in rows if row.kind in kinds))


def _dialect(name: str, uri: str, order: int) -> Dialect:
    """Return a dialect of the keywords that the draft of its name knows.

    Since 2019-09 definitions belong into `$defs` and a `$ref` has siblings.
    """
    rows = [row for row in KEYWORDS if not name or row.is_known_in(name)]
    names = {row.name for row in rows}
    has_defs = bool(name) and "$defs" in names
    applicators: dict[str, Shape] = {}
    for row in rows:
        # Where the drafts differ in a keyword's shape, the wider one is used.
        if row.shape and applicators.get(row.name) is not Shape.EITHER:
            applicators[row.name] = row.shape
    assertions = frozenset(_names(rows, KeywordKind.ASSERTION))
    core = frozenset(_names(rows, *_CORE))
    references = _names(rows, KeywordKind.REFERENCE)
    return Dialect(
        name=name or "any",
        uri=uri,
        order=order,
        applicators=applicators,
        assertions=assertions,
        core=core,
        anchor_keywords=_names(rows, KeywordKind.ANCHOR),
        reference_keywords=references,
        id_keyword="$id" if "$id" in names else "id",
        definitions_keyword="$defs" if has_defs else "definitions",
        ref_hides_siblings=not has_defs,
        effective=assertions.union(applicators, core),
        applying=frozenset({*applicators, *references}),
    )


DRAFT_03, DRAFT_04, DRAFT_06, DRAFT_07 = (
    _dialect(
        f"draft-0{number}", f"http://json-schema.org/draft-0{number}/schema#", number
    )
    for number in (3, 4, 6, 7)
)
DRAFT_2019_09, DRAFT_2020_12 = (
    _dialect(name, f"https://json-schema.org/draft/{name}/schema", order)
    for name, order in (("2019-09", 19), ("2020-12", 20))
)
#: Oldest first. The dialects that a record of the benchmark can have.
DIALECTS = (DRAFT_04, DRAFT_06, DRAFT_07, DRAFT_2019_09, DRAFT_2020_12)
BY_NAME = {dialect.name: dialect for dialect in (DRAFT_03, *DIALECTS)}
#: Every draft at once, for reading a schema before its dialect is known.
ANY_DIALECT = _dialect("", "", 0)

_URI = re.compile(
    r"https?://(?:www\.)?json-schema\.org/draft[-/]0*(?P<draft>[\w-]+?)/schema/?#?"
)


def declared(uri: object) -> Dialect | None:
    """Return the dialect that a `$schema` value names exactly, draft-03 included.

    http and https, and a trailing empty fragment, make no difference here;
    everything else is for the rules to repair.
    """
    if not isinstance(uri, str):
        return None
    match = _URI.fullmatch(uri)
    if not match:
        return None
    draft = match["draft"]
    name = draft if "-" in draft else f"draft-0{draft}"
    dialect = BY_NAME.get(name)
    separator = (
        "/draft/" if dialect and dialect.order >= DRAFT_2019_09.order else "/draft-"
    )
    return dialect if separator in uri else None
