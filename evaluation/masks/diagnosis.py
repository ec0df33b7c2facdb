"""Class each wrong walk: the syntax where it went wrong, and its keyword.

A text is read as it is spelled (`Spelled`): every value with its place, nothing
decoded.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from curation.core.json_types import Json
from curation.json.pointer import Tokens, at, parse_tokens, pointer, tokens_of_fragment
from evaluation.core.cases import InstanceResult, InstanceWalk, WalkVerdict, Why
from evaluation.results.outcomes import FAULTS, engine_is_right

#: Tokens of a text, without white space.
_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_CLOSES: Final = {"{": "}", "[": "]"}


class Member(NamedTuple):
    """A member of an object, or an element of an array, which has no name."""

    name: Spelled | None
    value: Spelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelled:
    """A value as a text spells it."""

    #: A scalar's own text; `{` or `[`.
    text: str
    members: tuple[Member, ...] = ()
    #: Its span: the first character, and the one after the last.
    start: int = 0
    end: int = 0

    @property
    def is_container(self) -> bool:
        """Whether it is an object or an array."""
        return self.text in _CLOSES

    @property
    def decoded(self) -> str:
        """A string's characters."""
        return str(json.loads(self.text))

    def written(self) -> str:
        """Return it as one text, as instances are written: `, ` and `: `."""
        if not self.is_container:
            return self.text
        inner = ", ".join(
            f"{member.name.text}: {member.value.written()}"
            if member.name
            else member.value.written()
            for member in self.members
        )
        return f"{self.text}{inner}{_CLOSES[self.text]}"

    def mapped(self, change: Callable[[Spelled], Spelled]) -> Spelled:
        """Return it with every value in it changed, the innermost first."""
        members = tuple(
            Member(member.name, member.value.mapped(change)) for member in self.members
        )
        return change(replace(self, members=members))


def read_spelled(text: str) -> Spelled:
    """Read a text that is JSON.

    Raises:
        ValueError: it is not.
        RecursionError: it is too deep for Python.
    """
    json.loads(text)
    pieces = _PIECE.finditer(text)
    return _value(next(pieces), pieces)


def _value(piece: re.Match[str], pieces: Iterator[re.Match[str]]) -> Spelled:
    mark = piece[0]
    if mark not in _CLOSES:
        return Spelled(text=mark, start=piece.start(), end=piece.end())
    members: list[Member] = []
    for inner in pieces:
        if inner[0] == _CLOSES[mark]:
            break
        if inner[0] == ",":
            continue
        value = _value(inner, pieces)
        name = None
        if mark == "{":
            name = value
            next(pieces)
            value = _value(next(pieces), pieces)
        members.append(Member(name=name, value=value))
    return Spelled(
        text=mark, members=tuple(members), start=piece.start(), end=inner.end()
    )


#: The syntax where an invalid text was let through.
ACCEPTED: Final = "accepted to its end"
#: The class of what none of this explains.
OTHER: Final = "other"
#: Maximum subschemas of one place: more are a union of unions.
_MAX_PLACES: Final = 200
_IN_PLACE: Final = ("allOf", "anyOf", "oneOf")
_CONDITIONS: Final = ("if", "then", "else")
#: What differs between two messages of one limit: numbers and quoted text.
VARYING: Final = re.compile(r"\d+|\"[^\"]*\"|'[^']*'|`[^`]*`")
_MAX_MESSAGE: Final = 80

