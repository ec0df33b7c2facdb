"""Judge a schema by a profile: each part that the target refuses, ignores or routes.

Every subschema is looked at once, definitions and the targets of local references
included, whether or not validation would enter it: a target reads the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import msgspec

from curation.core.json_types import Json
from curation.fit.profile import Effect, Evidence, Profile, Rule
from curation.json.pointer import Tokens, pointer
from curation.json.values import SameObject, identity, type_of
from curation.references.schema import Reference, Schema
from curation.schema.dialects import ANY_DIALECT, declared
from curation.schema.keywords import ANNOTATIONS, CONTAINERS, KNOWN_KEYWORDS
from curation.schema.subschemas import SchemaLocation, subschema_locations
from curation.system.escaping import shortened


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a schema that a target does not take as it is meant."""

    #: JSON pointer of the schema location, with the keyword if it stands there.
    pointer: str
    #: Empty if the finding is about no single keyword.
    keyword: str
    #: The name of the check: a key of `curation.fit.profile.PARAMETERS`.
    rule: str
    effect: Effect
    sentence: str
    #: Title and date of the source.
    source: str
    evidence: Evidence


#: The effects with which a request fails.
FAILING: Final = frozenset({Effect.REFUSED, Effect.LIMITED})
#: Applicators that a schema's own type says nothing about.
_IN_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
_ABOUT_OBJECTS: Final = frozenset({"properties", "additionalProperties"})
_SHOWN: Final = 60


def is_taken(findings: Sequence[Finding]) -> bool:
    """Return whether the target takes the schema, ignored parts or not."""
    return all(finding.effect not in FAILING for finding in findings)


def judge_fit(schema: Json, profile: Profile) -> tuple[Finding, ...]:
    """Return what a target does not take, or not as it is meant; empty if nothing.

    Args:
        schema: Any JSON value; it is read in the dialect that it declares.
        profile: The target.

    Example:
        >>> profile = load_profile("openai-strict")
        >>> [it.rule for it in judge_fit({"type": "object"}, profile)]
        ['open-object']
    """
    scan = _scan(SameObject(schema))
    if scan is None:
        return (_NO_SCHEMA,)
    return tuple(
        Finding(
            pointer=pointer(found.tokens),
            keyword=found.keyword,
            rule=rule.check,
            effect=rule.effect,
            sentence=f"{found.sentence}{f'; {rule.note}' if rule.note else ''}",
            source=f"{source.title} ({source.date})",
            evidence=source.evidence,
        )
        for rule in profile.rules
        for source in (profile.sources[rule.source],)
        for found in CHECKS[rule.check](scan, rule)
    )


def untold_keywords(schema: Json, profile: Profile) -> tuple[str, ...]:
    """Return the keywords of a schema of which no source tells anything, sorted.

    Annotations constrain nothing and are left out.
    """
    scan = _scan(SameObject(schema))
    if scan is None or any(rule.check == "other-keyword" for rule in profile.rules):
        return ()
    told = {name for rule in profile.rules for name in _keywords_of(rule)}
    used = {name for place in scan.places for name in place.keywords}
    quiet = ANNOTATIONS - {"format"}
    return tuple(sorted((used & KNOWN_KEYWORDS) - told - quiet - set(profile.taken)))


def _keywords_of(rule: Rule) -> tuple[str, ...]:
    told = {"keyword": rule.names, "root-keyword": rule.names}
    return told.get(rule.check, ()) or {
        "format": ("format",),
        "pattern": ("pattern",),
        "enum-type": ("enum", "const"),
        "open-object": ("additionalProperties",),
        "optional-property": ("required",),
    }.get(rule.check, ())


_NO_SCHEMA: Final = Finding(
    pointer="",
    keyword="",
    rule="not-a-schema",
    effect=Effect.REFUSED,
    sentence="no JSON Schema: neither an object nor a boolean",
    source="JSON Schema core 4.3 (2020-12)",
    evidence=Evidence.DOCUMENTED,
)


