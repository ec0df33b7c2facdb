"""Edits that keep all values, under proven conditions; the canonical form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.fit.edits import DIALECT, Keywords, SchemaObject, Sites, asserting
from curation.fit.narrowing import without_false
from curation.fit.scan import enumerated, list_types, read_properties, read_required
from curation.fit.shapes import SHAPE
from curation.instances.constraints.keyword_values import KNOWN_FORMATS
from curation.json.pointer import Tokens, at, to_fragment, tokens_of_fragment
from curation.json.values import identity
from curation.references.schema import Schema
from curation.schema.keywords import TYPE_OF_KEYWORD
from curation.schema.subschemas import edited, subschemas, walk, without

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson

#: The name in `$defs` of a root that references point to.
_ROOT: Final = "root"
#: Keywords whose schemas have another order in the canonical form.
_BRANCHES: Final = frozenset({"anyOf", "oneOf", "allOf"})


def one_of_as_any_of(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Write `oneOf` as `anyOf`: equal where its branches exclude each other."""
    if "oneOf" not in schema or "anyOf" in schema:
        return schema
    return {
        "anyOf" if name == "oneOf" else name: value for name, value in schema.items()
    }


def has_exclusive_branches(schema: UntypedJson) -> bool:
    """Return whether the constants, or else the types, of all `oneOf` branches differ.

    Example:
        >>> has_exclusive_branches({"oneOf": [{"const": 1}, {"enum": [2, 3]}]})
        True
    """
    branches = [
        branch if isinstance(branch, dict) else {} for branch in schema["oneOf"]
    ]
    constants = [
        {identity(value) for _, values in enumerated(branch) for value in values}
        for branch in branches
    ]
    types = [
        {"number" if name == "integer" else name for name in list_types(branch)}
        for branch in branches
    ]
    return any(
        all(groups) and sum(map(len, groups)) == len(set().union(*groups))
        for groups in (constants, types)
    )


def implied_keyword_dropped(schema: SchemaObject, keywords: Keywords) -> SchemaObject:
    """Take out keywords: equal where something else implies them."""
    return without(schema, *keywords)


