"""Proofs from listed values, and from what branches repeat."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from curation.instances.constraints.assertions import asserting_keywords
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjunction import conjoin
from curation.json.text import canonical
from curation.json.values import identity, is_number, type_of
from curation.schema.keywords import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.instances.proofs.question import ImplicationQuestion
    from curation.schema.locations import SchemaLocation

#: Longer enumerations are not asked about.
_MOST_LISTED: Final = 2_000
#: What a keyword needs beside it to mean what it does.
_COMPANIONS: Final[dict[str, tuple[str, ...]]] = {
    "exclusiveMinimum": ("minimum",),
    "exclusiveMaximum": ("maximum",),
    "additionalProperties": ("properties", "patternProperties"),
    "additionalItems": ("items",),
    "items": ("prefixItems",),
    "minContains": ("contains",),
    "maxContains": ("contains",),
    "if": ("then", "else"),
}
#: Keywords with schemas inside, which may refer to the rest of the record.
_WITH_SCHEMAS: Final = ("anyOf", "oneOf", "not", "if")
_LOWER: Final = (
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
)
_UPPER: Final = (
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
)


def listed(question: ImplicationQuestion) -> bool:
    """Every value that an enum or const lists meets the keyword."""
    for part, word in question.others:
        if word not in ("enum", "const"):
            continue
        values = part.schema[word] if word == "enum" else [part.schema["const"]]
        mine = [each for each in values if type_of(each) == question.kind]
        if len(mine) <= _MOST_LISTED and all(_meets(question, each) for each in mine):
            return True
    return False


def _meets(question: ImplicationQuestion, value: UntypedJson) -> bool:
    schema, keyword = question.schema, question.keyword
    if keyword in _WITH_SCHEMAS or keyword not in asserting_keywords(
        schema, question.compiled.dialect
    ):
        return _decided(question, value)
    alone = {keyword: schema[keyword]}
    for word in _COMPANIONS.get(keyword, ()):
        if word in schema:
            alone[word] = schema[word]
    if _refers(alone):
        return False
    text = canonical(alone).decode("utf-8", "surrogatepass")
    errors = _alone(text, question.compiled.dialect.name).errors(value)
    return all(each.evaluation_path[:1] != (keyword,) for each in errors)


def _decided(question: ImplicationQuestion, value: UntypedJson) -> bool:
    """Tell whether a value meets anyOf, oneOf or not, by their branches."""
    compiled, location, keyword = (
        question.compiled,
        question.location,
        question.keyword,
    )
    if keyword == "not":
        return not compiled.accepts(compiled.child(location, ("not",)), value)
    if keyword not in ("anyOf", "oneOf"):
        return False
    count = sum(
        compiled.accepts(compiled.child(location, (keyword, str(index))), value)
        for index in range(len(location.schema[keyword]))
    )
    return count == 1 if keyword == "oneOf" else count > 0


def _refers(schema: UntypedJson) -> bool:
    if isinstance(schema, dict):
        return any(word in schema for word in REFERENCE_KEYWORDS) or any(
            _refers(each) for each in schema.values()
        )
    return isinstance(schema, list) and any(_refers(each) for each in schema)


@lru_cache(maxsize=512)
def _alone(text: str, dialect_name: str) -> CompiledSchema:
    return CompiledSchema.from_json(json.loads(text), dialect_name)


def branch_repeats(question: ImplicationQuestion) -> bool:
    """A branch asks for no more than what is asked for anyway."""
    if question.keyword != "anyOf":
        return False
    compiled, location = question.compiled, question.location
    return any(
        _asks_no_more(question, compiled.child(location, ("anyOf", str(index))))
        for index in range(len(location.schema["anyOf"]))
    )


def _asks_no_more(question: ImplicationQuestion, branch: SchemaLocation) -> bool:
    """Tell whether failing a branch means failing a keyword beside it."""
    shape = conjoin(question.compiled, (branch,))
    return not shape.impossible and all(
        any(
            theirs == word and entails(part, theirs, other, word)
            for other, theirs in question.others
        )
        for part in shape.locations()
        for word in _words(question, part)
    )


def _words(question: ImplicationQuestion, part: SchemaLocation) -> list[str]:
    """Return every word of a branch that may refuse; annotations cannot."""
    known = question.compiled.dialect
    asked = set(asserting_keywords(part.schema, known))
    inner = {
        word for word in part.schema if word in known.applicators and word != "allOf"
    }
    return sorted((asked | inner) - {"definitions", "$defs"})


def branches_repeat(question: ImplicationQuestion) -> bool:
    """Every branch of an anyOf or oneOf asks for the same again, or more."""
    compiled = question.compiled
    for part, word in question.others:
        if word not in ("anyOf", "oneOf"):
            continue
        branches = [
            compiled.child(part, (word, str(index)))
            for index in range(len(part.schema[word]))
        ]
        if all(_asks_again(question, each) for each in branches):
            return True
    return False


def _asks_again(question: ImplicationQuestion, branch: SchemaLocation) -> bool:
    if branch.schema is False:
        return True
    shape = conjoin(question.compiled, (branch,))
    return any(
        question.keyword in part.schema
        and entails(question.location, question.keyword, part, question.keyword)
        for part in shape.locations()
    )


def entails(
    weak: SchemaLocation, weak_word: str, strong: SchemaLocation, strong_word: str
) -> bool:
    """Tell whether whatever fails the weak keyword fails the strong one too."""
    mine, theirs = weak.schema[weak_word], strong.schema[strong_word]
    if weak_word == strong_word == "required":
        return isinstance(theirs, list) and set(theirs) >= set(mine)
    if weak_word == strong_word == "type":
        return _names(theirs) <= _names(mine)
    if weak_word == strong_word == "enum":
        return {identity(each) for each in theirs} <= {identity(each) for each in mine}
    if weak_word == strong_word and is_number(mine) and is_number(theirs):
        if weak_word in _LOWER:
            return bool(theirs >= mine)
        if weak_word in _UPPER:
            return bool(theirs <= mine)
    if weak_word in _COMPANIONS or _refers(mine):
        return False
    return weak_word == strong_word and canonical(mine) == canonical(theirs)


def _names(value: Any) -> set[str]:  # noqa: ANN401 - a word or a list of them
    names = {value} if isinstance(value, str) else set(value)
    return names | {"integer"} if "number" in names else names
