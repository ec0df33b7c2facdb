"""Edits of one value, the most natural first, and the table of all edits by keyword."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import combinations
from typing import Final, TypeAlias, TypeGuard

import msgspec

from curation.core.json_types import Json
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjunction import Conjunction, Goals
from curation.instances.constraints.keyword_values import (
    read_names,
    read_number,
    read_object,
)
from curation.instances.witnesses.builder import NOTHING, Nothing
from curation.json.values import is_number, json_type
from curation.validation.python_validators import PYTHON_VALIDATORS

#: More elements or properties than this are not made to cross a bound.
MAX_MEMBERS: Final = 2_000
#: A value of each type.
ANY: Final[tuple[Json, ...]] = (7, "text", None, True, [], {}, 0.5)
#: A value to try; NOTHING is in it where something was wanted and could not be made.
Edit: TypeAlias = "Json | Nothing | list[Json | Nothing] | dict[str, Json | Nothing]"
#: Yields values to replace the target's, the most natural first.
EditFunction: TypeAlias = "Callable[[EditTarget], Iterator[Edit]]"


class EditTarget(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a witness to edit, and what applies to it."""

    value: Json
    #: The schema object whose keyword is to fail.
    schema: dict[str, Json]
    keyword: str
    compiled: CompiledSchema
    #: Everything that the value must meet.
    conjunction: Conjunction
    rng: random.Random
    #: Makes a value for goals.
    fill: Callable[[Goals], Json | Nothing]

    @property
    def operand(self) -> Json:
        """The keyword's value."""
        return self.schema[self.keyword]

    @property
    def bound(self) -> float:
        """The keyword's value, which is a number."""
        return read_number(self.schema, self.keyword)

    @property
    def limit(self) -> int:
        """The keyword's value, which counts characters, elements or properties."""
        return int(self.bound)

    @property
    def array(self) -> list[Json]:
        """The value if it is an array, otherwise an empty one."""
        return self.value if isinstance(self.value, list) else []

    @property
    def members(self) -> dict[str, Json]:
        """The value if it is an object, otherwise an empty one."""
        return self.value if isinstance(self.value, dict) else {}


def is_complete(edit: Edit) -> TypeGuard[Json]:
    """Return whether all values of an edit were made, and are JSON."""
    if isinstance(edit, float):
        return math.isfinite(edit)
    if isinstance(edit, dict):
        return not any(isinstance(value, Nothing) for value in edit.values())
    if isinstance(edit, list):
        return not any(isinstance(value, Nothing) for value in edit)
    return not isinstance(edit, Nothing)


#: Longer strings than this are not made to cross a bound.
MAX_LENGTH: Final = 70_000
#: The line break is between letters: `.` matches none in any engine, but `$` of
#: Python's `re` also matches before one at the end.
_ODD: Final = (
    *("!", " ", "~", "#", "0", "a", "A", "-", "\u00e4", "a\na"),
    *('"', "\\", "\U0001f600", ""),
)
#: One character, and two code units of UTF-16.
_ASTRAL: Final = "\U0001f600"
#: Share of overlong texts made of it, and the longest of them.
_ASTRAL_SHARE: Final = 0.1
_MAX_ASTRAL: Final = 1_000
#: Texts that look like a format, but are invalid.
_MALFORMED: Final[dict[str, tuple[str, ...]]] = {
    "date-time": ("2024-13-01T00:00:00Z", "2024-01-01 25:00", "2024-01-01"),
    "date": ("2024-02-30", "2024-13-01", "01/02/2024"),
    "time": ("25:00:00Z", "noon", "12:60:00Z"),
    "duration": ("1 day", "P", "PD1"),
    "email": ("name.example.com", "@"),
    "idn-email": ("name.example.com", "@"),
    "hostname": ("-example-.com", "a b", "exa_mple..com"),
    "idn-hostname": ("-example-.com", "a b", "\u3002"),
    "ipv4": ("256.256.256.256", "192.0.2", "192.0.2.1.1"),
    "ipv6": ("2001:db8:::1", "12345::", "g::1"),
    "uri": ("example com", "//a b", "\\\\host\\share", "a", "/a"),
    "uri-reference": ("a b", "\\\\host\\share", "%"),
    "iri": ("example com", "//a b", "a", "\\\\host\\share"),
    "iri-reference": ("a b", "\\\\host\\share"),
    "uuid": ("123e4567-e89b-12d3-a456-42661417400", "not-a-uuid"),
    "uri-template": ("https://example.com/{a", "{"),
    "json-pointer": ("a", "/~2"),
    "relative-json-pointer": ("/a", "-1", "a"),
    "regex": ("(", "[", "a{2,1}"),
}


