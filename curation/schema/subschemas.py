"""Subschemas: the walk over them, their base URIs, edits, the skeleton.

A *subschema* is a value that its dialect reads as a schema. Values under `enum`,
`const`, `default`, `examples` or an unknown member are data, not schemas, and are never
visited. A base URI changes at every `$id` (draft-04: `id`) in keyword position: RFC
3986, section 5, and the core specification of each draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from urllib.parse import urldefrag, urljoin

import msgspec

from curation.core.json_types import Json, UntypedJson
from curation.json.pointer import Drop, Put, Tokens, pointer, rewritten
from curation.json.text import digest
from curation.json.values import remembered
from curation.schema.dialects import Dialect
from curation.schema.keywords import ANNOTATIONS, Shape

#: The function for `edited`: from tokens and a subschema to its replacement.
_Edit = Callable[[Tokens, Json], Json]


class SchemaLocation(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A value in a schema document, its place, and the base URI there.

    Locations compare by identity. A struct is created in a quarter of the time of a
    frozen dataclass, and a build creates millions.

    Example:
        >>> SchemaLocation(("properties", "a/b"), {"type": "string"}).pointer
        '/properties/a~1b'
    """

    #: Reference tokens from the root of its document (RFC 6901).
    tokens: Tokens
    #: The value: an object, or a boolean where the dialect allows one. What
    #: a reference leads to may be any JSON value if `is_subschema` is false.
    schema: UntypedJson
    #: The base URI around it: its own identifier is not yet considered.
    base: str = ""
    #: The URI under which its document was found; empty for a schema by itself.
    document: str = ""
    #: Whether its dialect reads it as a schema there. A reference may lead
    #: into a member that no draft knows, as `#/types/name` does.
    is_subschema: bool = True

    @property
    def keywords(self) -> Mapping[str, Json]:
        """The members of the schema; empty if it is not an object."""
        return self.schema if isinstance(self.schema, dict) else {}

    @property
    def pointer(self) -> str:
        """The JSON pointer inside its document."""
        return pointer(self.tokens)


#: The JSON types of a schema; a boolean only where the dialect allows one.
_SCHEMA = (dict, bool)


def children(  # noqa: C901 - one flat loop: the hot path of every rule
    schema: Json, dialect: Dialect
) -> Iterator[tuple[Tokens, Json]]:
    """Yield the schemas directly inside a schema, in order.

    Each comes with its tokens: the keyword, and the name or index below it.
    """
    if not isinstance(schema, dict):
        return
    shapes = dialect.applicators
    for keyword in schema:
        shape = shapes.get(keyword)
        if shape is None:
            continue
        value = schema[keyword]
        if isinstance(value, list):
            if shape is Shape.SCHEMAS or shape is Shape.EITHER:
                for index, item in enumerate(value):
                    if isinstance(item, _SCHEMA):
                        yield (keyword, str(index)), item
        elif shape is Shape.SCHEMA or shape is Shape.EITHER:
            if isinstance(value, _SCHEMA):
                yield (keyword,), value
        elif isinstance(value, dict) and shape is not Shape.SCHEMAS:
            for name, member in value.items():
                if isinstance(member, _SCHEMA):
                    yield (keyword, name), member


def join(base: str, reference: str) -> tuple[str, str]:
    """Return the absolute URI without fragment, and the fragment.

    `urllib` joins nothing to a URN, but a mere fragment belongs to any base.

    Raises:
        ValueError: the text is not a URI reference.
    """
    if reference.startswith("#") or not reference:
        return base, reference[1:]
    return _joined(base, reference)


@lru_cache(maxsize=1024)
def _joined(base: str, reference: str) -> tuple[str, str]:
    parts = urldefrag(urljoin(base, reference))
    return parts.url, parts.fragment


def starts_resource(schema: Json, dialect: Dialect) -> bool:
    """Return whether a schema's identifier changes the base URI.

    Up to draft-07 a `$ref` hides the identifier next to it.
    """
    if not isinstance(schema, dict):
        return False
    identifier = schema.get(dialect.id_keyword)
    if not isinstance(identifier, str) or identifier.startswith("#"):
        return False
    return not (dialect.ref_hides_siblings and "$ref" in schema)


