"""Proofs from listed values, and from what branches repeat."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.assertions import asserting_keywords
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.keyword_values import (
    COMPANIONS,
    array_of,
    names_of,
)
from curation.instances.constraints.reachable_keywords import Assertion
from curation.json.text import canonical
from curation.json.values import identity, is_number, type_of
from curation.schema.keywords import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.proofs.question import ImplicationQuestion
    from curation.schema.subschemas import SchemaLocation

#: Longer enumerations are not asked about.
_MOST_LISTED: Final = 2_000
#: Keywords with schemas inside, which may refer to the rest of the record.
_WITH_SCHEMAS: Final = ("anyOf", "oneOf", "not", "if")
#: Keywords that refuse more the greater their value is.
_LOWER_BOUNDS: Final = (
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
)
#: Keywords that refuse more the less their value is.
_UPPER_BOUNDS: Final = (
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
)


def listed(question: ImplicationQuestion) -> bool:
    """Every value that an enum or const lists meets the keyword."""
    for other in question.others:
        schema = other.location.schema
        if other.keyword == "enum":
            values = array_of(schema, "enum")
        elif other.keyword == "const":
            values = [schema["const"]]
        else:
            continue
        left = [value for value in values if type_of(value) == question.kind]
        if len(left) <= _MOST_LISTED and all(_meets(question, value) for value in left):
            return True
    return False


def _meets(question: ImplicationQuestion, value: Json) -> bool:
    """Return whether a value meets the keyword, as far as that can be told."""
    schema, keyword = question.schema, question.keyword
    dialect = question.compiled.dialect
    if keyword in _WITH_SCHEMAS or keyword not in asserting_keywords(schema, dialect):
        return _meets_branches(question, value)
    alone = {keyword: schema[keyword]}
    for companion in COMPANIONS.get(keyword, ()):
        if companion in schema:
            alone[companion] = schema[companion]
    if _refers(alone):
        return False
    text = canonical(alone).decode("utf-8", "surrogatepass")
    failed = _compiled(text, dialect.name).errors(value)
    return all(assertion.evaluation_path[:1] != (keyword,) for assertion in failed)


def _meets_branches(question: ImplicationQuestion, value: Json) -> bool:
    """Return whether a value meets anyOf, oneOf or not, by their branches."""
    compiled, location = question.compiled, question.location
    keyword = question.keyword
    if keyword == "not":
        return not compiled.accepts(compiled.child(location, ("not",)), value)
    if keyword not in ("anyOf", "oneOf"):
        return False
    branches = _branches(compiled, question.assertion)
    count = sum(compiled.accepts(branch, value) for branch in branches)
    return count == 1 if keyword == "oneOf" else count > 0


def _branches(compiled: CompiledSchema, assertion: Assertion) -> list[SchemaLocation]:
    location, keyword = assertion.location, assertion.keyword
    count = len(array_of(location.schema, keyword))
    return [compiled.child(location, (keyword, str(index))) for index in range(count)]


def _refers(value: Json) -> bool:
    """Return whether a reference stands anywhere in a keyword's value."""
    if isinstance(value, dict):
        return any(keyword in value for keyword in REFERENCE_KEYWORDS) or any(
            _refers(member) for member in value.values()
        )
    return isinstance(value, list) and any(_refers(item) for item in value)


@lru_cache(maxsize=512)
def _compiled(text: str, dialect_name: str) -> CompiledSchema:
    return CompiledSchema.from_json(json.loads(text), dialect_name)


def branch_repeats(question: ImplicationQuestion) -> bool:
    """A branch asks for no more than what is asked for anyway."""
    if question.keyword != "anyOf":
        return False
    branches = _branches(question.compiled, question.assertion)
    return any(_asks_no_more(question, branch) for branch in branches)


def _asks_no_more(question: ImplicationQuestion, branch: SchemaLocation) -> bool:
    """Return whether failing a branch means failing a keyword beside it."""
    conjunction = conjoin(question.compiled, (branch,))
    return not conjunction.impossible and all(
        any(
            other.keyword == keyword and entails(Assertion(part, keyword), other)
            for other in question.others
        )
        for part in conjunction.locations
        for keyword in _refusing_keywords(question, part)
    )


def _refusing_keywords(
    question: ImplicationQuestion, part: SchemaLocation
) -> list[str]:
    """Return every keyword of a branch that may refuse; annotations cannot."""
    dialect = question.compiled.dialect
    asserting = set(asserting_keywords(part.schema, dialect))
    applying = {keyword for keyword in part.schema if keyword in dialect.applicators}
    return sorted((asserting | applying) - {"allOf", "definitions", "$defs"})


def branches_repeat(question: ImplicationQuestion) -> bool:
    """Every branch of an anyOf or oneOf asks for the same again, or more."""
    return any(
        all(
            _asks_again(question, branch)
            for branch in _branches(question.compiled, other)
        )
        for other in question.others
        if other.keyword in ("anyOf", "oneOf")
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
    """Return whether every value that fails an assertion fails another one too.

    Args:
        weak: What the value fails.
        strong: What it is shown to fail; assertions of other names are not compared.
    """
    keyword = weak.keyword
    if keyword != strong.keyword:
        return False
    mine, theirs = weak.location.schema[keyword], strong.location.schema[keyword]
    if keyword == "required":
        return set(names_of(theirs)) >= set(names_of(mine))
    if keyword == "type":
        return _types(theirs) <= _types(mine)
    if keyword == "enum":
        return set(map(identity, theirs)) <= set(map(identity, mine))
    if is_number(mine) and is_number(theirs):
        if keyword in _LOWER_BOUNDS:
            return theirs >= mine
        if keyword in _UPPER_BOUNDS:
            return theirs <= mine
    if keyword in COMPANIONS or _refers(mine):
        return False
    return canonical(mine) == canonical(theirs)


def _types(value: Json) -> set[str]:
    names = set(names_of(value))
    return names | {"integer"} if "number" in names else names
