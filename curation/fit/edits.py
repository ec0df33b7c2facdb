"""Common parts of edits of schemas: the places that ask, the name of a claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import wraps
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from curation.json.pointer import Tokens
from curation.schema.dialects import DRAFT_2020_12
from curation.schema.keywords import ANNOTATIONS, CONTAINERS, KNOWN_KEYWORDS
from curation.schema.subschemas import edited

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

SchemaObject: TypeAlias = "dict[str, UntypedJson]"
Keywords: TypeAlias = frozenset[str]
DIALECT: Final = DRAFT_2020_12
#: Any value that is neither an array nor an object.
SCALARS: Final[tuple[str, ...]] = ("string", "number", "boolean", "null")
_ASSERTING: Final = KNOWN_KEYWORDS - (ANNOTATIONS - {"format"}) - CONTAINERS - {"$id"}


class Claim(StrEnum):
    """How the values that are meant change by a rewrite."""

    EQUAL = "equal"
    """Not at all."""
    NARROWER = "narrower"
    """Some can no longer be expressed; the others are valid by the schema before."""
    WIDER = "wider"
    """Answers must be validated afterwards."""
    DIFFERS = "differs"
    """Some can no longer be expressed, and answers must be validated afterwards."""
    UNKNOWN = "unknown"
    """Neither proof nor value decides it."""


class Sites(msgspec.Struct, frozen=True, kw_only=True):
    """Where a rewrite is asked for."""

    #: Tokens of the schema objects, each with the keywords of the findings there.
    keywords: Mapping[Tokens, frozenset[str]]
    #: The exceeded limit, if it is one.
    limit: int


#: From a schema object and the keywords of its findings to its replacement; the
#: same object where the rewrite does not apply.
EditObject = Callable[["SchemaObject", "Keywords"], "UntypedJson"]


def at_sites(edit: EditObject) -> Callable[[UntypedJson, Sites], UntypedJson]:
    """Return an edit of whole schemas that applies one at each site."""

    @wraps(edit)
    def apply(schema: UntypedJson, sites: Sites) -> UntypedJson:
        def change(tokens: Tokens, part: UntypedJson) -> UntypedJson:
            if tokens not in sites.keywords or not isinstance(part, dict):
                return part
            return edit(part, sites.keywords[tokens])

        return edited(schema, DIALECT, change)

    return apply


def asserting(schema: Mapping[str, UntypedJson]) -> frozenset[str]:
    """Return the keywords of a schema that may refuse something."""
    return frozenset(schema.keys() & _ASSERTING)
