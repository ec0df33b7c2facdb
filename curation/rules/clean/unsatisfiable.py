"""Drop schemas that are proven to accept no instance, and repairs that lead there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from curation.core.rule import Context, Document, Json, Reason, Rejected, Rule
from curation.json.pointer import Put, Tokens, fragment_of, rewritten, tokens_of
from curation.lint.satisfiability import Proof, refute, refute_inside
from curation.schema.dialects import BY_NAME
from curation.schema.subschemas import subschema_locations

if TYPE_CHECKING:
    from curation.schema.dialects import Dialect

_NAME = "unsatisfiable"


def _apply(document: Document, _context: Context) -> Document | Rejected:
    dialect = BY_NAME[document.dialect or "2020-12"]
    proof = refute(document.schema, dialect)
    detail = str(proof)
    if proof is None and document.repaired:
        proof = _caused_by_repairs(document, dialect)
        detail = f"{proof}, because it was repaired ({', '.join(document.repaired)})"
    if proof is None:
        return document
    return Rejected(reason=Reason.UNSATISFIABLE, detail=detail, pointer=proof.pointer)


def _caused_by_repairs(document: Document, dialect: Dialect) -> Proof | None:
    """Return the proof of a schema that accepts nothing because of a repair."""
    schemas = {
        each.tokens: each.keywords
        for each in subschema_locations(document.schema, dialect)
        if each.schema is not False
    }
    repaired = {
        next(above for above in _upwards(tokens_of(change.pointer)) if above in schemas)
        for change in document.changes
        if change.rule in document.repaired
    }
    opened = _opened(document.schema, repaired)
    for tokens in _concerned(schemas, repaired):
        proof = refute_inside(document.schema, tokens, dialect)
        if proof and refute_inside(opened, tokens, dialect) is None:
            return proof
    return None


def _upwards(tokens: Tokens) -> Iterator[Tokens]:
    """Yield a place and all around it, innermost first."""
    return (tokens[:length] for length in range(len(tokens), -1, -1))


def _opened(schema: Json, repaired: set[Tokens]) -> Json:
    """Return the document as it were if the repaired schemas accepted everything."""
    outermost = [it for it in repaired if repaired & {*_upwards(it)} == {it}]
    return (
        {} if () in repaired else rewritten(schema, {it: Put({}) for it in outermost})
    )


def _concerned(
    schemas: Mapping[Tokens, Mapping[str, Json]], repaired: set[Tokens]
) -> list[Tokens]:
    """Return the schemas around some, and around the references to those.

    Deepest first: of two that accept nothing the inner one is the cause.
    """
    referring: defaultdict[str, list[Tokens]] = defaultdict(list)
    for place, keywords in schemas.items():
        if "$ref" in keywords:
            referring[str(keywords["$ref"])].append(place)
    pending, concerned = list(repaired), set[Tokens]()
    for tokens in pending:
        new = [it for it in _upwards(tokens) if it in schemas and it not in concerned]
        concerned.update(new)
        for place in new:
            pending += referring[fragment_of(place)]
    return sorted(concerned, key=lambda tokens: (-len(tokens), tokens))


RULE = Rule(
    name=_NAME,
    summary="A schema that provably accepts no instance is dropped: jsonschema-rs "
    "reduces it to one that accepts nothing, with formats asserted and without. So is "
    "a record in which a mechanical repair leaves such a subschema.",
    source="Meaning of the keywords in the validation specification",
    apply=_apply,
    reasons=(Reason.UNSATISFIABLE,),
)
