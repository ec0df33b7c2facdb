"""Proofs that a schema accepts nothing: simple ones, cheap, and sound.

No proof means nothing: the schema may accept no instance all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from curation.refutation_ground import Ground, Node
from curation.refutation_search import FUEL, RISKY, Search
from curation.refutation_state import Proof
from curation.schema_walk import pointer

if TYPE_CHECKING:
    from curation.dialects import Dialect
    from curation.documents import Json

__all__ = ["Answer", "Proof", "answer", "refute", "refuted_places"]

#: Goals looked at for all the places of one schema.
_FUEL_OF_PLACES = 3 * FUEL
Answer = Literal["satisfiable", "unsatisfiable", "unknown"]


def refute(schema: Json, dialect: Dialect) -> Proof | None:
    """Return a proof that the schema accepts no instance at all, or None."""
    if isinstance(schema, dict) and RISKY.isdisjoint(schema):
        return None
    search = Search(Ground(schema, dialect))
    return search.settle([search.ground.root])[0]


def refuted_places(schema: Json, dialect: Dialect) -> tuple[Proof, ...]:
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


def answer(schema: Json, dialect: Dialect, *, has_witness: bool) -> Answer:
    """Return what is known: a witness settles it, then a proof; else `unknown`."""
    if has_witness:
        return "satisfiable"
    return "unknown" if refute(schema, dialect) is None else "unsatisfiable"


def _places(ground: Ground) -> list[Node]:
    """Return every place under the root, outermost first, as they stand."""
    found: list[Node] = []
    stack = [ground.root]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(reversed(list(ground.children(node))))
    return found[1:]
