"""The draft of a schema: as `$schema` names it, and as its keywords show.

Authors misspell the metaschema's address, name the hyper-schema that adds links
to it, or a vendor's metaschema that is built on a draft. All of these can be
read; every other text names no draft of JSON Schema.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from msgspec.structs import replace

from curation.core.json_types import Json
from curation.schema.dialects import (
    ANY_DIALECT,
    BY_NAME,
    DRAFT_03,
    DRAFT_04,
    DRAFT_07,
    DRAFT_2020_12,
    Dialect,
    declared,
)
from curation.schema.keywords import ANNOTATIONS, CONTAINERS, KNOWN_KEYWORDS
from curation.schema.subschemas import subschemas

#: Metaschemas of vendors, without a trailing `#`, and the draft each is built on.
VENDORS = {
    # draft-04 and the member `self`, which names the schema
    "http://iglucentral.com/schemas/com.snowplowanalytics.self-desc/schema/"
    "jsonschema/1-0-0": DRAFT_04,
    # the hyper-schema of draft-04 with stricter links
    "http://interagent.github.io/interagent-hyper-schema": DRAFT_04,
    # draft-07 that forbids unknown keywords
    "https://json.schemastore.org/metaschema-draft-07-unofficial-strict.json": DRAFT_07,
    "http://json.schemastore.org/metaschema-draft-07-unofficial-strict": DRAFT_07,
    # a subset of draft-07 for resource types
    "https://schema.cloudformation.us-east-1.amazonaws.com/"
    "provider.definition.schema.v1.json": DRAFT_07,
    # 2020-12 and four annotations
    "https://spec.openapis.org/oas/3.1/dialect/base": DRAFT_2020_12,
}


class StatementKind(Enum):
    """How a `$schema` is to be taken."""

    EXACT = "names a draft in a spelling that both validators know"
    MISSPELT = "means a draft, but no validator would know it"
    HYPER = "the hyper-schema of a draft, which adds links to it"
    VENDOR = "a vendor's metaschema, built on a draft"
    SILENT = "absent, or names JSON Schema without a draft that there is"
    UNKNOWN = "names no draft of JSON Schema"


class Statement(NamedTuple):
    """The declaration of one `$schema`."""

    kind: StatementKind
    #: The draft; None if the statement is silent or unknown.
    dialect: Dialect | None = None


_SITE = r"\s*(?:(?:https?:)?//)?(?:www\.)?json-?schema[./-]org/+"
_NUMBERED = re.compile(
    rf"(?:{_SITE})?drafts?[-/_]?v?0?\.?(?P<number>[0-9]+)(?![-.0-9])(?:[/#].*)?",
    re.IGNORECASE | re.DOTALL,
)
_DATED = re.compile(
    rf"(?:{_SITE})?(?:drafts?)?[-/_]?(?P<date>2019-09|2020-12)(?:[/#].*)?",
    re.IGNORECASE | re.DOTALL,
)
_WITHOUT_DRAFT = re.compile(
    rf"\s*|{_SITE}(?:drafts?/+)?(?:(?:hyper-)?schema)?/?(?:#.*)?\s*",
    re.IGNORECASE | re.DOTALL,
)
_HYPER = re.compile(r"/hyper-schema\b", re.IGNORECASE)
#: Draft-05 reworded draft-04 and published no metaschema: its number states nothing.
_NO_METASCHEMA = "5"
#: 2019-09 was called draft-08 while it was written.
_NAMES = {**{number: f"draft-0{number}" for number in "3467"}, "8": "2019-09"}


def works(uri: str, dialect: Dialect) -> bool:
    """Return whether both validators read this text as the dialect's `$schema`.

    They know one scheme, http up to draft-07 and https later, with and without
    the empty fragment.
    """
    return uri.removesuffix("#") == dialect.uri.removesuffix("#")


def statement(schema: Json) -> Statement:
    """Return the declaration in the `$schema` of a schema's root."""
    if not isinstance(schema, dict) or "$schema" not in schema:
        return Statement(kind=StatementKind.SILENT)
    return read(schema["$schema"])


def read(uri: Json) -> Statement:
    """Return the declaration in one value of `$schema`.

    Example:
        >>> read("http://json-schema.org/draft-7/schema").dialect.name
        'draft-07'
    """
    if not isinstance(uri, str):
        return Statement(kind=StatementKind.UNKNOWN)
    dialect = declared(uri)
    if dialect is not None and works(uri, dialect):
        return Statement(kind=StatementKind.EXACT, dialect=dialect)
    vendor = VENDORS.get(uri.removesuffix("#"))
    if vendor is not None:
        return Statement(kind=StatementKind.VENDOR, dialect=vendor)
    if _WITHOUT_DRAFT.fullmatch(uri):
        return Statement(kind=StatementKind.SILENT)
    match = _DATED.fullmatch(uri)
    name = match["date"] if match else None
    match = _NUMBERED.fullmatch(uri)
    if match:
        number = match["number"].lstrip("0")
        if number == _NO_METASCHEMA:
            return Statement(kind=StatementKind.SILENT)
        name = _NAMES.get(number)
    if name is None:
        return Statement(kind=StatementKind.UNKNOWN)
    kind = StatementKind.HYPER if _HYPER.search(uri) else StatementKind.MISSPELT
    return Statement(kind=kind, dialect=BY_NAME[name])


