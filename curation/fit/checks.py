"""The checks that the rules of a profile name: each finds its places in a schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from curation.core.json_types import Json
from curation.fit.profile import Effect, ProfileRule, Scope
from curation.fit.scan import (
    Match,
    Scan,
    enumerated,
    is_object_schema,
    is_of_types,
    list_types,
    read_properties,
    read_required,
)
from curation.instances.constraints.keyword_values import read_array, read_object
from curation.json.values import identity, is_number, json_type
from curation.schema.keywords import (
    ANNOTATIONS,
    KNOWN_KEYWORDS,
    KeywordKind,
    names_of_kind,
)
from curation.system.words import shortened

if TYPE_CHECKING:
    from curation.json.pointer import Tokens
    from curation.references.schema import Reference
    from curation.schema.subschemas import SchemaLocation

#: Keywords that constrain nothing, whatever a target does with them.
QUIET: Final = (
    ANNOTATIONS | names_of_kind(KeywordKind.IDENTIFIER, KeywordKind.ANCHOR)
) - {"format"}
_SHOWN: Final = 60


#: From a scanned schema and a rule to the rule's matches.
Check: TypeAlias = Callable[[Scan, ProfileRule], Iterator[Match]]
#: The check of each name in `curation.fit.profile.PARAMETERS`.
CHECKS: Final[dict[str, Check]] = {}
DONE: Final = {
    Effect.REFUSED: "refused",
    Effect.LIMITED: "over the limit",
    Effect.IGNORED: "ignored",
    Effect.BLOCKED: "blocked",
    Effect.ROUTED: "left to another engine",
    Effect.UNKNOWN: "undocumented",
}


def _holds(scan: Scan, rule: ProfileRule, location: SchemaLocation) -> bool:
    """Return whether a schema has a type, and is in a place, that a rule is about."""
    held_by = scan.holders.get(location.tokens, ((), "root"))[1]
    is_in = not rule.places or held_by in rule.places
    return is_in and is_of_types(location.keywords, rule.types)


def _check(*names: str) -> Callable[[Check], Check]:
    """Return the decorator that adds a check to `CHECKS` by its names."""

    def add(check: Check) -> Check:
        CHECKS.update(dict.fromkeys(names, check))
        return check

    return add


def quoted(value: Json) -> str:
    """Return a value as short code."""
    return f"`{shortened(msgspec.json.encode(value).decode(), _SHOWN)}`"


def _at(
    rule: ProfileRule, tokens: Tokens, keyword: str, subject: str, then: str = " is "
) -> Match:
    """Return a rule's match at a keyword of the schema object with these tokens."""
    return Match((*tokens, keyword), keyword, f"{subject}{then}{DONE[rule.effect]}")


def measure_size(value: Json) -> float:
    """Return a number, or how many members there are."""
    if is_number(value):
        return value
    return len(value) if isinstance(value, dict | list) else 0