def altered(text: str) -> Iterator[str]:
    """Yield texts a little unlike the given one."""
    if text:
        yield text[:-1]
        yield text + text[-1]
    yield text + "x"
    if text.swapcase() != text:
        yield text.swapcase()
    yield "other"
    yield from _ODD


def shorter(target: EditTarget) -> Iterator[Edit]:
    """Yield texts one character too short, then shorter ones."""
    minimum = target.limit
    text = (
        target.value
        if isinstance(target.value, str)
        else "x" * min(minimum, MAX_LENGTH)
    )
    yield text[: minimum - 1]
    yield text[len(text) - minimum + 1 :]
    if len(text) > minimum > 1:
        yield text[: minimum // 2] + text[len(text) - (minimum - 1 - minimum // 2) :]
    for character in ("a", "0", "A"):
        yield character * min(minimum - 1, MAX_LENGTH)
    yield text[: minimum // 2]
    yield ""


def longer(target: EditTarget) -> Iterator[Edit]:
    """Yield texts one character too long."""
    maximum = target.limit
    if maximum >= MAX_LENGTH:
        return
    text = target.value if isinstance(target.value, str) else "x"
    if maximum < _MAX_ASTRAL and target.rng.random() < _ASTRAL_SHARE:
        yield _ASTRAL * (maximum + 1)
    yield from _stretched(text, maximum + 1)
    for character in ("a", "0", "A", "x", "1"):
        yield character * (maximum + 1)


def _stretched(text: str, length: int) -> Iterator[str]:
    """Yield texts of a length, grown by repeating their middle."""
    missing = length - len(text)
    if missing <= 0 or not text:
        return
    yield text + text[-1] * missing
    if "." in text:
        dot = text.rindex(".")
        yield text[:dot] + "x" * missing + text[dot:]
        dot = text.index(".")
        yield text[:dot] + text[max(dot - 1, 0)] * missing + text[dot:]
    middle = len(text) // 2
    yield text[:middle] + text[middle] * missing + text[middle:]
    yield text[0] * missing + text
    yield (text * (missing // len(text) + 2))[:length]


def unmatched(target: EditTarget) -> Iterator[Edit]:
    """Yield texts that a pattern may refuse, of an allowed length."""
    conjunction = target.conjunction
    text = target.value if isinstance(target.value, str) else "text"
    maximum = conjunction.counts.get("maxLength", MAX_LENGTH)
    minimum = min(conjunction.counts.get("minLength", 0), MAX_LENGTH)
    for candidate in _unlike(text):
        repeats = minimum // len(candidate) + 1 if 0 < len(candidate) < minimum else 1
        yield (candidate * repeats)[: max(minimum, min(maximum, len(candidate)))]


def _unlike(text: str) -> Iterator[str]:
    if text:
        yield text[:-1] + "!"
        yield "!" + text[1:]
    yield text + "!"
    yield text[:-1]
    yield text + text
    yield text.swapcase()
    yield text[1:]
    middle = len(text) // 2
    yield text[:middle] + "~" + text[middle + 1 :]
    yield text[:middle] + " " + text[middle:]
    yield from ("!", " ", *_ODD)


def malformed(target: EditTarget) -> Iterator[Edit]:
    """Yield texts that both validators take for no instance of the format."""
    text = target.value if isinstance(target.value, str) else ""
    dialect_name, name = target.compiled.dialect.name, str(target.operand)
    near = [near for near in (text[:-1], text + "!", " " + text) if near != text]
    if name == "regex":
        # Readers without the flag `u` take most of these for patterns.
        near = []
    maximum, minimum = (
        target.conjunction.counts.get("maxLength"),
        target.conjunction.counts.get("minLength", 0),
    )
    for candidate in (*_MALFORMED.get(name, ()), "not a " + name, *near, *_ODD):
        fits = minimum <= len(candidate) and (
            maximum is None or len(candidate) <= maximum
        )
        if fits and is_malformed(dialect_name, name, candidate):
            yield candidate


@lru_cache(maxsize=4096)
def is_malformed(dialect_name: str, name: str, text: str) -> bool:
    """Return whether jsonschema's checker refuses a text as a format."""
    return not PYTHON_VALIDATORS[dialect_name].FORMAT_CHECKER.conforms(text, name)


#: From here on not every integer is a double.
_DOUBLES_STEP_BY_ONE: Final = 2**53
#: Larger bounds are floats, of which one step is as good as another.
_MAX_INTEGER: Final = 2**128
#: Steps from a multiple within which doubles may take a number for one.
_NEARLY: Final = 1e-6
#: Properties of an object left out, one at a time.
_MAX_LEFT_OUT: Final = 12
#: Values to replace another of the same type.
_UNLISTED: Final[dict[str, tuple[Json, ...]]] = {
    "string": ("other", "unlisted", ""),
    "integer": (0, 1, -1, 99_991),
    "number": (0.5,),
    "boolean": (True, False),
    "null": (None,),
    "array": ([], ["other"]),
    "object": ({}, {"other": 1}),
}


def of_another_type(target: EditTarget) -> Iterator[Edit]:
    """Yield values of a type that is not allowed."""
    names = set(read_names(target.operand))
    if "number" in names:
        names.add("integer")
    if target.schema.get("nullable") is True:
        # OpenAPI's word, which some validators know.
        names.add("null")
    wrong = [value for value in ANY if json_type(value) not in names]
    target.rng.shuffle(wrong)
    value = target.value
    if "integer" in names and is_number(value) and "number" not in names:
        # It shows only at the point.
        wrong.insert(target.rng.randrange(2), value + 0.5)
    yield from wrong


def unlisted(target: EditTarget) -> Iterator[Edit]:
    """Yield values that enum or const do not list, first of the same type."""
    value = target.value
    if isinstance(value, str):
        yield from altered(value)
    if isinstance(value, bool):
        yield not value
    elif is_number(value):
        yield from (value + 1, value - 1, value * 10 + 7, value + 0.5)
    if isinstance(value, list):
        yield from ([*value, *value[:1]], value[:-1], [*value, "other"])
    if isinstance(value, dict):
        yield {**value, "other": True}
        yield {name: value[name] for name in list(value)[:-1]}
    for kind in target.conjunction.types:
        yield from _UNLISTED[kind]
    yield from ANY


def _step(target: EditTarget) -> float:
    """Return the least step tried from one allowed number to the next."""
    for multiple in target.conjunction.multiples:
        if multiple >= 1:
            return multiple
    return 1


def beyond(sign: int) -> EditFunction:
    """Return the edit that crosses `minimum` or `maximum`, by one step first.

    Args:
        sign: 1 to go beyond a `maximum`, -1 to go below a `minimum`.
    """

    def edit(target: EditTarget) -> Iterator[Edit]:
        bound = target.bound
        if _DOUBLES_STEP_BY_ONE <= abs(bound) <= _MAX_INTEGER:
            # Many parsers of JSON read every number as a double (RFC 8259 section 6),
            # and would take one step more for the bound itself.
            yield int(math.nextafter(float(bound), sign * math.inf))
        for step in (_step(target), 1, 0.5):
            yield bound + sign * step
        for multiple in target.conjunction.multiples:
            onward = 1 if sign > 0 else -(bound % multiple == 0)
            yield (bound // multiple + onward) * multiple
        yield bound + sign * 0.001
        yield bound + sign * abs(bound) + sign

    return edit


def at_bound(name: str, sign: int) -> EditFunction:
    """Return the edit that crosses an exclusive bound by standing on it.

    Args:
        name: The keyword that holds the bound where draft-04 has a flag.
        sign: 1 to continue upwards, -1 to continue downwards.
    """

    def edit(target: EditTarget) -> Iterator[Edit]:
        bound = read_number(
            target.schema, name if target.operand is True else target.keyword
        )
        yield bound
        yield bound + sign
        yield bound + sign * _step(target)
        for multiple in target.conjunction.multiples:
            yield bound // multiple * multiple
            yield (bound // multiple + sign) * multiple

    return edit


def off_step(target: EditTarget) -> Iterator[Edit]:
    """Yield numbers that are not multiples."""
    step, conjunction = target.bound, target.conjunction
    bases: list[float] = [target.value] if is_number(target.value) else []
    bounds = (conjunction.bounds.get("minimum"), conjunction.bounds.get("maximum"))
    bases += [bound for bound in bounds if bound is not None]
    for base in (*bases, 0):
        for delta in (1, step / 2, step / 3, step / 10):
            for number in (base + delta, base - delta):
                with suppress(OverflowError, ZeroDivisionError):
                    quotient = number / step
                    if abs(quotient - round(quotient)) < _NEARLY:
                        continue
                yield number


def replaced(target: EditTarget) -> Iterator[Edit]:
    """Yield plain values, and the value without one of its members, the last first."""
    value = target.value
    if isinstance(value, dict):
        for left_out in list(reversed(value))[:_MAX_LEFT_OUT]:
            yield {name: value[name] for name in value if name != left_out}
        yield {}
    if isinstance(value, list):
        yield []
        yield value[:-1]
    if isinstance(value, str):
        yield from altered(value)
    if is_number(value):
        yield from (value + 1, value - 1, -value, value * 1000, value + 0.5)
    yield from ANY


#: Beginnings of an array tried in its place.
_MAX_BEGINNINGS: Final = 8


def fewer_items(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays with one element too few."""
    value, minimum = target.value, target.limit
    if isinstance(value, list):
        yield value[: minimum - 1]
        yield value[len(value) - minimum + 1 :]
    if minimum == 1:
        yield []


def more_items(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays with one element too many."""
    maximum, unique = target.limit, target.conjunction.unique
    if maximum >= MAX_MEMBERS:
        return
    value = target.array
    if value and not unique:
        yield [*value, *[value[-1]] * (maximum + 1 - len(value))]
    longer: list[Json | Nothing] = list(value)
    texts = {repr(item) for item in longer}
    for _ in range(3 * (maximum + 2)):
        if len(longer) > maximum:
            break
        goals = target.conjunction.member_goals(len(longer))
        item = target.fill(goals or ())
        if not unique or repr(item) not in texts:
            longer.append(item)
            texts.add(repr(item))
        elif not goals:
            longer.append(f"item {len(longer)}")
    if len(longer) == maximum + 1:
        yield longer


def twice(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays in which an element occurs twice."""
    value = target.array
    if value:
        yield [*value, value[-1]]
        yield [*value, value[0]]
    if len(value) > 1:
        yield [*value[:-1], value[0]]
        yield [*value[:-1], value[-2]]
    if len(value) <= 1:
        item = target.fill(target.conjunction.member_goals(0) or ())
        yield [item, item]


def without_contained(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays without a required element."""
    value = target.array
    yield []
    accepts = target.compiled.accepts
    contained = [containment.location for containment in target.conjunction.contains]
    remaining = [
        item
        for item in value
        if not any(accepts(location, item) for location in contained)
    ]
    yield remaining
    for count in range(1, min(len(value), _MAX_BEGINNINGS)):
        yield value[:count]
    for item in ANY:
        yield [*remaining, item]
        yield [item] * max(1, target.conjunction.counts.get("minItems", 0))


def too_often(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays with what `contains` asks for once too often."""
    maximum = target.operand
    for containment in target.conjunction.contains:
        item = target.fill((containment.location,))
        if isinstance(maximum, int) and maximum < MAX_MEMBERS:
            yield [*target.array, *[item] * (maximum + 1)]


def one_more_item(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays with an element that no schema is for."""
    longer: list[Json | Nothing] = list(target.array)
    while len(longer) < target.conjunction.prefix_length():
        goals = target.conjunction.member_goals(len(longer))
        longer.append(target.fill(goals or ()))
    yield from ([*longer, "extra"], [*longer, 7], [*longer, None], [*longer, {}])
    if target.keyword == "items":
        alone: list[Json] = ["extra"]
        yield alone


#: Branches of which two are to accept a value.
_MAX_BRANCHES: Final = 4


def in_two_branches(target: EditTarget) -> Iterator[Edit]:
    """Yield values that two branches accept, then what `replaced` does."""
    for choice in target.conjunction.choices:
        if choice.keyword == target.keyword:
            for branches in combinations(choice.branches[:_MAX_BRANCHES], 2):
                yield target.fill(branches)
    yield from replaced(target)


_EXTRA: Final = ("extra", "additional", "other", "unexpected", "Extra", "", "a\nb", "0")
_BAD_NAMES: Final = ("", "!", "a b", "0", "Aa", "-", "\u00e4", "x" * 300, "a", "A_B")
_VALUES: Final[tuple[Json, ...]] = ("extra", 1, True)


def _without(members: dict[str, Json], *names: str) -> dict[str, Json]:
    return {name: members[name] for name in members if name not in names}


def extra(target: EditTarget) -> Iterator[Edit]:
    """Yield the object with one property that is not declared."""
    members = target.members
    value = target.rng.choice(_VALUES)
    declared = target.conjunction.named_members("properties")
    names = list(_EXTRA)
    if declared:
        # It shows only where the name continues, or ends.
        near = target.rng.choice(list(declared))
        names[target.rng.randrange(2) : 0] = [near + "s", near[:-1]]
    for name in names:
        if name not in members and name not in declared:
            yield {**members, name: value}
    # If the array is full, the new one replaces another.
    for name in reversed(members):
        if name not in target.conjunction.required:
            yield {**_without(members, name), _EXTRA[0]: value}
            break
    for candidate in ANY:
        yield {**members, "unexpected": candidate}


def missing(target: EditTarget) -> Iterator[Edit]:
    """Yield the object without a required property, the last one first."""
    required = read_names(target.operand)
    for name in reversed([name for name in target.members if name in required]):
        yield _without(target.members, name)


def fewer(target: EditTarget) -> Iterator[Edit]:
    """Yield the object with one property too few."""
    members, minimum = target.members, target.limit
    optional = [name for name in members if name not in target.conjunction.required]
    excess = len(members) - minimum + 1
    if 0 < excess <= len(optional):
        yield _without(members, *optional[len(optional) - excess :])
        yield _without(members, *optional[:excess])
    if minimum == 1:
        yield {}


def more(target: EditTarget) -> Iterator[Edit]:
    """Yield the object with one property too many."""
    members, maximum = target.members, target.limit
    if maximum >= MAX_MEMBERS:
        return
    longer = dict(members)
    names = [
        *target.conjunction.named_members("properties"),
        *(f"extra{number}" for number in range(maximum + 1)),
    ]
    # The names already used show what names are wanted.
    names += [f"{name}{number}" for name in members for number in range(1, maximum + 2)]
    for name in names:
        if len(longer) > maximum:
            break
        if name not in longer:
            value = _make_value(target, name)
            if not isinstance(value, Nothing):
                longer[name] = value
    yield longer


def _make_value(target: EditTarget, name: str) -> Json | Nothing:
    """Make a value for a property, or NOTHING if it is forbidden."""
    goals = target.conjunction.member_goals(name)
    if goals is None or not target.conjunction.allows_name(name):
        return NOTHING
    return target.fill(goals)


def misnamed(target: EditTarget) -> Iterator[Edit]:
    """Yield the object with a property of a refused name."""
    members = target.members
    for name in (*_BAD_NAMES, *(name + "!" for name in members)):
        if target.conjunction.allows_name(name):
            continue
        goals = target.conjunction.member_goals(name)
        value = NOTHING if goals is None else target.fill(goals)
        if not isinstance(value, Nothing):
            yield {**members, name: value}


def dependent(target: EditTarget) -> Iterator[Edit]:
    """Yield the object with a property, but without its dependencies."""
    for name, needs in read_object(target.schema, target.keyword).items():
        members = target.members
        if name not in members:
            value = _make_value(target, name)
            if isinstance(value, Nothing):
                continue
            members = {**members, name: value}
        if isinstance(needs, dict):
            yield members
        if isinstance(needs, dict | list):
            for partner in members if isinstance(needs, dict) else read_names(needs):
                if partner != name:
                    yield _without(members, partner)


#: The edits of each keyword.
EDITS: Final[Mapping[str, EditFunction]] = {
    "type": of_another_type,
    "enum": unlisted,
    "const": unlisted,
    "minimum": beyond(-1),
    "maximum": beyond(1),
    "exclusiveMinimum": at_bound("minimum", -1),
    "exclusiveMaximum": at_bound("maximum", 1),
    "multipleOf": off_step,
    "minLength": shorter,
    "maxLength": longer,
    "pattern": unmatched,
    "format": malformed,
    "minItems": fewer_items,
    "maxItems": more_items,
    "uniqueItems": twice,
    "contains": without_contained,
    "minContains": without_contained,
    "maxContains": too_often,
    "items": one_more_item,
    "additionalItems": one_more_item,
    "unevaluatedItems": one_more_item,
    "anyOf": replaced,
    "oneOf": in_two_branches,
    "not": replaced,
    "if": replaced,
    "additionalProperties": extra,
    "unevaluatedProperties": extra,
    "required": missing,
    "minProperties": fewer,
    "maxProperties": more,
    "propertyNames": misnamed,
    "dependencies": dependent,
    "dependentRequired": dependent,
    "dependentSchemas": dependent,
}