def inner_base(schema: Json, dialect: Dialect, base: str) -> str:
    """Return the base URI inside a schema, given the one around it."""
    if not isinstance(schema, dict) or not starts_resource(schema, dialect):
        return base
    try:
        return join(base, str(schema[dialect.id_keyword]))[0]
    except ValueError:
        return base


def below(start: SchemaLocation, dialect: Dialect) -> list[SchemaLocation]:
    """Return a schema and its subschemas, outermost first, in order.

    The subschemas of a schema come directly after it. References are not followed.
    """
    locations: list[SchemaLocation] = []
    stack = [start]
    while stack:
        location = stack.pop()
        locations.append(location)
        value = location.schema
        if isinstance(value, dict) and not dialect.applying.isdisjoint(value):
            base = location.base
            if dialect.id_keyword in value:
                base = inner_base(value, dialect, base)
            inner = [
                SchemaLocation(location.tokens + path, member, base, location.document)
                for path, member in children(value, dialect)
            ]
            stack += reversed(inner)
    return locations


@remembered
def walk(schema: Json, dialect: Dialect) -> Sequence[SchemaLocation]:
    """Return the locations of a schema and its subschemas, outermost first, in order.

    The last walks are cached.

    Example:
        >>> schema = {"properties": {"a": {"items": True}}}
        >>> [each.pointer for each in walk(schema, DRAFT_2020_12)]
        ['', '/properties/a', '/properties/a/items']
    """
    return below(SchemaLocation((), schema), dialect)


@remembered
def subschemas(schema: Json, dialect: Dialect) -> Sequence[dict[str, Json]]:
    """Return a schema and its subschemas that are objects, outermost first.

    The last results are cached.
    """
    locations = walk(schema, dialect)
    return [
        location.schema for location in locations if isinstance(location.schema, dict)
    ]


def without(schema: Mapping[str, Json], *names: str) -> dict[str, Json]:
    """Return a schema object without some of its members."""
    return {name: value for name, value in schema.items() if name not in names}


def edited(schema: Json, dialect: Dialect, edit: _Edit, tokens: Tokens = ()) -> Json:
    """Return the schema with each subschema replaced by what `edit` makes of it.

    Args:
        schema: Any schema; it is not changed.
        dialect: Decides which values are subschemas.
        edit: Called with the tokens and the value of each subschema, inner ones
            first. It returns its argument if nothing changes: then nothing is copied.
        tokens: Those of the schema.
    """
    if isinstance(schema, dict) and not dialect.applying.isdisjoint(schema):
        edits: dict[Tokens, Put | Drop] = {}
        for path, member in children(schema, dialect):
            new = edited(member, dialect, edit, tokens + path)
            if new is not member:
                edits[path] = Put(new)
        schema = rewritten(schema, edits)
    return edit(tokens, schema)


def edited_objects(
    schema: Json, dialect: Dialect, mend: Callable[[dict[str, Json]], Json]
) -> Json:
    """Return what `edited` does, with an edit of the subschemas that are objects."""

    def edit(_tokens: Tokens, subschema: Json) -> Json:
        return mend(subschema) if isinstance(subschema, dict) else subschema

    return edited(schema, dialect, edit)


#: Keywords that a skeleton lacks: annotations and identifiers, `format` kept.
STRIPPED = (ANNOTATIONS | {"id", "$id"}) - {
    *("format", "contentEncoding", "contentMediaType", "contentSchema")
}


def skeleton(schema: Json, dialect: Dialect) -> Json:
    """Return the schema without the keywords `STRIPPED`.

    A property named `title` stays, and so does data: `enum`, `const`, unknown members.
    """

    def stripped(subschema: dict[str, Json]) -> Json:
        if STRIPPED.isdisjoint(subschema):
            return subschema
        return {
            keyword: subschema[keyword]
            for keyword in subschema
            if keyword not in STRIPPED
        }

    return edited_objects(schema, dialect, stripped)


def skeleton_digest(schema: Json, dialect: Dialect) -> str:
    """Return the sha256 of the skeleton's canonical form, in hexadecimal."""
    return digest(skeleton(schema, dialect))
