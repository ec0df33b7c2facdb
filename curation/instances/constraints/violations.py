"""What a value violates, as the validator sees it: keyword, schema, instance.

`$ref`, `allOf`, `properties`, `items` and the like only pass on what stands below
them. What decides by itself (`anyOf`, `oneOf`, `not`, `if`, `contains`,
`propertyNames`, `dependent...`, `unevaluated...`) is the keyword that fails, whatever
fails below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.conjunction import conjoin
from curation.instances.model import NearMiss
from curation.json.pointer import pointer, tokens_of
from curation.schema.keywords import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import (
        CompiledSchema,
        FailedAssertion,
    )
    from curation.instances.constraints.goals import Goals
    from curation.json.pointer import Tokens
    from curation.schema.locations import SchemaLocation

#: Stands for the keyword where a schema is `false` and no keyword holds it.
FALSE: Final = "false"
#: Stands for the keyword where several fail.
MIXED: Final = "mixed"
#: Keywords that are themselves what fails.
DECIDING: Final = frozenset(
    {
        "anyOf",
        "oneOf",
        "not",
        "if",
        "contains",
        "propertyNames",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_CONDITIONAL = ("then", "else")
#: Transparent keywords below which one value of the instance is met.
_DESCENDING = ("properties", "patternProperties", "items", "prefixItems")


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One keyword that a value fails."""

    keyword: str
    #: Where the keyword stands in the record, references followed.
    schema_pointer: str
    #: Where the value stands that fails it.
    instance_pointer: str

    def row(self) -> tuple[str, str, str]:
        """Return the label as `NearMiss.keywords` holds it."""
        return self.keyword, self.schema_pointer, self.instance_pointer


def find_violations(
    compiled: CompiledSchema, value: UntypedJson
) -> tuple[Violation, ...]:
    """Return what a value fails, each once, in the validator's order."""
    found = (_label(compiled, value, each) for each in compiled.errors(value))
    return tuple(dict.fromkeys(found))


def near_miss(compiled: CompiledSchema, value: UntypedJson) -> NearMiss | None:
    """Return a value with its label, or None if the schema accepts it.

    One keyword at one place of the instance is one violation, even where several
    schemas say the same; `keywords` holds them all.
    """
    found = find_violations(compiled, value)
    if not found:
        return None
    first = found[0]
    single = len({(each.keyword, each.instance_pointer) for each in found}) == 1
    return NearMiss(
        value=value,
        keyword=first.keyword if single else MIXED,
        schema_pointer=first.schema_pointer if single else "",
        instance_pointer=first.instance_pointer if single else "",
        keywords=tuple(each.row() for each in found) if len(found) > 1 else (),
    )


def _label(
    compiled: CompiledSchema, value: UntypedJson, error: FailedAssertion
) -> Violation:
    try:
        if error.of_name and "propertyNames" not in error.evaluation_path:
            return _of_name(compiled, value, error)
        return _traced(compiled, error)
    except LookupError:
        return Violation(
            keyword=error.keyword,
            schema_pointer=error.schema_pointer,
            instance_pointer=error.instance_pointer,
        )


def _traced(compiled: CompiledSchema, error: FailedAssertion) -> Violation:
    """Follow the keywords of an error down to the one that decides.

    Raises:
        LookupError: they lead nowhere in the record.
    """
    location, words = compiled.root, error.evaluation_path
    spot = tokens_of(error.instance_pointer)
    index = depth = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word in REFERENCE_KEYWORDS:
            location = _target(compiled, location, word)
        elif word in _CONDITIONAL:
            return _here(location, "if", spot[:depth])
        elif word in DECIDING:
            return _here(location, word, spot[:depth])
        elif index == len(words):
            return _here(location, word, spot)
        elif isinstance(location.schema[word], list) or _is_map(compiled, word):
            location = compiled.child(location, (word, words[index]))
            index += 1
            depth += word in _DESCENDING
        else:
            location = compiled.child(location, (word,))
            depth += 1
    return Violation(
        keyword=FALSE,
        schema_pointer=keyword_pointer(location, ()),
        instance_pointer=error.instance_pointer,
    )


def _of_name(
    compiled: CompiledSchema, value: UntypedJson, error: FailedAssertion
) -> Violation:
    """Find the `propertyNames` that refuses a name, from where the object stands.

    Raises:
        LookupError: none does that always applies.
    """
    goals: Goals = (compiled.root,)
    spot = tokens_of(error.instance_pointer)
    for token in spot:
        shape = conjoin(compiled, goals)
        if isinstance(value, list):
            goals, value = shape.item_goals(int(token)) or (), value[int(token)]
        else:
            goals, value = shape.property_goals(token) or (), value[token]
    for part in conjoin(compiled, goals).locations():
        if "propertyNames" in part.schema:
            place = compiled.child(part, ("propertyNames",))
            if not all(compiled.accepts(place, name) for name in value):
                return _here(part, "propertyNames", spot)
    raise LookupError(error.schema_pointer)


def _target(
    compiled: CompiledSchema, location: SchemaLocation, word: str
) -> SchemaLocation:
    target = compiled.target(location, word)
    if target is None:
        raise LookupError(word)
    return target


def _is_map(compiled: CompiledSchema, word: str) -> bool:
    shape = compiled.dialect.applicators.get(word)
    return shape is not None and shape.name == "MAP"


def _here(location: SchemaLocation, keyword: str, spot: Tokens) -> Violation:
    return Violation(
        keyword=keyword,
        schema_pointer=keyword_pointer(location, (keyword,)),
        instance_pointer=pointer(spot),
    )


def keyword_pointer(location: SchemaLocation, tokens: Tokens) -> str:
    """Return the pointer of a keyword; with its URI outside of the record."""
    text = pointer(location.tokens + tokens)
    return f"{location.document}#{text}" if location.document else text
