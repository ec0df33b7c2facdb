"""What is left of one goal of a proof, and why the rest is gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from curation.json.pointer import pointer

if TYPE_CHECKING:
    from curation.json.pointer import Tokens
    from curation.schema.locations import SchemaLocation

#: The types of values; a number is `whole` or a `fraction`.
ALL = frozenset({"null", "boolean", "string", "array", "object", "whole", "fraction"})
NUMBERS = frozenset({"whole", "fraction"})
NOTHING: frozenset[str] = frozenset()
#: Schemas that one value must meet, all at once.
Goal = tuple["SchemaLocation", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Why nothing is accepted, and where that begins."""

    #: The kind of reason.
    name: str
    #: JSON pointer of what excludes the values.
    pointer: str
    #: The reason as a clause: `no length is left`.
    why: str

    def __str__(self) -> str:
        """Return the proof as one line."""
        return f"{self.pointer or '(root)'}: {self.why} ({self.name})"


class Conjuncts(NamedTuple):
    """What a goal comes to once `$ref` and `allOf` are followed."""

    locations: list[SchemaLocation]
    #: A schema among them that is `false`.
    false: SchemaLocation | None


@dataclass(slots=True)
class GoalState:
    """The types that are left of one goal, and why the last of the others went."""

    locations: list[SchemaLocation]
    left: frozenset[str] = ALL
    proof: Proof | None = None

    def keep(self, types: frozenset[str], name: str, tokens: Tokens, why: str) -> None:
        """Keep these types only.

        Args:
            types: The types that stay, if they are left.
            name: The kind of reason for which the others go.
            tokens: Where the reason stands.
            why: The reason as a clause.
        """
        if not self.left <= types:
            self.left &= types
            self.proof = Proof(name=name, pointer=pointer(tokens), why=why)

    def drop(self, types: frozenset[str], proof: Proof) -> None:
        """Drop these types."""
        if not self.left.isdisjoint(types):
            self.left -= types
            self.proof = proof
