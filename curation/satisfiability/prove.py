"""Proofs that a schema accepts nothing: simple ones, cheap, and sound.

No proof means nothing: the schema may accept no instance all the same.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from curation.satisfiability.schema_view import SchemaView
from curation.satisfiability.search import RISKY, Search

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.satisfiability.state import Proof
    from curation.schema.dialects import Dialect


class Satisfiability(StrEnum):
    """Whether a schema can be met at all."""

    SATISFIABLE = "satisfiable"
    """A witness exists."""
    UNSATISFIABLE = "unsatisfiable"
    """There is a proof that nothing is accepted."""
    UNKNOWN = "unknown"
    """Neither was found; the reason says what stood in the way."""


def refute(schema: Json, dialect: Dialect) -> Proof | None:
    """Return a proof that a schema accepts no instance at all, or None.

    The search ends after a fixed number of steps, whatever the machine.

    Example:
        >>> str(refute({"type": "string", "enum": [1]}, BY_NAME["2020-12"]))
        '/enum: no listed value meets all that is asked beside it (...)'
    """
    if isinstance(schema, dict) and RISKY.isdisjoint(schema):
        return None
    search = Search(SchemaView(schema, dialect))
    return search.proof_for_root()


def satisfiability_of(
    schema: Json, dialect: Dialect, *, has_witness: bool
) -> tuple[Satisfiability, Proof | None]:
    """Return what is known, and the proof if that is why it is known.

    A witness decides it, then a proof; without either it is `unknown`.
    """
    if has_witness:
        return Satisfiability.SATISFIABLE, None
    proof = refute(schema, dialect)
    if proof is None:
        return Satisfiability.UNKNOWN, None
    return Satisfiability.UNSATISFIABLE, proof