@_check("keyword")
def _keyword(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    accepted = {identity(value) for value in rule.values}
    for location in scan.having(rule.names):
        schema = location.keywords
        beside = [keyword for keyword in rule.beside if keyword in schema]
        if (rule.beside and not beside) or not _holds(scan, rule, location):
            continue
        for name in rule.names:
            if name not in schema or identity(schema[name]) in accepted:
                continue
            value, limit = schema[name], rule.most
            if limit is not None and measure_size(value) <= limit:
                continue
            subject = f"`{name}` beside `{beside[0]}`" if beside else f"`{name}`"
            if rule.places:
                subject += f" in {', '.join(rule.places)}"
            if accepted or limit is not None:
                subject += f": {quoted(value)}"
            if accepted:
                subject += f" (not {', '.join(map(quoted, rule.values))})"
            if limit is not None:
                subject += f" (over {limit:,})"
            yield _at(rule, location.tokens, name, subject)


@_check("other-keyword")
def _other_keyword(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    names = KNOWN_KEYWORDS - QUIET - frozenset(rule.names)
    for location in scan.having(names):
        for name in location.keywords:
            if name in names:
                yield _at(rule, location.tokens, name, f"`{shortened(name, _SHOWN)}`")


@_check("root-type")
def _root_type(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    root = scan.document.root.keywords
    types = list_types(root)
    if not types or not types <= set(rule.names):
        actual = (
            f"its `type` is {quoted(root['type'])}" if types else "it has no `type`"
        )
        sentence = f"the root must be of type {', '.join(rule.names)}, and {actual}"
        yield Match(("type",) if types else (), "type", sentence)


@_check("root-keyword")
def _root_keyword(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    for name in rule.names:
        if name in scan.document.root.keywords:
            yield _at(rule, (), name, f"`{name}` at the root")


@_check("boolean-schema")
def _boolean_schema(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    for location in scan.places:
        is_switch = location.tokens[-1:] == ("additionalProperties",)
        if isinstance(location.schema, bool) and not is_switch:
            sentence = f"a boolean for a schema is {DONE[rule.effect]}"
            yield Match(location.tokens, "", sentence)


@_check("untyped")
def _untyped(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    names = ("type", *rule.names)
    words = ", ".join(f"`{name}`" for name in names)
    for location in scan.places:
        if isinstance(location.schema, dict) and location.keywords.keys().isdisjoint(
            names
        ):
            sentence = f"a schema with none of {words} is {DONE[rule.effect]}"
            yield Match(location.tokens, "type", sentence)


@_check("array-without-items", "object-without-properties")
def _without(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    kind, _, keyword = rule.check.split("-")
    for location in scan.having(["type"]):
        lacks = (
            kind in list_types(location.keywords) and keyword not in location.keywords
        )
        if lacks and _holds(scan, rule, location):
            sentence = f"an {kind} without `{keyword}` is {DONE[rule.effect]}"
            yield Match(location.tokens, keyword, sentence)


@_check("property-key")
def _property_key(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    for location in scan.having(["properties"]):
        for name in read_properties(location.keywords):
            if _holds(scan, rule, location) and not is_name(name, rule):
                sentence = f"the key {quoted(name)} is {DONE[rule.effect]}"
                tokens = (*location.tokens, "properties", name)
                yield Match(tokens, "", f"{sentence} (not `{rule.values[0]}`)")


def is_name(name: str, rule: ProfileRule) -> bool:
    """Return whether a rule's regular expression matches the whole of a name."""
    return re.fullmatch(str(rule.values[0]), name) is not None


@_check("any", "tool-name", "tool-name-twice")
def _of_requests(_scan: Scan, _rule: ProfileRule) -> Iterator[Match]:
    """Find nothing: a schema alone has no name, and `any` accepts it."""
    yield from ()


#: The keyword that holds a list, and what that is.
_LISTS: Final = {
    "type-list": ("type", "a list of types"),
    "tuple": ("items", "a list of schemas in `items`"),
}


@_check(*_LISTS)
def _list(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    keyword, subject = _LISTS[rule.check]
    for location in scan.having([keyword]):
        if isinstance(location.keywords[keyword], list):
            yield _at(rule, location.tokens, keyword, subject)


@_check("open-object")
def _open_object(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    keyword = "additionalProperties"
    for location in scan.having(["type", "properties", keyword]):
        schema, tokens, actual = location.keywords, location.tokens, "missing"
        if not is_object_schema(schema) or schema.get(keyword) is False:
            continue
        if keyword in schema:
            tokens, actual = (*tokens, keyword), quoted(schema[keyword])
        sentence = f"an object needs `{keyword}: false`, and it is {actual}"
        yield Match(tokens, keyword, f"{sentence}: {rule.effect}")


@_check("optional-property")
def _optional_property(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    for location in scan.having(["properties"]):
        required = {
            entry
            for entry in read_required(location.keywords)
            if isinstance(entry, str)
        }
        for name in read_properties(location.keywords):
            if name not in required:
                tokens = (*location.tokens, "properties", name)
                subject = f"property {quoted(name)} is not in `required`"
                yield Match(tokens, "required", f"{subject}: {DONE[rule.effect]}")


@_check("undeclared-property")
def _undeclared_property(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    for location in scan.having(["required"]):
        types = list_types(location.keywords)
        about_objects = not types or "object" in types
        for name in read_required(location.keywords) if about_objects else ():
            if isinstance(name, str) and name not in read_properties(location.keywords):
                subject = f"required {quoted(name)} is not in `properties`"
                yield _at(rule, location.tokens, "required", subject, ": ")


@_check("format")
def _format(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    for location in scan.having(["format"]):
        value = location.keywords.get("format")
        accepted = not isinstance(value, str) or value in rule.names
        if not accepted and is_of_types(location.keywords, rule.types):
            yield _at(rule, location.tokens, "format", f"format {quoted(value)}")


@_check("enum-type")
def _enum_type(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    # A rule speaks of numbers, whole or not.
    accepted = {*rule.names} | ({"integer"} if "number" in rule.names else set())
    for location in scan.having(["enum", "const"]):
        for keyword, values in enumerated(location.keywords):
            types = {json_type(value) for value in values} - accepted
            if types:
                subject = f"{', '.join(sorted(types))} in `{keyword}`"
                yield _at(rule, location.tokens, keyword, subject, ": ")


#: Inside `[...]` only escapes are looked at.
_CLASS: Final = r"\[(?:\\.|[^\]\\])*\]"
OUTSIDE: Final = re.compile(rf"{_CLASS}|\\[^bBkpP1-9dDwWsS]", re.DOTALL)
#: What a pattern may use, by the text that is left of it without classes and literal
#: escapes; `anchors` and `class-escape` look at the whole.
FEATURES: Final[Mapping[str, re.Pattern[str]]] = {
    "lookaround": re.compile(r"\(\?<?[=!]"),
    "back-reference": re.compile(r"\\[1-9]|\\k<"),
    "word-boundary": re.compile(r"\\[bB]"),
}
#: A backslash that no other one escapes, and its letter.
_CLASS_ESCAPE: Final = re.compile(r"(?:^|[^\\])(?:\\\\)*\\[dDwWsS]")
#: Features of the whole pattern.
_WHOLE: Final[Mapping[str, Callable[[str], bool]]] = {
    "unanchored": lambda text: not (text.startswith("^") and text.endswith("$")),
    "class-escape": lambda text: bool(_CLASS_ESCAPE.search(text)),
}


def pattern_features(text: str) -> tuple[str, ...]:
    r"""Return the features of a pattern that some regex dialects lack.

    Example:
        >>> pattern_features(r"\d+(?=x)")
        ('lookaround', 'unanchored', 'class-escape')
    """
    bare = OUTSIDE.sub("_", text)
    inside = [name for name, mark in FEATURES.items() if mark.search(bare)]
    return (*inside, *(name for name, has in _WHOLE.items() if has(text)))


@_check("pattern")
def _pattern(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    for location in scan.having(["pattern"]):
        text = location.keywords.get("pattern")
        if isinstance(text, str):
            used = [name for name in pattern_features(text) if name in rule.names]
            if used:
                subject = f"pattern {quoted(text)} ({', '.join(used)})"
                yield _at(rule, location.tokens, "pattern", subject, ": ")


#: Checks of single references: the message, and the predicate.
OF_REFERENCES: Final[Mapping[str, tuple[str, Callable[[Scan, Reference], bool]]]] = {
    "remote-reference": (
        "leads out of the schema",
        lambda scan, reference: (
            not reference.text.startswith("#")
            and scan.targets.get(reference.tokens) is None
        ),
    ),
    "dangling-reference": (
        "leads nowhere",
        lambda scan, reference: (
            reference.text.startswith("#")
            and scan.targets.get(reference.tokens) is None
        ),
    ),
    "no-pointer": (
        "is no pointer that begins with `#/`",
        lambda _, reference: not reference.text.startswith("#/"),
    ),
    "recursive-reference": (
        "is recursive",
        lambda scan, reference: reference.tokens in scan.recursive,
    ),
    "required-recursion": (
        "is recursive in a required property",
        lambda scan, reference: (
            reference.tokens in scan.recursive and scan.is_required(reference.tokens)
        ),
    ),
}


@_check(*OF_REFERENCES)
def _reference(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    subject, has = OF_REFERENCES[rule.check]
    for reference in scan.references:
        if has(scan, reference):
            text = f"{quoted(reference.text)} {subject}"
            yield _at(rule, reference.tokens, reference.keyword, text, ": ")


@_check("nested-identifier")
def _nested_identifier(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    # Draft-04's `id` is a member that others do not know.
    if scan.document.dialect.id_keyword == "$id":
        for tokens in scan.document.inner_resources:
            yield _at(rule, tokens, "$id", "`$id` inside the schema")


@_check("beside-reference")
def _beside_reference(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    for reference in scan.references:
        for name in scan.document.location_at(reference.tokens).keywords:
            if name not in (reference.keyword, *rule.names):
                subject = f"`{name}` beside `{reference.keyword}`"
                yield _at(rule, reference.tokens, name, subject)


@_check("long-enum")
def _long_enum(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    for location in scan.having(["enum", "const"]):
        for keyword, values in enumerated(location.keywords):
            texts = [value for value in values if isinstance(value, str)]
            number, limit = sum(map(len, texts)), rule.most or 0
            if len(texts) > rule.values[0] and number > limit:
                sentence = f"{number:,} characters in {len(texts):,} values"
                tokens = (*location.tokens, keyword)
                yield Match(
                    tokens, keyword, f"{sentence}, and at most {limit:,} are accepted"
                )


def over_limit(scans: Sequence[Scan], rule: ProfileRule) -> Iterator[Match]:
    """Yield a match if some schemas together are over a rule's limit."""
    noun, count = COUNTS[rule.check]
    for scan in scans:
        if rule.check not in scan.counts:
            scan.counts[rule.check] = count(scan)
    number, limit = sum(scan.counts[rule.check] for scan in scans), rule.most or 0
    if number > limit:
        scope = " in one request" if rule.scope is Scope.REQUEST else ""
        sentence = f"{number:,} {noun}{scope}, and at most {limit:,} are accepted"
        yield Match((), "", sentence)


def _total(
    names: Sequence[str], count: Callable[[Mapping[str, Json]], int]
) -> Callable[[Scan], int]:
    """Return a function that sums a count over the schemas with some keywords."""
    return lambda scan: sum(count(location.keywords) for location in scan.having(names))


def _characters(schema: Mapping[str, Json]) -> int:
    """Return the length of all names of properties and definitions, and of values."""
    count = 0
    for keyword in ("properties", "$defs", "definitions"):
        count += sum(map(len, read_object(schema, keyword)))
    for _, values in enumerated(schema):
        count += sum(len(value) for value in values if isinstance(value, str))
    return count


def _optional(schema: Mapping[str, Json]) -> int:
    required = read_required(schema)
    return sum(name not in required for name in read_properties(schema))


#: What is counted: the noun, and the number in one schema.
COUNTS: Final[Mapping[str, tuple[str, Callable[[Scan], int]]]] = {
    "depth": ("levels of objects and arrays", lambda scan: scan.depth),
    "properties": (
        "properties",
        _total(["properties"], lambda schema: len(read_properties(schema))),
    ),
    "optional-properties": (
        "optional properties",
        _total(["properties"], _optional),
    ),
    "unions": (
        "unions (`anyOf` or a list of types)",
        _total(
            ["anyOf", "type"],
            lambda schema: "anyOf" in schema or isinstance(schema.get("type"), list),
        ),
    ),
    "enum-values": (
        "values in `enum`",
        _total(["enum"], lambda schema: len(read_array(schema, "enum"))),
    ),
    "characters": (
        "characters in names and values",
        _total(["properties", "$defs", "definitions", "enum", "const"], _characters),
    ),
    "tools": ("tools", lambda _scan: 1),
}


@_check(*COUNTS)
def _count(scan: Scan, rule: ProfileRule) -> Iterator[Match]:
    return over_limit([scan], rule)
