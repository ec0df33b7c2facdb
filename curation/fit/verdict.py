"""Judge a schema by a profile: each part that the target refuses, ignores or routes.

Every subschema is looked at once, definitions and the targets of local references
included, whether or not validation would enter it: a target reads the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import msgspec

from curation.core.json_types import Json
from curation.fit.profile import Effect, Evidence, Profile, Rule, Scope
from curation.json.pointer import Tokens, pointer
from curation.json.values import SameObject, identity, is_number, type_of
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


#: Keywords that constrain nothing, whatever a target does with them.
_QUIET: Final = ANNOTATIONS - {"format"}
#: The effects with which a request fails.
FAILING: Final = frozenset({Effect.REFUSED, Effect.LIMITED})
#: Applicators that a schema's own type says nothing about.
_IN_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
_ABOUT_OBJECTS: Final = frozenset({"properties", "additionalProperties"})
_SHOWN: Final = 60


def is_taken(findings: Sequence[Finding]) -> bool:
    """Return whether the target takes the schema, ignored parts or not."""
    return all(finding.effect not in FAILING for finding in findings)


def judge_fit(
    schema: Json, profile: Profile, *, tool: bool = False
) -> tuple[Finding, ...]:
    """Return what a target does not take, or not as it is meant; empty if nothing.

    Args:
        schema: Any JSON value; it is read in the dialect that it declares.
        profile: The target.
        tool: Whether it is the schema of a tool's parameters.

    Example:
        >>> profile = load_profile("openai-strict")
        >>> [it.rule for it in judge_fit({"type": "object"}, profile)]
        ['open-object']
    """
    scan = _scan(SameObject(schema))
    if scan is None:
        return (NOT_A_SCHEMA,)
    return tuple(
        _finding(found, rule, profile)
        for rule in profile.rules
        if tool or rule.scope is not Scope.TOOL
        for found in CHECKS[rule.check](scan, rule)
    )


def judge_request(schemas: Iterable[Json], profile: Profile) -> tuple[Finding, ...]:
    """Return the limits that the schemas of one request exceed together.

    Args:
        schemas: Of all tools in it, for instance.
        profile: The target.
    """
    scans = [_scan(SameObject(schema)) for schema in schemas]
    return tuple(
        _finding(found, rule, profile)
        for rule in profile.rules
        if rule.scope is Scope.REQUEST
        for found in _over_limit([scan for scan in scans if scan is not None], rule)
    )


def _finding(found: _Found, rule: Rule, profile: Profile) -> Finding:
    source = profile.sources[rule.source]
    return Finding(
        pointer=pointer(found.tokens),
        keyword=found.keyword,
        rule=rule.check,
        effect=rule.effect,
        sentence=f"{found.sentence}{f'; {rule.note}' if rule.note else ''}",
        source=f"{source.title} ({source.date})",
        evidence=source.evidence,
    )


def untold_keywords(schema: Json, profile: Profile) -> tuple[str, ...]:
    """Return the keywords of a schema of which no source tells anything, sorted.

    Annotations constrain nothing and are left out. Nothing is said of a target whose
    profile has no list of what is taken.
    """
    scan = _scan(SameObject(schema))
    if scan is None or not profile.taken:
        return ()
    told = {name for rule in profile.rules for name in _keywords_of(rule)}
    used = {name for place in scan.places for name in place.keywords}
    return tuple(sorted((used & KNOWN_KEYWORDS) - told - _QUIET - set(profile.taken)))


def _keywords_of(rule: Rule) -> tuple[str, ...]:
    told = {"keyword": rule.names, "root-keyword": rule.names}
    return told.get(rule.check, ()) or {
        "format": ("format",),
        "pattern": ("pattern",),
        "enum-type": ("enum", "const"),
        "open-object": ("additionalProperties",),
        "optional-property": ("required",),
    }.get(rule.check, ())


#: Of what no target takes.
NOT_A_SCHEMA: Final = Finding(
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


def _is_of(schema: Mapping[str, Json], types: Sequence[str]) -> bool:
    """Return whether a schema has one of the types, the empty one for none."""
    return not types or not (types_of(schema) or {""}).isdisjoint(types)


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
            if not _is_of(schema, rule.types):
                continue
            if rule.most is not None and not _exceeds(schema[name], rule.most):
                continue
            what = f"`{name}` beside `{beside[0]}`" if beside else f"`{name}`"
            if taken or rule.most is not None:
                what += f": {_quoted(schema[name])}"
            if taken:
                what += f" (not {_listed([_quoted(it) for it in rule.values])})"
            if rule.most is not None:
                what += f" (over {rule.most:,})"
            sentence = f"{what} is {_DONE[rule.effect]}"
            yield _Found((*place.tokens, name), name, sentence)


def _exceeds(value: Json, most: int) -> bool:
    return is_number(value) and value > most


_DONE: Final = {
    Effect.REFUSED: "refused",
    Effect.LIMITED: "over the limit",
    Effect.IGNORED: "ignored",
    Effect.ROUTED: "left to another engine",
}


def _other_keyword(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    quiet = frozenset(rule.names) | _QUIET
    for place in scan.places:
        for name in place.keywords:
            if name in KNOWN_KEYWORDS and name not in quiet:
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


def _undeclared_property(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for place in scan.places:
        for name in _required(place.keywords):
            if isinstance(name, str) and name not in _properties(place.keywords):
                own = f"required {_quoted(name)} is not in `properties`"
                tokens = (*place.tokens, "required")
                yield _Found(tokens, "required", f"{own}: {_DONE[rule.effect]}")


def _tuple(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for place in scan.places:
        if isinstance(place.keywords.get("items"), list):
            sentence = f"a list of schemas in `items` is {_DONE[rule.effect]}"
            yield _Found((*place.tokens, "items"), "items", sentence)


def _array_without_items(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for place in scan.places:
        if "array" in types_of(place.keywords) and "items" not in place.keywords:
            sentence = f"an array without `items` is {_DONE[rule.effect]}"
            yield _Found(place.tokens, "items", sentence)


def _format(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    taken = frozenset(rule.names)
    for place in scan.places:
        value = place.keywords.get("format")
        known = not isinstance(value, str) or value in taken
        if not known and _is_of(place.keywords, rule.types):
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


def _references(
    scan: _Scan, rule: Rule, what: str, has: Callable[[Reference], bool]
) -> Iterator[_Found]:
    for reference in scan.references:
        if has(reference):
            sentence = f"{_quoted(reference.text)} {what}: {_DONE[rule.effect]}"
            tokens = (*reference.tokens, reference.keyword)
            yield _Found(tokens, reference.keyword, sentence)


def _remote_reference(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    what = "leads out of the schema"
    return _references(
        scan,
        rule,
        what,
        lambda it: not it.text.startswith("#") and _leads_nowhere(scan, it),
    )


def _leads_nowhere(scan: _Scan, reference: Reference) -> bool:
    return scan.targets.get(reference.tokens) is None


def _dangling_reference(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    return _references(
        scan,
        rule,
        "leads nowhere",
        lambda it: it.text.startswith("#") and _leads_nowhere(scan, it),
    )


def _no_pointer(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    what = "is no pointer that begins with `#/`"
    return _references(scan, rule, what, lambda it: not it.text.startswith("#/"))


def _recursive_reference(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    what = "is recursive"
    return _references(scan, rule, what, lambda it: it.tokens in scan.recursive)


def _required_recursion(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    what = "is recursive in a required property"
    return _references(
        scan,
        rule,
        what,
        lambda it: it.tokens in scan.recursive and _is_required(scan, it.tokens),
    )


def _is_required(scan: _Scan, tokens: Tokens) -> bool:
    """Return whether the innermost property around a schema must be present."""
    while holder := scan.holders.get(tokens):
        around, keyword = holder
        if keyword == "properties":
            required = _required(scan.document.location_at(around).keywords)
            return tokens[len(around) + 1] in required
        tokens = around
    return False


def _reference_in(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    what = f"is in {_listed([f'`{name}`' for name in rule.names])}"
    return _references(
        scan,
        rule,
        what,
        lambda it: scan.holders.get(it.tokens, ((), ""))[1] in rule.names,
    )


def _nested_identifier(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for tokens in scan.document.scanned.inner_resources:
        keyword = scan.document.dialect.id_keyword
        sentence = f"`{keyword}` inside the schema is {_DONE[rule.effect]}"
        yield _Found((*tokens, keyword), keyword, sentence)


def _beside_reference(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    taken = frozenset(rule.names)
    for reference in scan.references:
        schema = scan.document.location_at(reference.tokens).keywords
        for name in schema:
            if name != reference.keyword and name not in taken:
                sentence = f"`{name}` beside `{reference.keyword}`"
                tokens = (*reference.tokens, name)
                yield _Found(tokens, name, f"{sentence} is {_DONE[rule.effect]}")


def _over_limit(scans: Sequence[_Scan], rule: Rule) -> Iterator[_Found]:
    noun, count = _COUNTS[rule.check]
    number, most = sum(map(count, scans)), rule.most or 0
    if number > most:
        whole = " in one request" if rule.scope is Scope.REQUEST else ""
        sentence = f"{number:,} {noun}{whole}, and at most {most:,} are taken"
        yield _Found((), "", sentence)


def _limit(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    yield from _over_limit([scan], rule)


def _long_enum(scan: _Scan, rule: Rule) -> Iterator[_Found]:
    for place in scan.places:
        for keyword, values in _enumerated(place.keywords):
            texts = [value for value in values if isinstance(value, str)]
            number, most = sum(map(len, texts)), rule.most or 0
            if len(texts) > rule.values[0] and number > most:
                sentence = f"{number:,} characters in {len(texts):,} values"
                tokens = (*place.tokens, keyword)
                yield _Found(
                    tokens, keyword, f"{sentence}, and at most {most:,} are taken"
                )


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


#: What is counted: the noun, and the number in one schema.
_COUNTS: Final[Mapping[str, tuple[str, Callable[[_Scan], int]]]] = {
    "depth": ("levels of objects and arrays", lambda scan: scan.depth),
    "properties": (
        "properties",
        lambda scan: sum(len(_properties(it)) for it in _schemas(scan)),
    ),
    "optional-properties": ("optional properties", _optional_count),
    "unions": ("unions (`anyOf` or a list of types)", _union_count),
    "enum-values": ("values in `enum`", _enum_count),
    "characters": ("characters in names and values", _characters),
    "tools": ("tools", lambda _scan: 1),
}
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
    "undeclared-property": _undeclared_property,
    "tuple": _tuple,
    "array-without-items": _array_without_items,
    "format": _format,
    "enum-type": _enum_type,
    "pattern": _pattern,
    "remote-reference": _remote_reference,
    "recursive-reference": _recursive_reference,
    "required-recursion": _required_recursion,
    "dangling-reference": _dangling_reference,
    "no-pointer": _no_pointer,
    "reference-in": _reference_in,
    "beside-reference": _beside_reference,
    "nested-identifier": _nested_identifier,
    "long-enum": _long_enum,
    **dict.fromkeys(_COUNTS, _limit),
}