@dataclass(frozen=True, slots=True)
class _Found:
    tokens: Tokens
    keyword: str
    sentence: str


class _Scan:
    """Everything that checks ask about one schema, computed once."""

    def __init__(self, schema: Json) -> None:
        stated = schema.get("$schema") if isinstance(schema, dict) else None
        dialect = declared(stated) or ANY_DIALECT
        self.document = Schema(schema, dialect)
        self.targets: dict[Tokens, Tokens | None] = {}
        places: dict[Tokens, SchemaLocation] = {}
        starts: list[tuple[Tokens, Json]] = [((), schema)]
        while starts:
            start, value = starts.pop()
            for place in subschema_locations(value, dialect):
                tokens = start + place.tokens
                places.setdefault(tokens, SchemaLocation(tokens, place.schema))
            if start == ():
                starts += [
                    target
                    for target in self._follow()
                    if isinstance(target[1], dict | bool) and target[0] not in places
                ]
        self.places = list(places.values())

    def _follow(self) -> Iterator[tuple[Tokens, Json]]:
        for reference in self.references:
            target = self.document.lookup(reference.text, reference.base)
            self.targets[reference.tokens] = None if target is None else target.tokens
            if target is not None:
                yield target.tokens, target.schema

    @cached_property
    def references(self) -> list[Reference]:
        """The references whose value is a string."""
        scanned = self.document.scanned.references
        return [it for it in scanned if isinstance(it.value, str)]

    @cached_property
    def recursive(self) -> frozenset[Tokens]:
        """The schemas whose reference leads, by way of others, back above itself."""
        inside: dict[Tokens, set[Tokens]] = {
            target: set() for target in self.targets.values() if target is not None
        }
        above: dict[Tokens, list[Tokens]] = {}
        for tokens, target in self.targets.items():
            lengths = range(len(tokens) + 1)
            above[tokens] = [tokens[:n] for n in lengths if tokens[:n] in inside]
            if target is not None:
                for holder in above[tokens]:
                    inside[holder].add(target)
        reached = {target: _reached(target, inside) for target in inside}
        return frozenset(
            tokens
            for tokens, target in self.targets.items()
            if target is not None and not reached[target].isdisjoint(above[tokens])
        )

    @cached_property
    def depth(self) -> int:
        """The most objects and arrays inside each other, references followed."""
        depths: dict[Tokens, int] = {}
        # One pass for each reference on the way; those that come back count nothing.
        for _ in range(1 + len(self.targets)):
            before = dict(depths)
            #: Of the values inside, by the schema around.
            inner: dict[Tokens, int] = {}
            for place in reversed(self.places):
                tokens = place.tokens
                own = _is_nested(place.schema) + inner.get(tokens, 0)
                target = self.targets.get(tokens)
                if target is not None and tokens not in self.recursive:
                    own = max(own, depths.get(target, 0))
                depths[tokens] = max(own, depths.get(tokens, 0))
                holder, keyword = self.holders.get(tokens, ((), "$defs"))
                if keyword in _IN_PLACE:
                    depths[holder] = max(depths.get(holder, 0), depths[tokens])
                elif keyword not in CONTAINERS:
                    inner[holder] = max(inner.get(holder, 0), depths[tokens])
            if depths == before:
                break
        return depths.get((), 0)

    @cached_property
    def holders(self) -> dict[Tokens, tuple[Tokens, str]]:
        """The schema directly around each, and the keyword there."""
        known = {place.tokens for place in self.places}
        holders: dict[Tokens, tuple[Tokens, str]] = {}
        for tokens in known:
            for length in range(len(tokens) - 1, -1, -1):
                if tokens[:length] in known:
                    holders[tokens] = tokens[:length], tokens[length]
                    break
        return holders


def _reached(start: Tokens, inside: Mapping[Tokens, set[Tokens]]) -> set[Tokens]:
    reached, waiting = {start}, [start]
    while waiting:
        for following in inside[waiting.pop()] - reached:
            reached.add(following)
            waiting.append(following)
    return reached


