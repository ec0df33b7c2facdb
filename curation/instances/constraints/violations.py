"""What a value violates, as the validator sees it: keyword, schema, instance.

`$ref`, `allOf`, `properties`, `items` and the like only pass on what stands below
them. What decides by itself (`anyOf`, `oneOf`, `not`, `if`, `contains`,
`propertyNames`, `dependent...`, `unevaluated...`) is the keyword that fails, whatever
fails below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.conjunction import conjunction
from curation.instances.model import NearMiss
from curation.json.pointer import pointer, tokens_of
from curation.schema.dialects import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import Error, Node, Subject
    from curation.instances.constraints.goals import Goals
    from curation.json.pointer import Tokens

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
class Label:
    """One keyword that a value fails."""

    keyword: str
    #: Where the keyword stands in the record, references followed.
    schema_pointer: str
    #: Where the value stands that fails it.
    instance_pointer: str

    def row(self) -> tuple[str, str, str]:
        """Return the label as `NearMiss.keywords` holds it."""
        return self.keyword, self.schema_pointer, self.instance_pointer


def labels(subject: Subject, value: UntypedJson) -> tuple[Label, ...]:
    """Return what a value fails, each once, in the validator's order."""
    found = (_label(subject, value, each) for each in subject.errors(value))
    return tuple(dict.fromkeys(found))


def near_miss(subject: Subject, value: UntypedJson) -> NearMiss | None:
    """Return a value with its label, or None if the schema accepts it.

    One keyword at one place of the instance is one violation, even where several
    schemas say the same; `keywords` holds them all.
    """
    found = labels(subject, value)
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


def _label(subject: Subject, value: UntypedJson, error: Error) -> Label:
    try:
        if error.of_name and "propertyNames" not in error.evaluation_path:
            return _of_name(subject, value, error)
        return _traced(subject, error)
    except LookupError:
        return Label(
            keyword=error.keyword,
            schema_pointer=error.schema_pointer,
            instance_pointer=error.instance_pointer,
        )


def _traced(subject: Subject, error: Error) -> Label:
    """Follow the keywords of an error down to the one that decides.

    Raises:
        LookupError: they lead nowhere in the record.
    """
    node, words = subject.root, error.evaluation_path
    spot = tokens_of(error.instance_pointer)
    index = depth = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word in REFERENCE_KEYWORDS:
            node = _target(subject, node, word)
        elif word in _CONDITIONAL:
            return _here(node, "if", spot[:depth])
        elif word in DECIDING:
            return _here(node, word, spot[:depth])
        elif index == len(words):
            return _here(node, word, spot)
        elif isinstance(node.schema[word], list) or _is_map(subject, word):
            node = subject.child(node, (word, words[index]))
            index += 1
            depth += word in _DESCENDING
        else:
            node = subject.child(node, (word,))
            depth += 1
    return Label(
        keyword=FALSE,
        schema_pointer=where(node, ()),
        instance_pointer=error.instance_pointer,
    )


def _of_name(subject: Subject, value: UntypedJson, error: Error) -> Label:
    """Find the `propertyNames` that refuses a name, from where the object stands.

    Raises:
        LookupError: none does that always applies.
    """
    goals: Goals = (subject.root,)
    spot = tokens_of(error.instance_pointer)
    for token in spot:
        shape = conjunction(subject, goals)
        if isinstance(value, list):
            goals, value = shape.item_nodes(int(token)) or (), value[int(token)]
        else:
            goals, value = shape.property_nodes(token) or (), value[token]
    for part in conjunction(subject, goals).places():
        if "propertyNames" in part.schema:
            place = subject.child(part, ("propertyNames",))
            if not all(subject.accepts(place, name) for name in value):
                return _here(part, "propertyNames", spot)
    raise LookupError(error.schema_pointer)


def _target(subject: Subject, node: Node, word: str) -> Node:
    target = subject.target(node, word)
    if target is None:
        raise LookupError(word)
    return target


def _is_map(subject: Subject, word: str) -> bool:
    shape = subject.dialect.applicators.get(word)
    return shape is not None and shape.name == "MAP"


def _here(node: Node, keyword: str, spot: Tokens) -> Label:
    return Label(
        keyword=keyword,
        schema_pointer=where(node, (keyword,)),
        instance_pointer=pointer(spot),
    )


def where(node: Node, tokens: Tokens) -> str:
    """Return the pointer of a keyword; with its URI outside of the record."""
    text = pointer(node.tokens + tokens)
    return f"{node.document}#{text}" if node.document else text
