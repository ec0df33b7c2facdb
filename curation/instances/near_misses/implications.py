"""Proofs, each for one pattern, that a keyword cannot be the only one to fail.

Some of them need the verdict of a keyword on all values of a type.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from curation.instances.constraints.compiled_schema import CompiledSchema, memo
from curation.instances.constraints.conjunction import (
    ALL_TYPES,
    LOWER_BOUNDS,
    UPPER_BOUNDS,
    Conjunction,
    ExtraConstraint,
    conjoin,
)
from curation.instances.constraints.keyword_values import (
    COMPANIONS,
    KNOWN_FORMATS,
    item_keywords,
    read_array,
    read_names,
    read_number,
    read_object,
)
from curation.instances.judging.violations import FALSE
from curation.instances.near_misses.assertions import (
    Assertion,
    asserting_keywords,
    assertions_at,
    find_reachable_keywords,
)
from curation.instances.values.strings import StringConstraints, matches
from curation.json.text import canonical
from curation.json.values import identity, is_number, json_type
from curation.regex.parser import parse
from curation.schema.keywords import REFERENCE_KEYWORDS, TYPE_OF_KEYWORD

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.schema.subschemas import SchemaLocation


class ImplicationQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Does every value of a type that fails a keyword fail another too?"""

    compiled: CompiledSchema
    #: Everything that applies to the value.
    conjunction: Conjunction
    #: The keyword, and the schema that holds it.
    assertion: Assertion
    #: One of `ALL_TYPES`.
    kind: str
    #: The other keywords that can refuse the value.
    other_assertions: tuple[Assertion, ...]

    @property
    def location(self) -> SchemaLocation:
        """Location of the schema with the keyword."""
        return self.assertion.location

    @property
    def keyword(self) -> str:
        """The name of the keyword."""
        return self.assertion.keyword

    @property
    def schema(self) -> dict[str, Json]:
        """The schema that holds the keyword."""
        schema: dict[str, Json] = self.location.schema
        return schema

    @property
    def bound(self) -> float:
        """The keyword's value, which is a number."""
        return read_number(self.schema, self.keyword)

    def values(self, keyword: str) -> Iterator[Json]:
        """Yield the values of the other keywords of a name."""
        for assertion in self.other_assertions:
            if assertion.keyword == keyword:
                yield assertion.location.schema[keyword]

    def numbers(self, keyword: str) -> list[float]:
        """Return the numbers among the values of the other keywords of a name."""
        return [value for value in self.values(keyword) if is_number(value)]

    def texts(self, keyword: str) -> list[str]:
        """Return the strings among the values of the other keywords of a name."""
        return [value for value in self.values(keyword) if isinstance(value, str)]


#: Schemas entered one from another.
_DEEPEST: Final = 8
_NUMBERS: Final = ("integer", "number")
#: Keyword to the types of values that it can refuse. jsonschema-rs asserts
#: `contentEncoding` and `contentMediaType` in some dialects, `contentSchema` in none.
_SPOKEN_OF: Final[dict[str, tuple[str, ...]]] = {
    keyword: _NUMBERS if value_type == "number" else (value_type,)
    for keyword, value_type in TYPE_OF_KEYWORD.items()
    if keyword not in ("contentSchema", "divisibleBy")
}
#: Patterns that match the beginning of every text, if need be by nothing.
_MATCHES_ALL: Final = re.compile(
    r"\^?(?:(?:\.|\\[dDwWsS]|\[(?:[^\]\\]|\\.)+\]|[\w ])(?:[*?]|\{0,\d*\})\??)?"
)
_SINGLETONS: Final[dict[str, int]] = {"null": 1, "boolean": 2}


def schema_verdict(
    compiled: CompiledSchema, location: SchemaLocation, kind: str, depth: int = _DEEPEST
) -> bool | None:
    """Return the verdict of a schema on all values of a type.

    Args:
        compiled: Its schema.
        location: Its place.
        kind: One of `ALL_TYPES`.
        depth: Nesting so far.

    Example:
        >>> compiled = CompiledSchema.from_json({"type": "string"}, "draft-07")
        >>> [schema_verdict(compiled, compiled.root, t) for t in ("string", "null")]
        [True, False]
    """
    schema = location.schema
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict) or depth <= 0:
        return None
    keywords: Sequence[str] = tuple(schema)
    if "$ref" in schema and compiled.dialect.ref_hides_siblings:
        keywords = ("$ref",)
    verdicts = [
        keyword_verdict(compiled, location, keyword, kind, depth)
        for keyword in keywords
    ]
    return _combined("allOf", verdicts)