#: Keywords by the syntax at a place; the first in the schema governs it.
_GOVERNORS: Final[Mapping[str, Sequence[str]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
#: Keywords of texts, and of numbers.
_TEXTS: Final = frozenset(_GOVERNORS["end of a string"]) - {"type"}
_NUMBERS: Final = frozenset(_GOVERNORS["digit"]) - {"type"}
#: Keywords without effect on values of another type.
_TYPED: Final = frozenset(_GOVERNORS["start of a value"]) - {"enum", "const", "type"}
#: Keywords that change an engine's reading of neighbours, the first counts.
_BESIDE: Final = (
    *("$ref", "anyOf", "oneOf", "allOf", "not", "if"),
    *("enum", "const", "pattern", "format"),
)
#: Those of them for which a neighbouring keyword matters.
_TEXT_ONLY: Final = frozenset({"pattern", "format"})


class _Place(NamedTuple):
    """A subschema that applies to a value, and the way to it."""

    tokens: Tokens
    schema: Mapping[str, Json]


def diagnose(schema: str, walk: InstanceWalk, walked: InstanceResult) -> Why | None:
    """Return why a walk went wrong; None if it did not.

    Args:
        schema: The schema's text.
        walk: What was walked.
        walked: What came of it.
    """
    if walked.verdict in FAULTS:
        message = VARYING.sub("#", walked.detail.partition("\n")[0])[:_MAX_MESSAGE]
        return Why(stands=walked.verdict.replace("_", " "), setting=message)
    if engine_is_right(walked) is not False:
        return None
    try:
        root: Json = json.loads(schema)
        if not walked.valid:
            return _accepted(root, walk)
        if walked.verdict is WalkVerdict.MASK_GAP:
            return Why(stands="token missing from the mask")
        return _blocked(root, walk.text, walked)
    except (ValueError, RecursionError, LookupError, TypeError):
        return Why(stands=OTHER)


def _accepted(root: Json, walk: InstanceWalk) -> Why:
    """Return the class of an accepted invalid text: the violated keyword."""
    keyword = str(walk.label.get("keyword") or "")
    location = walk.label.get("pointer")
    tokens = parse_tokens(location) if isinstance(location, str) else None
    if tokens is None:
        tokens = _violation(root, json.loads(walk.text), keyword)
    keyword = keyword or (tokens[-1] if tokens else "false")
    if keyword in tokens:
        tokens = tokens[: len(tokens) - tokens[::-1].index(keyword) - 1]
    schema = at(root, tokens)
    found = _Place(tokens, schema if isinstance(schema, dict) else {})
    return _why(root, ACCEPTED, keyword, found)


def _violation(root: Json, value: Json, keyword: str) -> Tokens:
    """Return the place of the first keyword that a value violates, or of this one.

    Raises:
        LookupError: it does not violate it.
    """
    whole = root if isinstance(root, dict | bool) else True
    for error in make_validator(whole).iter_errors(value):
        tokens = tuple(map(str, error.schema_path))
        named = tuple("if" if name in _CONDITIONS else name for name in tokens)
        if "if" in named and keyword in {"", "if"}:
            return named[: named.index("if") + 1]
        if keyword in {"", *tokens}:
            return tokens
    raise LookupError(keyword)


def make_validator(schema: dict[str, Json] | bool | str) -> Any:  # noqa: ANN401, FBT001 - a validator of jsonschema-rs, and any schema
    """Return a validator of a schema, formats on, that fetches no document."""
    import jsonschema_rs  # noqa: PLC0415 - not needed where a model writes

    from curation.validation.metaschemas import refuse  # noqa: PLC0415 - the same

    return jsonschema_rs.validator_for(schema, validate_formats=True, retriever=refuse)


def _blocked(root: Json, text: str, walked: InstanceResult) -> Why:
    """Return the class of a valid text that is blocked, or may not end."""
    spelled = read_spelled(text)
    if walked.byte is None and walked.verdict is not WalkVerdict.UNFINISHED:
        return Why(stands=OTHER)
    content = text.encode()
    size = len(content) if walked.byte is None else walked.byte
    offset = len(content[:size].decode("utf-8", "ignore"))
    places = [_Place((), root)] if isinstance(root, dict) else []
    return _look(root, spelled, offset, text, list(_expanded(root, places)))


def _look(
    root: Json, value: Spelled, offset: int, text: str, places: list[_Place]
) -> Why:
    """Look for the innermost value that holds the place."""
    for index, member in enumerate(value.members):
        if member.value.start <= offset < member.value.end or (
            offset == member.value.end and _is_number(member.value)
        ):
            key = index if member.name is None else member.name.decoded
            inner = list(_expanded(root, _below(places, key)))
            if offset == member.value.end and not _is_bounded(inner):
                break
            return _look(root, member.value, offset, text, inner or places)
    stands = _stands(value, offset, text, places)
    return _governed(root, stands, places)


def _is_number(value: Spelled) -> bool:
    return value.text[0] in "-0123456789"


def _is_bounded(places: Sequence[_Place]) -> bool:
    return any(_NUMBERS & location.schema.keys() for location in places)


def _stands(value: Spelled, offset: int, text: str, places: Sequence[_Place]) -> str:
    """Return the syntax at a place directly inside a value."""
    mark = text[offset : offset + 1]
    if offset == value.start and not (mark == "-" and _is_bounded(places)):
        return "start of a value"
    if value.text[0] == '"':
        return _in_string(value.text, offset - value.start)
    if value.is_container:
        return _in_container(value, offset, text, places)
    if not _is_number(value):
        return "literal"
    if offset >= value.end:
        return "end of a number"
    marks = {".": "fraction", "e": "exponent", "E": "exponent", "-": "minus sign"}
    return marks.get(mark, "digit")


#: An escape, or one character.
_UNIT: Final = re.compile(r"\\u[dD][89abAB]..\\u....|\\u....|\\.|.", re.DOTALL)


def _in_string(raw: str, offset: int) -> str:
    if offset >= len(raw) - 1:
        return "end of a string"
    for unit in _UNIT.finditer(raw, 1):
        if offset < unit.end():
            if len(unit[0]) > 6:  # noqa: PLR2004 (two escapes)
                return "surrogate pair"
            return "escape" if unit[0][0] == "\\" else "character of a string"
    return "end of a string"


def _in_container(
    value: Spelled, offset: int, text: str, places: Sequence[_Place]
) -> str:
    members = value.members
    begun = sum(member.value.end <= offset for member in members)
    if begun == len(members):
        if offset >= value.end:
            return "end of the text"
        return f"end of an {'object' if value.text == '{' else 'array'}"
    name = members[begun].name
    if name is None:
        return "next element"
    if text[offset] == "\\" and name.start < offset < name.end:
        return "escape in a name"
    return _member(members[:begun], name.decoded, places)


def _member(before: Sequence[Member], name: str, places: Sequence[_Place]) -> str:
    """Return the kind of a member that may not come now."""
    written = [member.name.decoded for member in before if member.name]
    declared = [
        {each: rank for rank, each in enumerate(names)}
        for names in (location.schema.get("properties") for location in places)
        if isinstance(names, dict)
    ]
    for ranks in declared:
        if name in ranks and any(ranks.get(it, -1) > ranks[name] for it in written):
            return "member out of order"
    every = {rank for ranks in declared for rank in ranks}
    if name in every:
        if any(each not in every for each in written):
            return "declared member after an undeclared one"
        return "declared member"
    if any(_matching(location.schema, name) for location in places):
        return "member of a pattern"
    return "undeclared member"


def _governed(root: Json, stands: str, places: Sequence[_Place]) -> Why:
    """Return the class of a place with the first keyword that governs it."""
    branching = (*_IN_PLACE[1:], "allOf", "$ref")
    for keyword in (*_GOVERNORS.get(stands, ()), *branching):
        for location in places:
            if keyword in location.schema:
                return _why(root, stands, keyword, location)
    return _why(root, stands, "", places[0] if places else _Place((), {}))


def _why(root: Json, stands: str, keyword: str, location: _Place) -> Why:
    return Why(
        stands=stands,
        keyword=keyword,
        setting=_setting(keyword, location) or _above(root, location.tokens),
        context=_context(location.tokens),
        pointer=pointer(location.tokens),
    )


def _setting(keyword: str, location: _Place) -> str:
    """Return what about the schema of a keyword may matter to it."""
    schema = location.schema
    for other in _BESIDE:
        if other not in schema or other == keyword:
            continue
        if other not in _TEXT_ONLY or keyword in _TEXTS:
            return f"beside {other}"
    for union in (*_IN_PLACE[1:], "allOf", "not", *_CONDITIONS, "patternProperties"):
        if union in location.tokens:
            return f"in {union}"
    if keyword == "required":
        names = schema.get("required")
        declared = schema.get("properties")
        if not isinstance(declared, dict):
            return "without properties"
        if isinstance(names, list) and not set(map(str, names)) <= declared.keys():
            return "of an undeclared name"
    if keyword in _TYPED and "type" not in schema:
        return "without type"
    return ""


def _above(root: Json, tokens: Tokens) -> str:
    """Return the keyword next to one on the way to a subschema."""
    schema = root
    for token in tokens:
        if isinstance(schema, dict):
            for other in (*_BESIDE[:4], "if", "patternProperties"):
                if other in schema and other != token:
                    return f"below a sibling of {other}"
        schema = at(schema, (token,))
    return ""


def _context(tokens: Tokens) -> str:
    """Return the location of a subschema in a schema, in a word or two."""
    if not tokens:
        return "root"
    names = [token for token in tokens if not token.isdigit()]
    parent = tokens[-2] if len(tokens) > 1 else ""
    if parent in {"$defs", "definitions"}:
        return "behind $ref"
    if parent in {"properties", "patternProperties", "dependentSchemas"}:
        return "property"
    kind = names[-1] if names else ""
    if kind in {"items", "prefixItems", "additionalItems", "contains"}:
        return "item"
    return f"in {kind}" if kind else "other"


def _expanded(root: Json, places: Sequence[_Place]) -> Iterator[_Place]:
    """Yield subschemas with all that apply to the same value through them."""
    waiting, seen = list(reversed(places)), set[Tokens]()
    while waiting and len(seen) < _MAX_PLACES:
        location = waiting.pop()
        if location.tokens in seen:
            continue
        seen.add(location.tokens)
        yield location
        branches: list[tuple[Tokens, Json]] = []
        ref = location.schema.get("$ref")
        if isinstance(ref, str) and ref.startswith("#"):
            with suppress(LookupError, ValueError):
                tokens = tokens_of_fragment(ref)
                branches.append((tokens, at(root, tokens)))
        for keyword in _IN_PLACE:
            parts = location.schema.get(keyword)
            for index, part in enumerate(parts if isinstance(parts, list) else ()):
                branches.append(((*location.tokens, keyword, str(index)), part))
        branches += [
            ((*location.tokens, keyword), location.schema.get(keyword))
            for keyword in _CONDITIONS[1:]
        ]
        waiting += reversed(_places(branches))


def _places(branches: Iterable[tuple[Tokens, Json]]) -> list[_Place]:
    """Return the subschemas that are objects."""
    return [
        _Place(tokens, schema)
        for tokens, schema in branches
        if isinstance(schema, dict)
    ]


def _below(places: Sequence[_Place], key: str | int) -> list[_Place]:
    """Return the subschemas for a member or an element of the places' value."""
    return _places(
        ((*location.tokens, *tokens), schema)
        for location in places
        for tokens, schema in _steps(location.schema, key)
    )


def _steps(schema: Mapping[str, Json], key: str | int) -> Iterator[tuple[Tokens, Json]]:
    if isinstance(key, int):
        for keyword in ("prefixItems", "items"):
            items = schema.get(keyword)
            if isinstance(items, list) and key < len(items):
                yield (keyword, str(key)), items[key]
                return
        for keyword in ("items", "additionalItems"):
            yield (keyword,), schema.get(keyword)
        return
    properties = schema.get("properties")
    declared = isinstance(properties, dict) and key in properties
    if isinstance(properties, dict) and declared:
        yield ("properties", key), properties[key]
    matching = _matching(schema, key)
    for pattern in matching:
        patterns = cast("dict[str, Json]", schema["patternProperties"])
        yield ("patternProperties", pattern), patterns[pattern]
    if not matching and not declared:
        yield ("additionalProperties",), schema.get("additionalProperties")


def _matching(schema: Mapping[str, Json], name: str) -> list[str]:
    """Return the patterns of `patternProperties` that a name matches."""
    patterns = schema.get("patternProperties")
    return [
        pattern
        for pattern in (patterns if isinstance(patterns, dict) else ())
        if is_match(pattern, name)
    ]


def is_match(pattern: str, text: str) -> bool:
    """Return whether a validator finds a pattern in a text; not for a refused pattern.

    It reads the patterns of ECMA-262, and no pattern takes it for ever.
    """
    try:
        return bool(_matcher(pattern).is_valid(text))
    except ValueError:
        return False


@lru_cache(maxsize=1_024)
def _matcher(pattern: str) -> Any:  # noqa: ANN401 - a validator of jsonschema-rs
    import jsonschema_rs  # noqa: PLC0415 - not needed where a model writes

    return jsonschema_rs.Draft202012Validator({"pattern": pattern})
