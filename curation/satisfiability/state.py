"""What is left of one goal of a refutation, and why the rest is gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.json.pointer import pointer

if TYPE_CHECKING:
    from curation.json.pointer import Tokens
    from curation.satisfiability.schema_view import Node

#: The types; a number is whole or not.
ALL = frozenset({"null", "boolean", "string", "array", "object", "whole", "fraction"})
NUMBERS = frozenset({"whole", "fraction"})
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Why nothing is accepted, and where that begins."""

    #: The kind of reason.
    name: str
    pointer: str
    why: str
    #: The schema of which it is proven.
    place: str = ""

    def __str__(self) -> str:
        """Return the proof as one line."""
        return f"{self.pointer or '(root)'}: {self.why} ({self.name})"


@dataclass(slots=True)
class State:
    """What is left of one goal, and the last reason for which something went."""

    nodes: list[Node]
    left: frozenset[str] = ALL
    proof: Proof | None = None

    def keep(self, kinds: frozenset[str], name: str, tokens: Tokens, why: str) -> None:
        """Keep these types only."""
        if not self.left <= kinds:
            self.left &= kinds
            self.proof = Proof(name=name, pointer=pointer(tokens), why=why)

    def drop(self, kinds: frozenset[str], proof: Proof) -> None:
        """Drop these types."""
        if not self.left.isdisjoint(kinds):
            self.left -= kinds
            self.proof = proof
