"""A location in a schema: the one type for "this schema, standing here"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from curation.core.json_types import UntypedJson
from curation.json.pointer import Tokens, pointer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json


class SchemaLocation(msgspec.Struct, frozen=True, eq=False):
    """A value in a schema document, where it stands, and what is in force there.

    Two locations are equal if they are one object: schemas are large, and are not
    compared member by member. A struct is made in a quarter of the time of a frozen
    dataclass, and a build makes millions.

    Example:
        >>> SchemaLocation(("properties", "a/b"), {"type": "string"}).pointer
        '/properties/a~1b'
    """

    #: Reference tokens from the root of its document (RFC 6901).
    tokens: Tokens
    #: What stands there: an object, or a boolean where the dialect allows one. What
    #: a reference leads to may be any JSON value if `is_subschema` is false.
    schema: UntypedJson
    #: The base URI around it: its own identifier is not yet considered.
    base: str = ""
    #: The URI under which its document was found; empty for a schema by itself.
    document: str = ""
    #: Whether its dialect reads it as a schema where it stands. A reference may lead
    #: into a member that no draft knows, as `#/types/name` does.
    is_subschema: bool = True

    @property
    def keywords(self) -> Mapping[str, Json]:
        """The members of the schema that stands here; none if it is no object."""
        return self.schema if isinstance(self.schema, dict) else {}

    @property
    def pointer(self) -> str:
        """The JSON pointer inside its document."""
        return pointer(self.tokens)