#: What `contentSchema` describes is text inside a string: no draft applies it.
_APPLIED = replace(
    ANY_DIALECT,
    applicators={
        keyword: shape
        for keyword, shape in ANY_DIALECT.applicators.items()
        if keyword not in ANNOTATIONS
    },
    applying=ANY_DIALECT.applying - ANNOTATIONS,
)
_EFFECTIVE_SOMEWHERE = KNOWN_KEYWORDS - ANNOTATIONS - CONTAINERS
#: Keywords that are one only as a string; with another value any member's name.
_STRINGS = frozenset({"id", "$id", "$ref"})
#: Keywords that a `$ref` next to them silences up to draft-07.
_SILENCED = (frozenset(_APPLIED.applicators) | ANY_DIALECT.assertions) - CONTAINERS
#: Annotations and containers by which authors show their draft; most name any draft's.
_TELLING = {
    "definitions": ("draft-04", "draft-06", "draft-07"),
    "$defs": ("2019-09", "2020-12"),
    "examples": ("draft-06", "draft-07", "2019-09", "2020-12"),
    "$comment": ("draft-07", "2019-09", "2020-12"),
}
#: Keywords of draft-03 alone, and keywords that it does not know.
_OLD = frozenset({"divisibleBy", "extends", "disallow"})
_PERHAPS_OLD = _OLD | {"required", "type", "dependencies"}
_LATER = _EFFECTIVE_SOMEWHERE - DRAFT_03.effective


class Usage(NamedTuple):
    """The keywords that a schema uses in keyword position."""

    #: Those that do something in some draft; annotations, `format` and
    #: containers of definitions are left out.
    keywords: frozenset[str]
    #: Whether an asserting keyword is next to a `$ref`.
    asserts_beside_ref: bool
    #: What it uses as only draft-03 does, each described by its keyword.
    old: frozenset[str]
    #: What it uses that draft-03 does not know.
    later: frozenset[str]
    #: Annotations and containers by which authors show their draft.
    telling: frozenset[str]

    def shown_by(self, keyword: str, dialect: Dialect) -> bool:
        """Return whether the authors of a dialect write a keyword in use."""
        drafts = _TELLING.get(keyword)
        return (
            keyword in dialect.effective if drafts is None else dialect.name in drafts
        )

    def all_effective(self, dialect: Dialect) -> bool:
        """Return whether every keyword in use does something in the dialect."""
        if self.asserts_beside_ref and dialect.ref_hides_siblings:
            return False
        return self.keywords <= dialect.effective


def usage(schema: Json) -> Usage:
    """Return the keywords that a schema uses in any dialect."""
    keywords: set[str] = set()
    old: set[str] = set()
    telling: set[str] = set()
    beside_ref = array_required = False
    for subschema in subschemas(schema, _APPLIED):
        effective = _EFFECTIVE_SOMEWHERE.intersection(subschema)
        telling |= subschema.keys() & _TELLING.keys()
        keywords |= effective - _STRINGS
        keywords |= {
            keyword
            for keyword in effective & _STRINGS
            if isinstance(subschema[keyword], str)
        }
        old |= {
            keyword
            for keyword in effective & _PERHAPS_OLD
            if _is_old(keyword, subschema[keyword])
        }
        array_required |= isinstance(subschema.get("required"), list)
        if isinstance(subschema.get("$ref"), str) and not _SILENCED.isdisjoint(
            effective
        ):
            beside_ref = True
    later = (keywords & _LATER) | ({"required"} if array_required else set())
    return Usage(
        keywords=frozenset(keywords),
        asserts_beside_ref=beside_ref,
        old=frozenset(old),
        later=frozenset(later),
        telling=frozenset(telling),
    )


def _is_old(keyword: str, value: Json) -> bool:
    """Return whether only draft-03 has this keyword, or such a value for it."""
    if keyword == "required":
        return isinstance(value, bool)
    if keyword == "type":
        return value == "any" or (
            isinstance(value, list)
            and any(isinstance(item, dict) or item == "any" for item in value)
        )
    if keyword == "dependencies":
        return isinstance(value, dict) and any(
            isinstance(needed, str) for needed in value.values()
        )
    return keyword in _OLD
