"""What of a schema its witnesses reach, by code that their maker does not use.

A *site* is a subschema of a property or an element; a *branch* is a member of an
`anyOf` or `oneOf` that has two or more. Both are *live* where a walk from the root
over applicators and references comes by: definitions that nothing uses are not, nor
what a `$ref` hides in drafts up to 7, nor a keyword that the `type` beside it makes
dead. A site is reached where a subschema that holds is applied to a value of an
instance: what jsonschema-rs's `evaluate` lists (JSON Schema core 2020-12, 12.4.4).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urldefrag, urljoin

import jsonschema_rs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Name of each dialect to its validator, oldest first.
VALIDATORS: Final[dict[str, Any]] = {
    "draft-04": jsonschema_rs.Draft4Validator,
    "draft-06": jsonschema_rs.Draft6Validator,
    "draft-07": jsonschema_rs.Draft7Validator,
    "2019-09": jsonschema_rs.Draft201909Validator,
    "2020-12": jsonschema_rs.Draft202012Validator,
}
_DRAFTS: Final = tuple(VALIDATORS)
_UNIONS: Final = ("anyOf", "oneOf")
#: Keywords that hold an array or an object of schemas for the value itself, and
#: those that hold one; each with the first draft that knows it.
_SEVERAL: Final = {
    "allOf": "draft-04",
    "anyOf": "draft-04",
    "oneOf": "draft-04",
    "dependencies": "draft-04",
    "dependentSchemas": "2019-09",
}
_CONSEQUENCES: Final = ("then", "else")
#: Keywords of the members of a value: the first draft, and the type of the value.
_MEMBERS: Final = {
    "properties": ("draft-04", "object"),
    "patternProperties": ("draft-04", "object"),
    "additionalProperties": ("draft-04", "object"),
    "items": ("draft-04", "array"),
    "additionalItems": ("draft-04", "array"),
    "prefixItems": ("2020-12", "array"),
}
_MAPS: Final = ("properties", "patternProperties")
_REFERENCES: Final = {
    "$ref": "draft-04",
    "$recursiveRef": "2019-09",
    "$dynamicRef": "2020-12",
}
#: Keywords whose schemas may hold for a value that need not meet them.
_TESTS: Final = frozenset({"not", "if", "contains", "propertyNames"})


@dataclass(slots=True)
class Live:
    """The live sites and branches of a schema, as JSON pointers."""

    sites: set[str] = field(default_factory=set)
    branches: set[str] = field(default_factory=set)


class Places:
    """Which pointer a URI with a fragment leads to, inside one document."""

    def __init__(self, schema: Any, dialect: str) -> None:  # noqa: ANN401 - any JSON
        """Take the document and the name of its dialect."""
        self._id = "id" if dialect == "draft-04" else "$id"
        self._resources = {"": ""}
        self._anchors: dict[str, str] = {}
        #: Pointer of each value to its base URI and the value.
        self.values: dict[str, tuple[str, Any]] = {}
        stack = [(schema, "", "")]
        while stack:
            value, where, base = stack.pop()
            if isinstance(value, dict):
                base = self._base_inside(value, where, base)
            self.values[where] = (base, value)
            stack += [(inner, f"{where}/{name}", base) for name, inner in _named(value)]

    def _base_inside(self, value: dict[str, Any], where: str, base: str) -> str:
        """Note the names of a schema object; return the base URI inside of it."""
        name = value.get(self._id)
        if isinstance(name, str):
            uri, fragment = urldefrag(urljoin(base, name))
            if fragment and name.startswith("#"):
                self._anchors.setdefault(f"{base}#{fragment}", where)
            elif uri:
                self._resources.setdefault(uri, where)
                base = uri
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(value.get(keyword), str):
                self._anchors.setdefault(f"{base}#{value[keyword]}", where)
        return base

    def pointer(self, uri: str) -> str | None:
        """Return the pointer that an absolute location leads to; None if nowhere."""
        start, fragment = urldefrag(uri)
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(f"{start}#{fragment}")
        resource = self._resources.get(start)
        return None if resource is None else resource + fragment


def _named(value: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - any JSON
    """Return the members of an object or array, each with its token of a pointer."""
    if isinstance(value, dict):
        return [
            (name.replace("~", "~0").replace("/", "~1"), member)
            for name, member in value.items()
        ]
    if isinstance(value, list):
        return [(str(index), member) for index, member in enumerate(value)]
    return []


def live_of(schema: Any, dialect: str) -> Live:  # noqa: ANN401 - any JSON
    """Return the live sites and branches of a schema."""
    draft = _DRAFTS.index(dialect)
    known = frozenset(_DRAFTS[: draft + 1])
    hides = draft <= _DRAFTS.index("draft-07")
    places, found = Places(schema, dialect), Live()
    stack, seen = [""], set()
    while stack:
        where = stack.pop()
        base, value = places.values.get(where, ("", None))
        if where in seen or not isinstance(value, dict):
            continue
        seen.add(where)
        for keyword, since in _REFERENCES.items():
            if since in known and isinstance(value.get(keyword), str):
                target = places.pointer(urljoin(base, value[keyword]))
                stack += [] if target is None else [target]
        if "$ref" in value and hides:
            continue
        stack += _for_the_value(value, where, known)
        for keyword in _UNIONS:
            branches = value.get(keyword)
            if isinstance(branches, list) and len(branches) > 1:
                at = range(len(branches))
                found.branches.update(f"{where}/{keyword}/{index}" for index in at)
        members = list(_for_the_members(value, where, known))
        found.sites.update(members)
        stack += members
    return found


def _for_the_value(
    value: dict[str, Any], where: str, known: frozenset[str]
) -> Iterator[str]:
    """Yield where the schemas stand that may apply to the same value."""
    for keyword, since in _SEVERAL.items():
        if since in known:
            for name, _ in _named(value.get(keyword)):
                yield f"{where}/{keyword}/{name}"
    if "if" in value and "draft-07" in known:
        yield from (f"{where}/{keyword}" for keyword in _CONSEQUENCES)


def _for_the_members(
    value: dict[str, Any], where: str, known: frozenset[str]
) -> Iterator[str]:
    """Yield where the schemas of properties and elements stand, `false` left out."""
    stated = value.get("type")
    types = [stated] if isinstance(stated, str) else stated
    for keyword, (since, kind) in _MEMBERS.items():
        held = value.get(keyword)
        if since not in known or (isinstance(types, list) and kind not in types):
            continue
        if keyword == "additionalItems" and not isinstance(value.get("items"), list):
            continue
        if isinstance(held, list) or keyword in _MAPS:
            for name, member in _named(held):
                if isinstance(member, dict) or member is True:
                    yield f"{where}/{keyword}/{name}"
        elif isinstance(held, dict):
            yield f"{where}/{keyword}"


def reached_of(schema: Any, dialect: str, witnesses: Iterable[Any]) -> set[str]:  # noqa: ANN401 - any JSON
    """Return the pointers of the subschemas that hold for a value of some witness."""
    validator = VALIDATORS[dialect](schema, validate_formats=True)
    places = Places(schema, dialect)
    found: set[str] = set()
    for witness in witnesses:
        stack = [(None, validator.evaluate(witness).hierarchical())]
        followed: dict[str, str | None] = {"": ""}
        while stack:
            parent, node = stack.pop()
            if not node["valid"]:
                continue
            where = _followed(places, node, followed)
            if where is not None and not _is_keyword(node, parent):
                found.add(where)
            stack += [(node, inner) for inner in _asked(node)]
    return found


def _followed(
    places: Places, node: dict[str, Any], followed: dict[str, str | None]
) -> str | None:
    """Return the pointer that a node's path of evaluation leads to; None if nowhere.

    A `schemaLocation` says less: where an `id` has a fragment (draft-04 allows it), it
    is the same for many schemas. It is what is left for dynamic references, whose
    target depends on how they are reached.

    Args:
        places: Of the schema.
        node: What is asked about.
        followed: The paths that were followed by now, with where they lead.
    """
    path: str = node["evaluationPath"]
    start = path
    while start not in followed:
        start = start.rpartition("/")[0]
    where = followed[start]
    for step in path[len(start) :].split("/")[1:]:
        base, value = places.values.get(where or "", ("", None))
        name = value.get(step) if isinstance(value, dict) else None
        if where is None or step not in _REFERENCES or not isinstance(name, str):
            where = None if where is None else f"{where}/{step}"
        elif step == "$ref":
            where = places.pointer(urljoin(base, name))
        else:
            place: str = node["schemaLocation"]
            # Without a URI it is the pointer itself, not a fragment.
            is_uri = "://" in place or "#" in place
            where = places.pointer(place) if is_uri else place
        start = f"{start}/{step}"
        followed[start] = where
    return where


def _is_keyword(node: dict[str, Any], parent: dict[str, Any] | None) -> bool:
    """Return whether a node is a keyword of members, not the schema that it holds.

    jsonschema-rs lists `items` at the array, too, where the array has no element.
    """
    last = node["evaluationPath"].rpartition("/")[2]
    return (
        parent is not None
        and last in _MEMBERS
        and node["instanceLocation"] == parent["instanceLocation"]
    )


def _asked(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the nodes below one that the value has to meet.

    What stands in `if` is left out, and `then` and `else`, which jsonschema-rs lists
    below it, are not. A property may have the name of such a keyword.
    """
    for inner in node.get("details", ()):
        last = inner["evaluationPath"].rpartition("/")[2]
        is_member = inner["instanceLocation"] == f"{node['instanceLocation']}/{last}"
        if last not in _TESTS or is_member or node["evaluationPath"].endswith(_MAPS):
            yield inner
        elif last == "if":
            for below in inner.get("details", ()):
                if below["evaluationPath"].endswith(("/then", "/else")):
                    yield below