def keyword_verdict(
    compiled: CompiledSchema,
    location: SchemaLocation,
    keyword: str,
    kind: str,
    depth: int = _DEEPEST,
) -> bool | None:
    """Return the verdict of one keyword on all values of a type.

    Args:
        compiled: Its schema.
        location: The schema that holds the keyword.
        keyword: Its name.
        kind: One of `ALL_TYPES`.
        depth: Nesting so far.
    """
    if keyword == "format" and location.schema["format"] not in KNOWN_FORMATS:
        return True
    if keyword in _SPOKEN_OF:
        return _bound_verdict(location.schema, keyword, kind)
    if keyword in REFERENCE_KEYWORDS:
        target = compiled.target(location, keyword)
        if target is None:
            return None
        return schema_verdict(compiled, target, kind, depth - 1)
    if keyword not in compiled.dialect.effective:
        return True
    return _decision(compiled, location, keyword, kind, depth - 1)


def _bound_verdict(schema: Mapping[str, Json], keyword: str, kind: str) -> bool | None:
    if kind not in _SPOKEN_OF[keyword]:
        return True
    value = schema[keyword]
    if (
        keyword == "pattern"
        and isinstance(value, str)
        and _MATCHES_ALL.fullmatch(value)
    ):
        return True
    if keyword == "additionalProperties":
        patterns = read_object(schema, "patternProperties")
        return True if any(map(_MATCHES_ALL.fullmatch, patterns)) else None
    if keyword == "multipleOf" and is_number(value) and value > 0:
        step = Fraction(str(value))
        if kind == "integer" and (1 / step).denominator == 1:
            return True
        if kind == "number" and step.denominator == 1:
            return False
    return None


def _combined(keyword: str, verdicts: list[bool | None]) -> bool | None:
    """Return the verdict of `allOf`, `anyOf` or `oneOf` by its schemas' verdicts."""
    if keyword == "allOf" and False in verdicts:
        return False
    if keyword == "oneOf" and verdicts.count(True) > 1:
        return False
    if keyword == "anyOf" and True in verdicts:
        return True
    if None in verdicts:
        return None
    return keyword == "allOf" or True in verdicts


def _decision(
    compiled: CompiledSchema,
    location: SchemaLocation,
    keyword: str,
    kind: str,
    depth: int,
) -> bool | None:
    schema = location.schema

    def inner(keyword: str) -> bool | None:
        if keyword not in schema:
            return True
        return schema_verdict(
            compiled, compiled.child(location, (keyword,)), kind, depth
        )

    if keyword == "type":
        names = read_names(schema["type"])
        return kind in names or (kind == "integer" and "number" in names)
    if keyword in ("enum", "const"):
        values = read_array(schema, "enum") if keyword == "enum" else [schema["const"]]
        count = len({repr(value) for value in values if json_type(value) == kind})
        if count == _SINGLETONS.get(kind):
            return True
        return None if count else False
    if keyword in ("allOf", "anyOf", "oneOf"):
        branches = compiled.branches(location, keyword)
        verdicts = [
            schema_verdict(compiled, branch, kind, depth) for branch in branches
        ]
        return _combined(keyword, verdicts)
    if keyword == "not":
        verdict = inner("not")
        return None if verdict is None else not verdict
    if keyword != "if":
        return True
    condition, then, otherwise = inner("if"), inner("then"), inner("else")
    if condition is None:
        return then if then is otherwise else None
    return then if condition else otherwise


#: The lengths of what jsonschema-rs takes for an instance of a format.
_FORMAT_LENGTHS: Final[dict[str, tuple[float, float]]] = {
    "date": (10, 10),
    "date-time": (20, math.inf),
    "time": (9, math.inf),
    "duration": (3, math.inf),
    "email": (3, 320),
    "idn-email": (3, math.inf),
    "hostname": (1, 253),
    "ipv4": (7, 15),
    "ipv6": (2, 45),
    "uri": (2, math.inf),
    "iri": (2, math.inf),
    "uuid": (36, 36),
    "relative-json-pointer": (1, math.inf),
}
#: Keywords of lower bounds, and of upper bounds, each with a sign.
_SIDES: Final = (
    (("minimum", "exclusiveMinimum"), 1),
    (("maximum", "exclusiveMaximum"), -1),
)