@lru_cache(maxsize=2)
def _scan(key: SameObject[Json]) -> _Scan | None:
    return _Scan(key.value) if isinstance(key.value, dict | bool) else None


def types_of(schema: Mapping[str, Json]) -> frozenset[str]:
    """Return the names that a schema's `type` has; none if it has no such keyword."""
    value = schema.get("type")
    names = value if isinstance(value, list) else [value]
    return frozenset(name for name in names if isinstance(name, str))


def is_object_schema(schema: Mapping[str, Json]) -> bool:
    """Return whether a schema says that it is about objects."""
    types = types_of(schema)
    return "object" in types or (not types and not _ABOUT_OBJECTS.isdisjoint(schema))


def _is_nested(schema: Json) -> int:
    if not isinstance(schema, dict):
        return 0
    return int(is_object_schema(schema) or "array" in types_of(schema))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _quoted(value: Json) -> str:
    return f"`{shortened(msgspec.json.encode(value).decode(), _SHOWN)}`"


def _properties(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    value = schema.get("properties")
    return value if isinstance(value, dict) else {}


def _required(schema: Mapping[str, Json]) -> list[Json]:
    value = schema.get("required")
    return value if isinstance(value, list) else []


def _keyword(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    taken = {identity(value) for value in rule.values}
    for place in scan.places:
        schema = place.keywords
        for name in rule.names:
            if name not in schema or identity(schema[name]) in taken:
                continue
            beside = [other for other in rule.beside if other in schema]
            if rule.beside and not beside:
                continue
            if rule.types and types_of(schema).isdisjoint(rule.types):
                continue
            what = f"`{name}` beside `{beside[0]}`" if beside else f"`{name}`"
            value = f": {_quoted(schema[name])}" if taken else ""
            only = f" (only {_listed([_quoted(it) for it in rule.values])})"
            sentence = f"{what}{value}{only if taken else ''} is {_DONE[rule.effect]}"
            yield _Found((*place.tokens, name), name, sentence)


_DONE: Final = {
    Effect.REFUSED: "refused",
    Effect.LIMITED: "over the limit",
    Effect.IGNORED: "ignored",
    Effect.ROUTED: "left to another engine",
}


def _other_keyword(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    taken = frozenset(rule.names)
    for place in scan.places:
        for name in place.keywords:
            if name not in taken:
                sentence = f"`{shortened(name, _SHOWN)}` is {_DONE[rule.effect]}"
                yield _Found((*place.tokens, name), name, sentence)


def _root_type(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    value = scan.document.value
    types = types_of(value) if isinstance(value, dict) else frozenset()
    if not types or not types <= set(rule.names):
        own = f"its `type` is {_quoted(value['type'])}" if types else "it has no `type`"
        sentence = f"the root must be of type {_listed(rule.names)}, and {own}"
        yield _Found(("type",) if types else (), "type", sentence)


def _root_keyword(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for name in rule.names:
        if name in scan.document.root.keywords:
            sentence = f"`{name}` at the root is {_DONE[rule.effect]}"
            yield _Found((name,), name, sentence)


def _boolean_schema(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for place in scan.places:
        is_switch = place.tokens[-1:] in {("additionalProperties",), ("items",)}
        if isinstance(place.schema, bool) and not is_switch:
            sentence = f"a boolean for a schema is {_DONE[rule.effect]}"
            yield _Found(place.tokens, "", sentence)


def _untyped(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for place in scan.places:
        if isinstance(place.schema, dict) and place.keywords.keys().isdisjoint(
            ("type", *rule.names)
        ):
            words = _listed([f"`{name}`" for name in ("type", *rule.names)])
            sentence = f"a schema with none of {words} is {_DONE[rule.effect]}"
            yield _Found(place.tokens, "type", sentence)


def _type_list(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for place in scan.places:
        if isinstance(place.keywords.get("type"), list):
            sentence = f"a list of types is {_DONE[rule.effect]}"
            yield _Found((*place.tokens, "type"), "type", sentence)


def _open_object(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for place in scan.places:
        schema = place.keywords
        if not is_object_schema(schema) or schema.get("additionalProperties") is False:
            continue
        has_one = "additionalProperties" in schema
        tokens = (*place.tokens, "additionalProperties") if has_one else place.tokens
        own = _quoted(schema["additionalProperties"]) if has_one else "missing"
        sentence = f"an object needs `additionalProperties: false`, and it is {own}"
        yield _Found(tokens, "additionalProperties", f"{sentence}: {rule.effect}")


def _optional_property(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for place in scan.places:
        required = _required(place.keywords)
        names = {name for name in required if isinstance(name, str)}
        for name in _properties(place.keywords):
            if name not in names:
                tokens = (*place.tokens, "properties", name)
                own = f"property {_quoted(name)} is not in `required`"
                yield _Found(tokens, "required", f"{own}: {_DONE[rule.effect]}")


def _format(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    taken = frozenset(rule.names)
    for place in scan.places:
        value = place.keywords.get("format")
        if isinstance(value, str) and value not in taken:
            sentence = f"format {_quoted(value)} is {_DONE[rule.effect]}"
            yield _Found((*place.tokens, "format"), "format", sentence)


def _enum_type(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    taken = frozenset(rule.names)
    for place in scan.places:
        for keyword, values in _enumerated(place.keywords):
            types = {_json_type(value) for value in values} - taken
            if types:
                sentence = f"{_listed(sorted(types))} in `{keyword}`"
                tokens = (*place.tokens, keyword)
                yield _Found(tokens, keyword, f"{sentence}: {_DONE[rule.effect]}")


def _json_type(value: Json) -> str:
    name = type_of(value)
    return "number" if name == "integer" else name


def _enumerated(schema: Mapping[str, Json]) -> Iterator[tuple[str, list[Json]]]:
    values = schema.get("enum")
    if isinstance(values, list):
        yield "enum", values
    if "const" in schema:
        yield "const", [schema["const"]]


#: Inside `[...]` only escapes are looked at.
_CLASS: Final = r"\[(?:\\.|[^\]\\])*\]"
_OUTSIDE: Final = re.compile(rf"{_CLASS}|\\[^bBkpP1-9dDwWsS]", re.DOTALL)
#: What a pattern may use, by the text that is left of it without classes and literal
#: escapes; `anchors` and `class-escape` look at the whole.
_FEATURES: Final[Mapping[str, re.Pattern[str]]] = {
    "lookaround": re.compile(r"\(\?<?[=!]"),
    "back-reference": re.compile(r"\\[1-9]|\\k<"),
    "word-boundary": re.compile(r"\\[bB]"),
    "unicode-property": re.compile(r"\\[pP]\{"),
    "lazy-quantifier": re.compile(r"[*+?}]\?"),
    "named-group": re.compile(r"\(\?<[^=!]"),
}
#: The same, of the whole pattern.
_WHOLE: Final[Mapping[str, Callable[[str], bool]]] = {
    "unanchored": lambda text: not (text.startswith("^") and text.endswith("$")),
    "class-escape": lambda text: re.search(r"\\[dDwWsS]", text) is not None,
}
PATTERN_FEATURES: Final = (*_FEATURES, *_WHOLE)


def features_of(text: str) -> tuple[str, ...]:
    r"""Return the features of a pattern that some regex dialects lack.

    Example:
        >>> features_of(r"\d+(?=x)")
        ('lookaround', 'unanchored', 'class-escape')
    """
    bare = _OUTSIDE.sub("_", text)
    inside = [name for name, mark in _FEATURES.items() if mark.search(bare)]
    return (*inside, *(name for name, has in _WHOLE.items() if has(text)))


def _pattern(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for place in scan.places:
        text = place.keywords.get("pattern")
        if isinstance(text, str):
            used = [name for name in features_of(text) if name in rule.names]
            if used:
                sentence = f"pattern {_quoted(text)} ({_listed(used)})"
                tokens = (*place.tokens, "pattern")
                yield _Found(tokens, "pattern", f"{sentence}: {_DONE[rule.effect]}")


def _remote_reference(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for reference in scan.references:
        if not reference.text.startswith("#"):
            sentence = f"a reference to {_quoted(reference.text)}, which is not local,"
            tokens = (*reference.tokens, reference.keyword)
            done = f"{sentence} is {_DONE[rule.effect]}"
            yield _Found(tokens, reference.keyword, done)


def _recursive_reference(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for reference in scan.references:
        if reference.tokens in scan.recursive:
            sentence = f"{_quoted(reference.text)} is recursive: {_DONE[rule.effect]}"
            tokens = (*reference.tokens, reference.keyword)
            yield _Found(tokens, reference.keyword, sentence)


def _beside_reference(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    taken = frozenset(rule.names)
    for reference in scan.references:
        schema = scan.document.location_at(reference.tokens).keywords
        for name in schema:
            if name != reference.keyword and name not in taken:
                sentence = f"`{name}` beside `{reference.keyword}`"
                tokens = (*reference.tokens, name)
                yield _Found(tokens, name, f"{sentence} is {_DONE[rule.effect]}")


def _count(noun: str, count: Callable[[_Scan], int]) -> _Check:
    def check(scan: _Scan, rule: Rule) -> Iterator[_Found]:
        number, most = count(scan), rule.most or 0
        if number > most:
            yield _Found((), "", f"{number:,} {noun}, and at most {most:,} are taken")

    return check


def _schemas(scan: _Scan) -> Iterator[Mapping[str, Json]]:
    return (place.keywords for place in scan.places)


def _optional_count(scan: _Scan) -> int:
    return sum(
        name not in _required(schema)
        for schema in _schemas(scan)
        for name in _properties(schema)
    )


def _union_count(scan: _Scan) -> int:
    return sum(
        "anyOf" in schema or isinstance(schema.get("type"), list)
        for schema in _schemas(scan)
    )


def _characters(scan: _Scan) -> int:
    """Return the length of all names of properties and definitions, and of values."""
    count = 0
    for schema in _schemas(scan):
        for keyword in ("properties", "$defs", "definitions"):
            names = schema.get(keyword)
            count += sum(map(len, names)) if isinstance(names, dict) else 0
        for _, values in _enumerated(schema):
            count += sum(len(value) for value in values if isinstance(value, str))
    return count


def _enum_count(scan: _Scan) -> int:
    return sum(
        len(values)
        for schema in _schemas(scan)
        for keyword, values in _enumerated(schema)
        if keyword == "enum"
    )


_Check = Callable[[_Scan, Rule], Iterator[_Found]]
#: The check of each name in `curation.fit.profile.PARAMETERS`.
CHECKS: Final[Mapping[str, _Check]] = {
    "keyword": _keyword,
    "other-keyword": _other_keyword,
    "root-type": _root_type,
    "root-keyword": _root_keyword,
    "boolean-schema": _boolean_schema,
    "untyped": _untyped,
    "type-list": _type_list,
    "open-object": _open_object,
    "optional-property": _optional_property,
    "format": _format,
    "enum-type": _enum_type,
    "pattern": _pattern,
    "remote-reference": _remote_reference,
    "recursive-reference": _recursive_reference,
    "beside-reference": _beside_reference,
    "depth": _count("levels of objects and arrays", lambda scan: scan.depth),
    "properties": _count(
        "properties", lambda scan: sum(len(_properties(it)) for it in _schemas(scan))
    ),
    "optional-properties": _count("optional properties", _optional_count),
    "unions": _count("unions (`anyOf` or a list of types)", _union_count),
    "enum-values": _count("values in `enum`", _enum_count),
    "characters": _count("characters in names and values", _characters),
}
