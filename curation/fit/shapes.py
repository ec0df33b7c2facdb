"""Schemas whose answers have another shape than the values that are meant.

A *marked* schema has the meaning, and at some of its objects, under `SHAPE`, the
shape in which a target is asked for it. No draft has the keyword: validators
ignore it. `Shaped` is the sent schema, with the place in it of each part of the
marked one; `curation.fit.decoding` maps answers back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias, cast

import msgspec

from curation.core.json_types import UntypedJson
from curation.json.pointer import Put, Tokens, rewritten, to_fragment
from curation.references.schema import Schema
from curation.schema.dialects import Dialect
from curation.schema.keywords import CONTAINERS
from curation.schema.subschemas import children

_Object: TypeAlias = "dict[str, UntypedJson]"
#: The member of a schema object that holds its `AnswerShape`.
SHAPE: Final = "csbdata:shape"
#: Names of the members of objects that represent other things.
KEY, VALUE, MORE, ITEM = "key", "value", "more", "item"
_ABOUT: Final = ("title", "description")


class AnswerShape(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the values of one marked schema object are asked for."""

    #: Properties that are null in an answer where the value lacks them.
    nullable: tuple[str, ...] = ()
    #: An object that is an array of objects with key and value.
    pairs: bool = False
    #: Leading elements of an array that are members of an object, and whether the
    #: others are one more member.
    items: int = 0
    more: bool = False
    #: An array whose repeated elements are dropped.
    distinct: bool = False
    #: An array that is cut at its `maxItems`.
    cut: bool = False
    #: A value that is the member of an object, at the root.
    wrapped: bool = False
    #: Keywords that the target does not hold: to be validated afterwards.
    dropped: Mapping[str, Any] = {}


def derive_shape(schema: UntypedJson) -> AnswerShape:
    """Return the shape of a marked schema; without a mark the shape of any value."""
    mark = schema.get(SHAPE) if isinstance(schema, dict) else None
    return AnswerShape() if mark is None else msgspec.convert(mark, AnswerShape)


def with_shape(schema: _Object, **changes: UntypedJson) -> _Object:
    """Return a schema whose mark states more: fields of `AnswerShape` by name."""
    shape = msgspec.structs.replace(derive_shape(schema), **changes)
    return {**schema, SHAPE: msgspec.to_builtins(shape)}