def lengths(question: ImplicationQuestion) -> bool:
    """No text that matches the pattern or format has another length."""
    if question.keyword not in ("minLength", "maxLength"):
        return False
    any_length: tuple[float, float] = (0, math.inf)
    spans = [_FORMAT_LENGTHS.get(name, any_length) for name in question.texts("format")]
    for tree in filter(None, map(parse, question.texts("pattern"))):
        high = tree.root.high if tree.starts and tree.ends else None
        spans.append((tree.root.low, math.inf if high is None else high))
    if question.keyword == "minLength":
        return any(low >= question.bound for low, _ in spans)
    return any(high <= question.bound for _, high in spans)


def tighter_bound(question: ImplicationQuestion) -> bool:
    """Another bound leaves less."""
    for keywords, sign in _SIDES:
        if question.keyword in keywords:
            edge = _edge(question.assertion, question.kind, keywords[0], sign)
            return any(
                _edge(assertion, question.kind, keywords[0], sign) >= edge
                for assertion in question.other_assertions
                if assertion.keyword in keywords
            )
    return False


def _edge(
    assertion: Assertion, kind: str, flagged: str, sign: int
) -> tuple[float, bool]:
    """Return the outermost number allowed, times a sign, and whether it is refused.

    Args:
        assertion: A lower or an upper bound.
        kind: `integer` or `number`.
        flagged: The keyword next to it that draft-04's flag speaks of.
        sign: 1 for a lower bound, -1 for an upper one.
    """
    schema, keyword = assertion.location.schema, assertion.keyword
    bound = sign * read_number(schema, flagged if schema[keyword] is True else keyword)
    exclusive = keyword != flagged
    if kind == "integer":
        return (math.floor(bound) + 1 if exclusive else math.ceil(bound)), False
    return bound, exclusive


def item_count(question: ImplicationQuestion) -> bool:
    """Other keywords leave no array with such a number of elements."""
    keyword = question.keyword
    if keyword == "minItems":
        contained = len([*question.values("contains")][:1])
        return question.bound <= max([contained, *question.numbers("minContains")])
    if keyword == "maxItems":
        return _most_items(question) <= question.bound
    if keyword == "uniqueItems":
        return min([*question.numbers("maxItems"), _most_items(question)]) <= 1
    if keyword in ("additionalItems", "items"):
        maximum = min([*question.numbers("maxItems"), math.inf])
        return maximum <= _prefix_length(question, question.location)
    if keyword in ("contains", "minContains"):
        # Only the empty array can fail, and that is too short.
        contained_in = question.compiled.child(question.location, ("contains",))
        minimum = question.schema.get("minContains", 1)
        longest = question.numbers("minItems")
        return all(
            schema_verdict(question.compiled, contained_in, kind) is True
            for kind in question.conjunction.types
        ) and (is_number(minimum) and max([*longest, 0]) >= minimum)
    return False


def _prefix_length(question: ImplicationQuestion, location: SchemaLocation) -> int:
    prefix, _ = item_keywords(location.schema, question.compiled.dialect)
    return len(read_array(location.schema, prefix)) if prefix else 0


def _most_items(question: ImplicationQuestion) -> float:
    """Return how many elements there can be: by their schemas, and if all differ."""
    maximum = math.inf
    if True in question.values("uniqueItems") and not (
        question.conjunction.prefix_length()
    ):
        goals = question.conjunction.member_goals(0)
        values = conjoin(question.compiled, goals).values if goals else None
        if values is not None:
            maximum = len({identity(value) for value in values})
    for assertion in question.other_assertions:
        if assertion.keyword in ("additionalItems", "items"):
            location = assertion.location
            if location.schema[assertion.keyword] is False:
                maximum = min(maximum, _prefix_length(question, location))
    return maximum


def property_count(question: ImplicationQuestion) -> bool:
    """Other keywords leave no object with such a number of properties."""
    required = _required(question)
    if question.keyword == "minProperties":
        return question.bound <= len(required)
    closed = list(_closed_names(question))
    if question.keyword == "maxProperties":
        return any(len(names) <= question.bound for names in closed)
    if question.keyword == "required":
        required_names = set(read_names(question.schema["required"]))
        minimum = max([*question.numbers("minProperties"), 0])
        return any(
            names >= required_names and len(names) <= minimum for names in closed
        )
    if question.keyword == "additionalProperties":
        maximum = min([*question.numbers("maxProperties"), math.inf])
        return maximum < max(len(required), 1)
    return False