def unknown_format_dropped(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Take out a format that no validator asserts."""
    if schema.get("format") in KNOWN_FORMATS:
        return schema
    return without(schema, "format")


def idle_dropped(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Take out keywords about other types than the only one of a schema."""
    kind = schema.get("type")
    family = "number" if kind == "integer" else kind
    idle = [
        keyword for keyword in schema if TYPE_OF_KEYWORD.get(keyword, family) != family
    ]
    return without(schema, *idle) if isinstance(kind, str) else schema


def unnamed(schema: UntypedJson, _sites: Sites) -> UntypedJson:
    """Take out identifiers and anchors that no reference uses."""

    def change(_tokens: Tokens, part: UntypedJson) -> UntypedJson:
        names = ("$id", "id", "$anchor")
        return without(part, *names) if isinstance(part, dict) else part

    result: Json = edited(schema, DIALECT, change)
    # A pointer is read from the identifier above it.
    return result if _targets(result) == _targets(schema) else schema


def _targets(schema: Json) -> dict[Tokens, Tokens]:
    """Return the path of each `$ref`, and of its target."""
    document = Schema(schema, DIALECT)
    targets: dict[Tokens, Tokens] = {}
    for reference in document.references:
        target = document.lookup(reference.text, reference.base)
        if target is not None and reference.keyword == "$ref":
            targets[reference.tokens] = target.tokens
    return targets


def with_defs(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Write `definitions` at the root as `$defs`."""
    keywords = frozenset().union(*sites.keywords.values())
    if not {"definitions"} <= schema.keys() & keywords or "$defs" in schema:
        return schema
    if Schema(schema, DIALECT).inner_resources:
        return schema
    start = "#/definitions/"

    def change(_tokens: Tokens, part: UntypedJson) -> UntypedJson:
        reference = part.get("$ref") if isinstance(part, dict) else None
        if not isinstance(reference, str) or not reference.startswith(start):
            return part
        return {**part, "$ref": f"#/$defs/{reference.removeprefix(start)}"}

    result: UntypedJson = edited(schema, DIALECT, change)
    return {"$defs" if name == "definitions" else name: result[name] for name in result}


def const_as_enum(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Write `const` as an `enum` of one."""
    if "const" not in schema or "enum" in schema:
        return schema
    return {**without(schema, "const"), "enum": [schema["const"]]}


def branch_by_type(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Write a list of types as an `anyOf` of one each."""
    types = schema.get("type")
    if not isinstance(types, list) or "anyOf" in schema or SHAPE in schema:
        return schema
    keywords = asserting(schema) - {"type"}
    branches = []
    for kind in types:
        family = "number" if kind == "integer" else kind
        about = [
            keyword
            for keyword in schema
            if keyword in keywords and TYPE_OF_KEYWORD.get(keyword, family) == family
        ]
        branches.append({"type": kind, **{name: schema[name] for name in about}})
    return {**without(schema, "type", *keywords), "anyOf": branches}


def with_members(schema: SchemaObject, keywords: Keywords) -> SchemaObject:
    """Write out that no property is declared, or that any element is allowed."""
    return {**schema, **{name: schema.get(name, {}) for name in keywords}}


def length_as_pattern(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Write the limits of a string's length as a pattern."""
    if schema.get("type") != "string" or "pattern" in schema:
        return schema
    minimum, maximum = schema.get("minLength", 0), schema.get("maxLength", "")
    pattern = rf"^[\s\S]{{{minimum},{maximum}}}$"
    return {**without(schema, "minLength", "maxLength"), "pattern": pattern}


def root_inlined(schema: UntypedJson, _sites: Sites) -> UntypedJson:
    """Put the target of the root's reference at the root."""
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    if Schema(schema, DIALECT).inner_resources:
        return schema
    target = at(schema, tokens_of_fragment(reference))
    if not isinstance(target, dict) or asserting(schema) != {"$ref"}:
        return schema
    return {**target, **without(schema, "$ref")}


def pointed(schema: UntypedJson, _sites: Sites) -> UntypedJson:
    """Write references as pointers; a referenced root moves into `$defs`."""
    targets = _targets(schema)
    start = ("$defs", _ROOT) if () in targets.values() else ()

    def change(tokens: Tokens, part: UntypedJson) -> UntypedJson:
        if tokens not in targets or not isinstance(part, dict):
            return part
        target = targets[tokens]
        path = target if target[:1] == ("$defs",) else (*start, *target)
        return {**part, "$ref": to_fragment(path)}

    result: UntypedJson = edited(schema, DIALECT, change)
    definitions = result.get("$defs", {})
    if not start or _ROOT in definitions or SHAPE in schema:
        return schema if start else result
    root = without(result, "$defs", "$schema")
    return {
        **{name: result[name] for name in result if name == "$schema"},
        "$ref": to_fragment(start),
        "$defs": {**definitions, _ROOT: root},
    }


def merged(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Write the objects that `allOf` puts together as one."""
    led_to = {
        target[: number + 1]
        for target in _targets(schema).values()
        for number, step in enumerate(target)
        if step == "allOf"
    }

    def change(tokens: Tokens, part: UntypedJson) -> UntypedJson:
        if tokens not in sites.keywords or not isinstance(part, dict):
            return part
        if (*tokens, "allOf") in led_to:
            return part
        # Properties unknown to all branches are refused next to them, as by `closed`.
        is_closed = part.get("unevaluatedProperties") is False
        inner = without(part, "unevaluatedProperties") if is_closed else part
        whole = _together(inner, schema, ()) if "allOf" in part else None
        if whole is None:
            return part
        return {**whole, "additionalProperties": False} if is_closed else whole

    return edited(schema, DIALECT, change)


#: Keywords that merged objects may have.
_TOGETHER: Final = frozenset({"type", "properties", "required", "allOf", "$ref"})


def _together(
    part: UntypedJson, root: Json, followed: tuple[str, ...]
) -> SchemaObject | None:
    """Return one object that replaces a schema with its `allOf` and `$ref`.

    Args:
        part: The schema.
        root: The document that references lead into.
        followed: The references on the way to it.

    Returns:
        None where it asks for more than properties, or differently for one of them.
    """
    if not isinstance(part, dict) or not {"$id", "$anchor", SHAPE}.isdisjoint(part):
        return None
    if part.get("type", "object") != "object" or not asserting(part) <= _TOGETHER:
        return None
    branches = [*part.get("allOf", ())]
    if "$ref" in part:
        reference = part["$ref"]
        if not reference.startswith("#/") or reference in followed:
            return None
        followed = (*followed, reference)
        branches.insert(0, at(root, tokens_of_fragment(reference)))
    whole: SchemaObject = {"properties": {}, "required": []}
    wholes = [_together(branch, root, followed) for branch in branches]
    for other in (*wholes, without(part, "allOf", "$ref")):
        if other is None:
            return None
        properties = whole["properties"]
        for name, value in read_properties(other).items():
            if identity(properties.setdefault(name, value)) != identity(value):
                return None
        names = dict.fromkeys([*whole["required"], *read_required(other)])
        whole |= {**other, "properties": properties, "required": [*names]}
    return whole


def normalised(schema: UntypedJson, _sites: Sites) -> UntypedJson:
    """Write a schema in its canonical form, in which `anyOf` replaces others."""
    return schema


def tidied(schema: UntypedJson) -> UntypedJson:
    """Return a canonical form in the keywords that people write: closed objects.

    Unchanged if it has `unevaluatedProperties`, which depends on its siblings.
    """
    if any("unevaluatedProperties" in part for part in subschemas(schema, DIALECT)):
        return schema

    def change(_tokens: Tokens, part: UntypedJson) -> UntypedJson:
        if not isinstance(part, dict) or part.get("type") != "object":
            return without_false(part)
        names, patterns = part.get("propertyNames"), part.get("patternProperties")
        properties, values = read_properties(part), _enumerated(names)
        if values is not None and not patterns:
            additional = part.get("additionalProperties", True)
            part = {
                **without(part, "propertyNames"),
                "properties": {
                    name: properties.get(name, additional) for name in values
                },
                "additionalProperties": False,
            }
        pattern = names.get("pattern") if isinstance(names, dict) else None
        if patterns and [*patterns] == [pattern] and not properties:
            part = {
                **without(part, "patternProperties"),
                "additionalProperties": patterns[pattern],
            }
        return without_false(part)

    result = edited(schema, DIALECT, change)
    return schema if result is False else result


def _enumerated(names: UntypedJson) -> list[str] | None:
    """Return the names that a schema of names enumerates, or None."""
    if not isinstance(names, dict) or names.get("type", "string") != "string":
        return None
    if names.keys() - {"type"} not in ({"enum"}, {"const"}):
        return None
    values = names["enum"] if "enum" in names else [names["const"]]
    return [value for value in values if isinstance(value, str)]


def restored(schema: UntypedJson, like: UntypedJson) -> UntypedJson:
    """Return a schema with the annotations and the order of properties of another.

    A model writes an object's members in the order of the schema: what it is to think
    of first must stand first. An object has the order of the one with the same names,
    then of the one at the same location, and otherwise names stand as first met.
    """
    orders: dict[Tokens | frozenset[str], list[str]] = {}
    ranks: dict[str, int] = {}
    about: dict[Tokens, SchemaObject] = {}
    for location in walk(like, DIALECT):
        keywords, names = location.keywords, [*read_properties(location.keywords)]
        orders[location.tokens] = names
        orders.setdefault(frozenset(names), names)
        for name in names:
            ranks.setdefault(name, len(ranks))
        if _BRANCHES.isdisjoint(location.tokens):
            about[location.tokens] = {
                name: keywords[name]
                for name in ("title", "description")
                if name in keywords
            }

    def change(tokens: Tokens, part: UntypedJson) -> UntypedJson:
        if not isinstance(part, dict):
            return part
        part, properties = {**about.get(tokens, {}), **part}, read_properties(part)
        if not properties:
            return part
        others = sorted(properties, key=lambda name: ranks.get(name, len(ranks)))
        first = orders.get(frozenset(properties)) or orders.get(tokens, [])
        names = dict.fromkeys([*first, *others])
        ordered = {name: properties[name] for name in names if name in properties}
        return {**part, "properties": ordered}

    return edited(schema, DIALECT, change)