class Shaped(msgspec.Struct):
    """The sent form of a marked schema."""

    marked: UntypedJson
    dialect: Dialect
    #: Whether objects that represent other values have no further members.
    is_closed: bool = True
    schema: UntypedJson = None
    #: Tokens in the marked schema to tokens in the sent schema.
    places: dict[Tokens, Tokens] = {}
    _sources: dict[Tokens, Tokens] = {}

    def __post_init__(self) -> None:
        """Make the schema, with references that lead to where their targets went."""
        self.schema = self._with_references(self._whole())

    def source(self, tokens: Tokens) -> Tokens:
        """Return the tokens in the marked schema of a location in the sent schema."""
        for length in range(len(tokens), 0, -1):
            if tokens[:length] in self._sources:
                return self._sources[tokens[:length]]
        return ()

    def _whole(self) -> UntypedJson:
        root = self.marked
        if not isinstance(root, dict) or not derive_shape(root).wrapped:
            return self._part(root, (), ())
        outer = {*CONTAINERS, "$schema", "$id"}
        around = {name: root[name] for name in root if name in outer}
        inner = {name: value for name, value in root.items() if name not in around}
        sent = self._part(around, (), ())
        value = self._part(inner, (), ("properties", VALUE))
        outer_part = sent if isinstance(sent, dict) else {}
        return {**outer_part, **self._object({VALUE: value})}

    def _with_references(self, sent: UntypedJson) -> UntypedJson:
        document = Schema(self.marked, self.dialect)
        edits: dict[Tokens, Put] = {}
        for reference in document.references:
            target = document.lookup(reference.text, reference.base)
            path = self.places.get(reference.tokens)
            if target is None or path is None:
                continue
            sent_path = self.places.get(target.tokens)
            if sent_path is not None and sent_path != target.tokens:
                edits[*path, reference.keyword] = Put(to_fragment(sent_path))
        return rewritten(sent, edits)

    def _part(self, schema: UntypedJson, source: Tokens, target: Tokens) -> UntypedJson:
        """Return the sent form of a part, and note the locations of all parts in it."""
        self.places[source] = target
        self._sources[target] = source
        if not isinstance(schema, dict):
            return schema
        shape = derive_shape(schema)
        if shape.pairs:
            return self._pairs(schema, source, target)
        if shape.items:
            return self._members(schema, shape, source, target)
        parts = self._changed_parts(schema, shape, source, target)
        if not parts and SHAPE not in schema:
            return schema
        sent = _with_parts(
            {keyword: schema[keyword] for keyword in schema if keyword != SHAPE}, parts
        )
        if shape.nullable:
            properties = schema["properties"]
            sent["required"] = list(properties) if isinstance(properties, dict) else []
        if shape.distinct:
            sent.pop("uniqueItems")
        if shape.cut:
            sent.pop("maxItems")
        return _described(sent, shape)

    def _changed_parts(
        self, schema: _Object, shape: AnswerShape, source: Tokens, target: Tokens
    ) -> dict[Tokens, UntypedJson]:
        """Return the sent forms of the parts directly inside, where they differ."""
        parts: dict[Tokens, UntypedJson] = {}
        nullable = frozenset(shape.nullable)
        for path, child in children(schema, self.dialect):
            is_nullable = path[0] == "properties" and path[1] in nullable
            make = self._nullable if is_nullable else self._part
            value = make(child, (*source, *path), (*target, *path))
            if value is not child:
                parts[path] = value
        return parts

    def _nullable(
        self, schema: UntypedJson, source: Tokens, target: Tokens
    ) -> UntypedJson:
        kind = schema.get("type") if isinstance(schema, dict) else None
        shape = derive_shape(schema)
        changed = shape.pairs or shape.items
        if isinstance(schema, dict) and isinstance(kind, str) and not changed:
            sent = self._part(schema, source, target)
            if isinstance(sent, dict) and "const" not in sent:
                sent = {**sent, "type": [kind, "null"]}
                if isinstance(sent.get("enum"), list):
                    sent["enum"] = [*schema["enum"], None]
                return sent
        if isinstance(schema, dict) and schema.keys() <= {"anyOf", *_ABOUT}:
            sent = self._part(schema, source, target)
            if isinstance(sent, dict):
                return {**sent, "anyOf": [*sent["anyOf"], {"type": "null"}]}
            return sent
        value = self._part(schema, source, (*target, "anyOf", "0"))
        return {"anyOf": [value, {"type": "null"}]}

    def _definitions(
        self, schema: _Object, source: Tokens, target: Tokens
    ) -> dict[str, UntypedJson]:
        """Return the members of a reshaped schema that references may lead to."""
        definitions = {name: schema[name] for name in schema if name in CONTAINERS}
        return _with_parts(
            definitions,
            {
                path: self._part(child, (*source, *path), (*target, *path))
                for path, child in children(definitions, self.dialect)
            },
        )

    def _pairs(self, schema: _Object, source: Tokens, target: Tokens) -> UntypedJson:
        inside = (*target, "items", "properties")
        names = schema.get("propertyNames", {})
        key = self._part(names, (*source, "propertyNames"), (*inside, KEY))
        value = self._part(
            schema["additionalProperties"],
            (*source, "additionalProperties"),
            (*inside, VALUE),
        )
        key = {"type": "string", **(key if isinstance(key, dict) else {})}
        sent: _Object = {
            **{name: schema[name] for name in _ABOUT if name in schema},
            **self._definitions(schema, source, target),
            "type": "array",
            "items": self._object({KEY: key, VALUE: value}),
        }
        if "minProperties" in schema:
            sent["minItems"] = schema["minProperties"]
        return _described(sent, derive_shape(schema))

    def _members(
        self, schema: _Object, shape: AnswerShape, source: Tokens, target: Tokens
    ) -> UntypedJson:
        members: _Object = {}
        prefix: UntypedJson = schema.get("prefixItems") or []
        leading = len(prefix)
        for index in range(shape.items):
            name = f"{ITEM}{index + 1}"
            member_path = (*target, "properties", name)
            path = ("prefixItems", str(index)) if index < leading else ("items",)
            part = prefix[index] if index < leading else schema.get("items", True)
            members[name] = self._part(part, (*source, *path), member_path)
        if shape.more:
            member_path = (*target, "properties", MORE)
            items = self._part(
                schema.get("items", True), (*source, "items"), (*member_path, "items")
            )
            trailing: _Object = {"type": "array", "items": items}
            limit = schema.get("maxItems")
            if isinstance(limit, int) and not shape.cut:
                trailing["maxItems"] = limit - shape.items
            members[MORE] = trailing
        about: _Object = {name: schema[name] for name in _ABOUT if name in schema}
        about |= self._definitions(schema, source, target)
        return _described({**about, **self._object(members)}, shape)

    def _object(self, members: _Object) -> _Object:
        closed: _Object = {"additionalProperties": False} if self.is_closed else {}
        return {
            "type": "object",
            "properties": members,
            "required": list(members),
            **closed,
        }


def _described(sent: _Object, shape: AnswerShape) -> _Object:
    """Return a schema that describes in words the dropped keywords."""
    if shape.dropped:
        words = "; ".join(
            f"{name}: {json.dumps(value)}" for name, value in shape.dropped.items()
        )
        description = sent.get("description")
        parts = [description] if isinstance(description, str) and description else []
        sent["description"] = " ".join([*parts, f"({words})"])
    return sent


def _with_parts(schema: _Object, parts: Mapping[Tokens, UntypedJson]) -> _Object:
    """Return a copy of a schema object with other parts directly inside it."""
    return cast(
        "_Object", rewritten(schema, {path: Put(parts[path]) for path in parts})
    )
