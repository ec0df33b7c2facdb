"""Translation of schemas between drafts, where the meaning can be kept.

`ported` serves a record that refers to a document of another draft. One difference is
accepted: draft-04 does not call the number 1.0 an integer, later drafts do; here 1.0
and 1 are one number.

`upgraded` brings draft-03 to draft-04. The meaning of a draft-03 schema is what
jsonschema's `Draft3Validator` accepts. A boolean `required` becomes a name in the
parent's list, `extends` becomes `allOf`, `disallow` `not`, `divisibleBy` `multipleOf`,
a type that is a schema `anyOf`, the type `any` nothing. Source:
draft-zyp-json-schema-03 and -04.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from curation.core.documents import ABSENT, Change
from curation.core.json_types import Json
from curation.json.pointer import Tokens, at, change_at, tokens_of_fragment
from curation.json.text import write
from curation.schema.dialects import (
    ANY_DIALECT,
    DRAFT_03,
    DRAFT_04,
    DRAFT_2019_09,
    DRAFT_2020_12,
    Dialect,
)
from curation.schema.drafts import usage
from curation.schema.keywords import ANNOTATIONS, CONTAINERS, KNOWN_KEYWORDS
from curation.schema.subschemas import edited, subschemas, without

#: Each exclusive bound with the bound that its boolean makes strict.
BOUNDS = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


def with_numeric_bounds(schema: dict[str, Json]) -> dict[str, Json]:
    """Return a schema with its boolean exclusive bounds as draft-06 writes them.

    The number replaces the strict bound; a boolean without a
    bound is dropped. The same object is returned if none exists.

    Example:
        >>> with_numeric_bounds({"minimum": 1, "exclusiveMinimum": True})
        {'exclusiveMinimum': 1}
    """
    for exclusive, bound in BOUNDS:
        flag = schema.get(exclusive)
        if not isinstance(flag, bool):
            continue
        strict = bound if flag else None
        schema = {
            exclusive if name == strict else name: value
            for name, value in schema.items()
            if name != exclusive
        }
    return schema


#: Same keyword, same shape, but 2020-12 counts what `contains` met as evaluated.
_CHANGED_2020 = frozenset({"unevaluatedItems"})
_EXCLUSIVE = dict(BOUNDS)
#: From each limit to the flag of draft-04 that makes it exclusive.
_FLAGS = {limit: flag for flag, limit in _EXCLUSIVE.items()}


class CannotPortError(Exception):
    """A keyword that the other draft cannot express."""


def ported(schema: Json, source: Dialect, target: Dialect) -> Json:
    """Return a schema of one dialect in another's keywords; unchanged for the same one.

    Raises:
        CannotPortError: the other cannot express it.

    Example:
        >>> ported({"minimum": 1, "exclusiveMinimum": True}, DRAFT_04, DRAFT_2020_12)
        {'exclusiveMinimum': 1}
    """
    if source is target:
        return schema

    def port(_tokens: Tokens, subschema: Json) -> Json:
        if isinstance(subschema, dict):
            return _ported(subschema, source, target)
        if isinstance(subschema, bool) and target is DRAFT_04:
            raise CannotPortError("a boolean schema")
        return subschema

    return edited(schema, source, port)


def _ported(schema: dict[str, Json], source: Dialect, target: Dialect) -> Json:
    hidden = source.ref_hides_siblings and "$ref" in schema
    result: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword == "$schema":
            continue
        if keyword == source.id_keyword and isinstance(value, str):
            is_anchor = value[:1] == "#" and target.order >= DRAFT_2019_09.order
            if is_anchor and value[1:] and not hidden:
                # A mere fragment is an anchor up to draft-07.
                result["$anchor"] = value[1:]
            elif not is_anchor and not hidden:
                result[target.id_keyword] = value
        elif keyword not in KNOWN_KEYWORDS or keyword in ANNOTATIONS | CONTAINERS:
            result[keyword] = value
        elif keyword in source.effective and (keyword == "$ref" or not hidden):
            result.update(_translated(keyword, schema, source, target))
    beside = result.keys() & (target.effective - CONTAINERS - {"$ref"})
    if "$ref" in result and target.ref_hides_siblings and beside:
        raise CannotPortError("keywords beside a `$ref`")
    return result


def _translated(
    keyword: str, schema: dict[str, Json], source: Dialect, target: Dialect
) -> dict[str, Json]:
    value = schema[keyword]
    if keyword in _EXCLUSIVE and source is DRAFT_04:
        limit = schema.get(_EXCLUSIVE[keyword])
        if target is DRAFT_04:
            return {keyword: value}
        return {keyword: limit} if value is True and limit is not None else {}
    if keyword in _FLAGS and source is DRAFT_04 and target is not DRAFT_04:
        return {} if schema.get(_FLAGS[keyword]) is True else {keyword: value}
    if keyword in _EXCLUSIVE and target is DRAFT_04:
        raise CannotPortError(keyword)
    if keyword == "dependencies" and target.order >= DRAFT_2019_09.order:
        return _dependencies(value)
    if target is DRAFT_2020_12 and keyword in ("items", "additionalItems"):
        return _items(keyword, schema)
    changed = keyword in _CHANGED_2020 and source is not target
    if keyword not in target.effective or changed:
        raise CannotPortError(keyword)
    return {keyword: value}


def _dependencies(value: Json) -> dict[str, Json]:
    members = value if isinstance(value, dict) else {}
    lists = {name: part for name, part in members.items() if isinstance(part, list)}
    schemas = {name: part for name, part in members.items() if name not in lists}
    kinds: dict[str, Json] = {
        "dependentRequired": {**lists},
        "dependentSchemas": schemas,
    }
    return {keyword: part for keyword, part in kinds.items() if part}


def _items(keyword: str, schema: dict[str, Json]) -> dict[str, Json]:
    items = schema.get("items")
    if not isinstance(items, list):
        return {"items": items} if keyword == "items" else {}
    if keyword == "items":
        return {"prefixItems": items} if items else {}
    return {"items": schema["additionalItems"]}


#: Formats that have another name since draft-04.
FORMATS = {"ip-address": "ipv4", "host-name": "hostname"}
_ANY = "any"


class CannotUpgradeError(ValueError):
    """The schema has no draft-04 form of the same meaning; the message states why."""


def upgraded(schema: Json, rule: str) -> tuple[Json, list[Change]]:
    """Return the draft-04 form of a draft-03 schema, and the changes.

    `$schema` is left to the caller. Each change names the rule.

    Raises:
        CannotUpgradeError: no draft-04 schema with the same meaning is known.
    """
    visible = {id(subschema) for subschema in subschemas(schema, DRAFT_03)}
    for ref, target in _local_targets(schema):
        if isinstance(target, dict) and target.get("required") is True:
            raise CannotUpgradeError(f"required stands behind the reference {ref}")
        if isinstance(target, dict) and id(target) not in visible and usage(target).old:
            raise CannotUpgradeError(f"{ref} leads where no keyword holds a schema")
    work = _Upgrade(rule=rule)
    result = edited(schema, DRAFT_03, work.translate)
    result = edited(result, DRAFT_04, work.leftover)
    still = {ref for ref, _ in _local_targets(result)}
    for ref, _ in _local_targets(schema):
        if ref not in still:
            raise CannotUpgradeError(f"{ref} leads to what the upgrade moves")
    return result, work.changes


class _Upgrade(msgspec.Struct):
    rule: str
    changes: list[Change] = []
    #: Schemas whose own `required: true` has given way to a list.
    _listing: list[dict[str, Json]] = []

    def _record(self, tokens: Tokens, before: Json, after: Json, note: str) -> None:
        self.changes.append(change_at(self.rule, tokens, before, after, note))

    def translate(self, tokens: Tokens, schema: Json) -> Json:
        """Return one schema in draft-04's keywords; the schemas inside are done."""
        if not isinstance(schema, dict):
            return schema
        result: dict[str, Json] = {}
        for keyword, value in schema.items():
            new_keyword, new = _from_draft_03(keyword, value)
            path = (*tokens, new_keyword or keyword)
            before, after = value, new
            if new_keyword != keyword:
                before = {keyword: value}
                after = {new_keyword: new} if new_keyword else ABSENT
            if after is not value:
                self._record(path, before, after, f"{keyword} of draft-03")
            if new_keyword:
                result[new_keyword] = new
        lifted = self._lifted(tokens, result)
        return lifted if self.changes else schema

    def _lifted(self, tokens: Tokens, schema: dict[str, Json]) -> dict[str, Json]:
        """Return a schema that lists its properties with `required: true`."""
        members, required = schema.get("properties"), schema.get("required", ABSENT)
        names: list[Json] = []
        properties: dict[str, Json] = {}
        for name, member in members.items() if isinstance(members, dict) else ():
            properties[name] = member
            if isinstance(member, dict) and member.get("required") is True:
                properties[name] = without(member, "required")
                gone = (*tokens, "properties", name, "required")
                self._record(gone, True, ABSENT, "required of draft-03")  # noqa: FBT003 (a JSON value)
                names.append(name)
            elif any(member is listing for listing in self._listing):
                names.append(name)
        if not names:
            return schema
        if isinstance(required, list):
            names = [*required, *(name for name in names if name not in required)]
        path, note = (*tokens, "required"), "required of its properties"
        self._record(path, required, names, note)
        lifted: dict[str, Json] = {
            **schema,
            "properties": properties,
            "required": names,
        }
        if required is True:
            self._listing.append(lifted)
        return lifted

    def leftover(self, tokens: Tokens, schema: Json) -> Json:
        """Return the schema without a boolean `required` that means nothing."""
        value = schema.get("required") if isinstance(schema, dict) else None
        if not isinstance(schema, dict) or not isinstance(value, bool):
            return schema
        note = "what is not said to be required is optional"
        if value:
            note = "required says nothing but in a property"
        self._record((*tokens, "required"), value, ABSENT, note)
        return without(schema, "required")