def _required(question: ImplicationQuestion) -> set[str]:
    return {name for value in question.values("required") for name in read_names(value)}


def _closed_names(question: ImplicationQuestion) -> Iterator[set[str]]:
    """Yield the names that each schema leaves which forbids all others."""
    for assertion in question.other_assertions:
        schema = assertion.location.schema
        closes = assertion.keyword == "additionalProperties"
        if closes and not schema.get("patternProperties"):
            yield set(read_object(schema, "properties"))


def names(question: ImplicationQuestion) -> bool:
    """Another keyword refuses every name that this one refuses."""
    if question.keyword == "propertyNames":
        compiled = question.compiled
        location = compiled.child(question.location, ("propertyNames",))
        return any(
            all(compiled.accepts(location, name) for name in closed)
            for closed in _closed_names(question)
        )
    if question.keyword != "additionalProperties":
        return False
    return any(
        assertion.location.schema["propertyNames"] is False
        or _declares_all(question, assertion.location)
        for assertion in question.other_assertions
        if assertion.keyword == "propertyNames"
    )


def _declares_all(question: ImplicationQuestion, part: SchemaLocation) -> bool:
    compiled = question.compiled
    location = compiled.child(part, ("propertyNames",))
    allowed = conjoin(compiled, (location, ExtraConstraint(types=("string",))))
    declared = read_object(question.schema, "properties")
    patterns = read_object(question.schema, "patternProperties")
    if allowed.values is not None:
        return all(
            name in declared
            or any(
                matches(StringConstraints(patterns=(pattern,)), name)
                for pattern in patterns
            )
            for name in allowed.values
            if isinstance(name, str)
        )
    return any(pattern in patterns for pattern in allowed.patterns)


def dependents(question: ImplicationQuestion) -> bool:
    """What comes with a property is required anyway, or the property cannot be."""
    if question.keyword not in ("dependencies", "dependentRequired"):
        return False
    required = _required(question)
    closed = list(_closed_names(question))
    return all(
        (isinstance(needs, list) and {*read_names(needs)} <= {*required, name})
        or any(name not in allowed for allowed in closed)
        for name, needs in read_object(question.schema, question.keyword).items()
    )


#: Longer enumerations are not asked about.
_MAX_LISTED: Final = 2_000


def enumerated(question: ImplicationQuestion) -> bool:
    """Every value that an enum or const lists meets the keyword."""
    for assertion in question.other_assertions:
        schema = assertion.location.schema
        if assertion.keyword == "enum":
            values = read_array(schema, "enum")
        elif assertion.keyword == "const":
            values = [schema["const"]]
        else:
            continue
        candidates = [value for value in values if json_type(value) == question.kind]
        if len(candidates) <= _MAX_LISTED and all(
            _meets(question, value) for value in candidates
        ):
            return True
    return False


def _meets(question: ImplicationQuestion, value: Json) -> bool:
    compiled, location = question.compiled, question.location
    schema, keyword = question.schema, question.keyword
    if keyword == "not":
        return not compiled.accepts(compiled.child(location, ("not",)), value)
    if keyword in ("anyOf", "oneOf"):
        branches = compiled.branches(location, keyword)
        count = sum(compiled.accepts(branch, value) for branch in branches)
        return count == 1 if keyword == "oneOf" else count > 0
    if keyword == "if" or keyword not in asserting_keywords(schema, compiled.dialect):
        return False
    together = (keyword, *COMPANIONS.get(keyword, ()))
    alone = {name: schema[name] for name in together if name in schema}
    if _refers(alone):
        return False
    text = canonical(alone).decode("utf-8", "surrogatepass")
    failed = _compiled(text, compiled.dialect.name).errors(value)
    return all(assertion.evaluation_path[:1] != (keyword,) for assertion in failed)


def _refers(value: Json) -> bool:
    if isinstance(value, dict):
        return any(keyword in value for keyword in REFERENCE_KEYWORDS) or any(
            _refers(member) for member in value.values()
        )
    return isinstance(value, list) and any(_refers(item) for item in value)


@lru_cache(maxsize=512)
def _compiled(text: str, dialect_name: str) -> CompiledSchema:
    return CompiledSchema.from_json(json.loads(text), dialect_name)


