"""One record of SOB: a context, a question, a schema and the true answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from curation.core.json_types import UntypedJson

if TYPE_CHECKING:
    from curation.core.json_types import Json

#: Where a context comes from: texts, OCR of images, transcripts of speech.
Source: TypeAlias = Literal["text", "image", "audio"]
#: How hard a schema is (the paper's section 3).
Complexity: TypeAlias = Literal["easy", "medium", "hard"]


class Evidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why one leaf of a truth is true, for who reads the context.

    `kind` says how: `stated` (its value stands in the quotes), `affirmed` or `denied`
    (a boolean), `derived` (an operation over figures that stand in the quotes),
    `absent` (null: none of the terms stands in the context) or `unknown` (null: the
    quote says that it is not known).
    """

    kind: Literal["stated", "affirmed", "denied", "derived", "absent", "unknown"]
    #: Pieces of the context, word by word.
    quotes: tuple[str, ...] = ()
    #: What a derived value is made by: see `generator.reader`.
    operation: str = ""
    #: What the operation is applied to, each found in a quote.
    operands: tuple[UntypedJson, ...] = ()
    #: Words of which none stands in the context.
    terms: tuple[str, ...] = ()


class SobRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One record, whoever made it."""

    record_id: str
    source: Source
    context: str
    question: str
    json_schema: UntypedJson
    ground_truth: UntypedJson
    schema_complexity: str = ""
    question_difficulty: str = ""
    #: What records of one make have in common; empty for published ones.
    family: str = ""
    #: By JSON pointer, for every leaf; empty for published records.
    evidence: dict[str, Evidence] = {}


def complexity_of(schema: Json) -> Complexity:
    """Return how hard a schema is, by the paper's definition.

    Hard is an array of objects, or three levels of objects and arrays; medium is two
    levels; easy is flat. References are not followed.
    """
    deepest = 0
    stack: list[tuple[Json, int]] = [(schema, 1)]
    while stack:
        inner, level = stack.pop()
        if not isinstance(inner, dict):
            continue
        items, properties = inner.get("items"), inner.get("properties")
        if isinstance(items, dict):
            if isinstance(items.get("properties"), dict):
                return "hard"
            deepest = max(deepest, level)
            stack.append((items, level + 1))
        if isinstance(properties, dict):
            deepest = max(deepest, level)
            stack += [(child, level + 1) for child in properties.values()]
    names: tuple[Complexity, ...] = ("easy", "easy", "medium", "hard")
    return names[min(deepest, 3)]
