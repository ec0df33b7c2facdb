"""Where in a schema do violated keywords stand? The paper's Figure 1.

All places of a schema are listed as they are written, every key of every object; a
keyword belongs to the part of that list that it stands in. Parts hold different
numbers of keywords that can be violated, so those are counted too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from curation.json.pointer import pointer
from curation.schema.keywords import KeywordKind, names_of_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens

#: The parts in their order.
PARTS: Final = ("begin", "middle", "end")
#: Keywords that refuse values, among them two that hold schemas.
_CHECKED: Final = frozenset(
    (*names_of_kind(KeywordKind.ASSERTION), "contains", "additionalProperties")
)
#: Where the first and the last part end and begin, as shares of the list.
_CUTS: Final = {"thirds": (1 / 3, 2 / 3), "20/60/20": (0.2, 0.8)}


@dataclass(frozen=True, slots=True)
class Places:
    """The places of one schema.

    Example:
        >>> places = Places.of({"type": "array", "items": {"maximum": 3}}, "thirds")
        >>> places.part("/items/maximum"), places.constraints
        ('end', (1, 0, 1))
    """

    #: JSON pointer to the number of its part.
    parts: dict[str, int]
    #: Keywords of each part that an instance can violate.
    constraints: tuple[int, ...]

    @classmethod
    def of(cls, schema: Json, cut: Literal["thirds", "20/60/20"]) -> Places:
        """List the places of a schema."""
        listed = list(_places(schema, ()))
        first, last = (share * len(listed) for share in _CUTS[cut])
        parts: dict[str, int] = {}
        constraints = [0, 0, 0]
        for place, (path, value) in enumerate(listed):
            part = 0 if place < first else 1 if place < last else 2
            parts[pointer(path)] = part
            constraints[part] += _can_refuse(path, value)
        return cls(parts, tuple(constraints))

    def part(self, place: str) -> str | None:
        """Return the part that a JSON pointer leads into; None if it leads nowhere."""
        found = self.parts.get(place)
        return None if found is None else PARTS[found]

    def counts(self, places: Iterable[str]) -> list[int]:
        """Return how many of some JSON pointers lead into each part."""
        counted = [0, 0, 0]
        for place in places:
            found = self.parts.get(place)
            if found is not None:
                counted[found] += 1
        return counted


def _places(value: Json, path: Tokens) -> Iterator[tuple[Tokens, Json]]:
    """Yield all members with their paths, in the order in which they are written."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*path, name), member
            yield from _places(member, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, (*path, str(index)))


def _can_refuse(path: Tokens, value: Json) -> bool:
    """Return whether what stands at a path is a keyword that can refuse something."""
    is_name = len(path) > 1 and path[-2] == "properties"
    return path[-1] in _CHECKED and not is_name and value is not True and value != []