def branch_repeats(question: ImplicationQuestion) -> bool:
    """A branch constrains nothing further."""
    if question.keyword != "anyOf":
        return False
    branches = question.compiled.branches(question.location, "anyOf")
    return any(_asks_no_more(question, branch) for branch in branches)


def _asks_no_more(question: ImplicationQuestion, branch: SchemaLocation) -> bool:
    """Return whether failing a branch means failing a keyword next to it."""
    # Every keyword of a branch that may refuse; annotations cannot.
    dialect = question.compiled.dialect
    conjunction = conjoin(question.compiled, (branch,))
    return not conjunction.impossible and all(
        any(
            assertion.keyword == keyword
            and entails(Assertion(part, keyword), assertion)
            for assertion in question.other_assertions
        )
        for part in conjunction.locations
        for keyword in (
            {keyword for keyword in part.schema if keyword in dialect.applicators}
            | {*asserting_keywords(part.schema, dialect)}
        )
        - {"allOf", "definitions", "$defs"}
    )


def branches_repeat(question: ImplicationQuestion) -> bool:
    """Every branch of an anyOf or oneOf asks for the same, or more."""
    return any(
        all(
            _asks_again(question, branch)
            for branch in question.compiled.branches(
                assertion.location, assertion.keyword
            )
        )
        for assertion in question.other_assertions
        if assertion.keyword in ("anyOf", "oneOf")
    )


def _asks_again(question: ImplicationQuestion, branch: SchemaLocation) -> bool:
    if branch.schema is False:
        return True
    keyword = question.keyword
    return any(
        keyword in part.schema and entails(question.assertion, Assertion(part, keyword))
        for part in conjoin(question.compiled, (branch,)).locations
    )


def entails(weak: Assertion, strong: Assertion) -> bool:
    """Return whether every value that fails an assertion fails another too.

    Args:
        weak: What the value fails.
        strong: What it is shown to fail; assertions of other names are not compared.
    """
    keyword = weak.keyword
    if keyword != strong.keyword:
        return False
    weaker, stronger = weak.location.schema[keyword], strong.location.schema[keyword]
    if keyword == "required":
        return set(read_names(stronger)) >= set(read_names(weaker))
    if keyword == "type":
        return _types(stronger) <= _types(weaker)
    if keyword == "enum":
        return set(map(identity, stronger)) <= set(map(identity, weaker))
    if is_number(weaker) and is_number(stronger):
        if keyword in LOWER_BOUNDS:
            return stronger >= weaker
        if keyword in UPPER_BOUNDS:
            return stronger <= weaker
    if keyword in COMPANIONS or _refers(weaker):
        return False
    return canonical(weaker) == canonical(stronger)


def _types(value: Json) -> set[str]:
    names = set(read_names(value))
    return names | {"integer"} if "number" in names else names


#: Values of instances looked at for one assertion; with more, nothing is claimed.
_MAX_LOCATIONS: Final = 64
_PROOFS: Final = (
    *(enumerated, lengths, tighter_bound, item_count, property_count, names),
    *(dependents, branch_repeats, branches_repeat),
)


@memo
def cannot_fail_alone(compiled: CompiledSchema, assertion: Assertion) -> bool:
    """Return whether every value that fails a keyword is shown to fail another.

    Args:
        compiled: The schema.
        assertion: The keyword, and where its schema is.
    """
    locations = find_reachable_keywords(compiled).assertions[assertion]
    if len(locations) > _MAX_LOCATIONS or assertion.keyword == FALSE:
        return False
    for location in locations:
        conjunction = conjoin(compiled, location.goals)
        other_assertions = tuple(
            other
            for part in conjunction.locations
            for other in assertions_at(compiled, part)
            if other.keyword != assertion.keyword
        )
        for kind in ALL_TYPES:
            question = ImplicationQuestion(
                compiled=compiled,
                conjunction=conjunction,
                assertion=assertion,
                kind=kind,
                other_assertions=other_assertions,
            )
            site, keyword = assertion.location, assertion.keyword
            never_fails = keyword_verdict(compiled, site, keyword, kind) is True
            if not never_fails and not (
                any(
                    keyword_verdict(
                        compiled, alternative.location, alternative.keyword, kind
                    )
                    is False
                    for alternative in other_assertions
                )
                or any(proof(question) for proof in _PROOFS)
            ):
                return False
    return True
