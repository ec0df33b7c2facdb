"""The twelve families of schemas, and the ids of their members.

A family is a kind of root and a bound of its sizes: `string_0_50`,
`composite_0_10_array`. A member's id adds its number: `string_0_50_i_3`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

#: The bounds of sizes: of numbers, of lengths, of counts of items and properties.
HIGHS: Final = (10, 50, 100)
#: Schemas of the suite unless another number is asked for: 50 of each family.
DEFAULT_COUNT: Final = 600


class Root(StrEnum):
    """The type at the root of a schema."""

    NUMBER = "number"
    STRING = "string"
    ARRAY = "array"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class SchemaFamily:
    """One kind of root with one bound of sizes.

    Example:
        >>> SchemaFamily(Root.ARRAY, 50).name
        'composite_0_50_array'
    """

    root: Root
    #: Lower bounds are 0 in every family.
    high: int

    @property
    def name(self) -> str:
        """What the family is called in ids and tables."""
        if self.root in (Root.ARRAY, Root.OBJECT):
            return f"composite_0_{self.high}_{self.root}"
        return f"{self.root}_0_{self.high}"

    def member(self, number: int) -> str:
        """Return the id of one schema of the family, by its number from 0."""
        return f"{self.name}_i_{number}"


FAMILIES: Final = tuple(SchemaFamily(root, high) for root in Root for high in HIGHS)


def members(count: int = DEFAULT_COUNT) -> list[tuple[SchemaFamily, int]]:
    """Return families and numbers of so many schemas, spread evenly.

    The first families get one more each where `count` is no multiple of twelve.

    Raises:
        ValueError: `count` is negative.

    Example:
        >>> [family.member(number) for family, number in members(13)][:2]
        ['number_0_10_i_0', 'number_0_10_i_1']
    """
    if count < 0:
        raise ValueError(f"count is {count}, and must be 0 or more")
    share, left = divmod(count, len(FAMILIES))
    return [
        (family, number)
        for place, family in enumerate(FAMILIES)
        for number in range(share + (place < left))
    ]
