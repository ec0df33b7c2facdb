"""What a `$schema` says: which draft it names, in whatever spelling.

Authors misspell the metaschema's address, name the hyper-schema that adds links
to it, or a vendor's metaschema that is built on a draft. All of these can be
read; what no rule here reads names no draft of JSON Schema.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from curation.schema.dialects import (
    BY_NAME,
    DRAFT_04,
    DRAFT_07,
    DRAFT_2020_12,
    Dialect,
    declared,
)

if TYPE_CHECKING:
    from curation.core.json_types import Json

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What one `$schema` says."""

    kind: StatementKind
    #: The draft; None where the statement is silent or unknown.
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
#: Draft-05 reworded draft-04 and published no metaschema: its number says nothing.
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
    """Return what the `$schema` of a schema's root says."""
    if not isinstance(schema, dict) or "$schema" not in schema:
        return Statement(kind=StatementKind.SILENT)
    return read(schema["$schema"])


def read(uri: Json) -> Statement:
    """Return what one value of `$schema` says.

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
    found = _DATED.fullmatch(uri)
    name = found["date"] if found else None
    found = _NUMBERED.fullmatch(uri)
    if found:
        number = found["number"].lstrip("0")
        if number == _NO_METASCHEMA:
            return Statement(kind=StatementKind.SILENT)
        name = _NAMES.get(number)
    if name is None:
        return Statement(kind=StatementKind.UNKNOWN)
    kind = StatementKind.HYPER if _HYPER.search(uri) else StatementKind.MISSPELT
    return Statement(kind=kind, dialect=BY_NAME[name])