def _from_draft_03(keyword: str, value: Json) -> tuple[str, Json]:
    """Return a keyword and its value in draft-04; an empty keyword where it goes."""
    if keyword == "divisibleBy":
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise CannotUpgradeError(f"divisibleBy is {write(value)[:80]}")
        return "multipleOf", value
    items: list[Json] = value if isinstance(value, list) else [value]
    if keyword == "extends":
        if not items or not all(isinstance(base, dict) for base in items):
            raise CannotUpgradeError("extends holds no schema")
        return "allOf", items
    if keyword == "disallow":
        return "not", _any_of_types(value, keyword)
    if keyword == "type" and _ANY in items:
        return "", None
    holds_schema = any(isinstance(item, dict) for item in items)
    if keyword == "type" and value is items and holds_schema:
        return "anyOf", _any_of_types(value, keyword)["anyOf"]
    if keyword == "dependencies" and isinstance(value, dict):
        needed: dict[str, Json] = {
            name: [part] if isinstance(part, str) else part
            for name, part in value.items()
        }
        value = value if needed == value else needed
    elif keyword == "format" and isinstance(value, str):
        value = FORMATS.get(value, value)
    return keyword, value


def _any_of_types(value: Json, keyword: str) -> dict[str, Json]:
    types = [value] if isinstance(value, str) else value
    if not isinstance(types, list) or not types:
        raise CannotUpgradeError(f"{keyword} holds no type")
    if _ANY in types:
        return {}
    names: list[Json] = [item for item in types if isinstance(item, str)]
    schemas: list[Json] = [item for item in types if isinstance(item, dict)]
    if len(names) + len(schemas) < len(types):
        raise CannotUpgradeError(f"{keyword} holds what is no type")
    named: dict[str, Json] = {"type": names[0] if len(names) == 1 else names}
    if not schemas:
        return named
    return {"anyOf": [named, *schemas] if names else schemas}


def _local_targets(schema: Json) -> Iterator[tuple[str, Json]]:
    for subschema in subschemas(schema, ANY_DIALECT):
        ref = subschema.get("$ref")
        if isinstance(ref, str) and ref.startswith("#"):
            try:
                yield ref, at(schema, tokens_of_fragment(ref))
            except LookupError:
                continue
