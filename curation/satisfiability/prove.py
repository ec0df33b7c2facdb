"""Proofs that a schema accepts nothing: simple ones, cheap, and sound.

No proof means nothing: the schema may accept no instance all the same.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from curation.json.pointer import pointer
from curation.satisfiability.schema_view import Ground, Node
from curation.satisfiability.search import FUEL, RISKY, Search
from curation.satisfiability.state import Proof

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.schema.dialects import Dialect

__all__ = ["Answer", "Proof", "answer", "refute", "refuted_places"]

#: Goals looked at for all the places of one schema.
_FUEL_OF_PLACES = 3 * FUEL


class Answer(StrEnum):
    """Whether a schema can be met at all."""

    SATISFIABLE = "satisfiable"
    """A witness exists."""
    UNSATISFIABLE = "unsatisfiable"
    """There is a proof that nothing is accepted."""
    UNKNOWN = "unknown"
    """Neither was found; the reason says what stood in the way."""


def refute(schema: UntypedJson, dialect: Dialect) -> Proof | None:
    """Return a proof that the schema accepts no instance at all, or None."""
    if isinstance(schema, dict) and RISKY.isdisjoint(schema):
        return None
    search = Search(Ground(schema, dialect))
    return search.settle([search.ground.root])[0]


def refuted_places(schema: UntypedJson, dialect: Dialect) -> tuple[Proof, ...]:
    """Return a proof for each place inside that accepts nothing, as they stand.

    `Proof.place` is the place. A literal `false` is meant so and left out. Within
    a bounded number of steps; beyond it nothing is proven.
    """
    ground = Ground(schema, dialect)
    nodes = [
        each
        for each in _places(ground)
        if isinstance(each.schema, dict) and not RISKY.isdisjoint(each.schema)
    ]
    proofs = Search(ground, fuel=_FUEL_OF_PLACES).settle(nodes)
    return tuple(
        Proof(
            name=proof.name,
            pointer=proof.pointer,
            why=proof.why,
            place=pointer(node.tokens),
        )
        for node, proof in zip(nodes, proofs, strict=True)
        if proof is not None
    )


def answer(
    schema: UntypedJson, dialect: Dialect, *, has_witness: bool
) -> tuple[Answer, Proof | None]:
    """Return what is known, and the proof if that is why it is known.

    A witness settles it, then a proof; without either it is `unknown`.
    """
    if has_witness:
        return Answer.SATISFIABLE, None
    proof = refute(schema, dialect)
    return Answer.UNKNOWN if proof is None else Answer.UNSATISFIABLE, proof


def _places(ground: Ground) -> list[Node]:
    """Return every place under the root, outermost first, as they stand."""
    found: list[Node] = []
    stack = [ground.root]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(reversed(list(ground.children(node))))
    return found[1:]
