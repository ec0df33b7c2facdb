"""What a search for a witness goes for: the targets that no witness has reached."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from curation.instances.reach.schema_graph import SchemaGraph
    from curation.schema.subschemas import SchemaLocation


class Guide:
    """Says, while one value is built, which choices lead to an open target.

    A target that the value has by now is *claimed*, and is no target any more. A
    schema whose members have been chosen once is *expanded*: where it recurs, only its
    own branches still count, so that what is built is no larger than the schema. What
    is taken back is neither: `mark` and `take_back` follow the search.
    """

    def __init__(
        self,
        graph: SchemaGraph,
        targets: AbstractSet[SchemaLocation],
        most: int,
        *,
        is_reversed: bool = False,
    ) -> None:
        """Take the open targets, and how many values may be made for them.

        Args:
            graph: Of the schema.
            targets: What is to be reached.
            most: Values after which only required ones are made.
            is_reversed: Whether properties are chosen last first, undeclared ones
                before declared ones. What one of them expands is lost for the next,
                so that one order reaches what the other does not.
        """
        self.is_reversed = is_reversed
        self.graph = graph
        self.targets = targets
        self.most = most
        #: Claimed and expanded, in the order it happened.
        self._claimed: dict[SchemaLocation, None] = {}
        self._expanded: dict[SchemaLocation, None] = {}
        #: Schemas whose members may be chosen once more.
        self._again: set[SchemaLocation] = set()
        #: Schemas of the values around the one that is being made: how often each.
        self._around: Counter[SchemaLocation] = Counter()
        #: Schemas from which nothing open is in reach.
        self._exhausted: set[SchemaLocation] = set()
        #: All that was ever claimed, taken back or not.
        self.tried: set[SchemaLocation] = set()

    @property
    def claimed(self) -> set[SchemaLocation]:
        """The targets that were claimed and not taken back."""
        return set(self._claimed)

    def is_open(self, location: SchemaLocation) -> bool:
        """Return whether a location is a target that is not claimed."""
        return location in self.targets and location not in self._claimed

    def wants(self, location: SchemaLocation) -> bool:
        """Return whether an open target is in reach from a location."""
        exhausted = self._exhausted
        if location in exhausted:
            return False
        if self.is_open(location):
            return True
        stack, seen = [location], {location}
        while stack:
            here = stack.pop()
            steps = self.graph.steps(here)
            for inner in steps.same_value if self._is_expanded(here) else steps.all:
                if inner not in seen and inner not in exhausted:
                    if self.is_open(inner):
                        return True
                    seen.add(inner)
                    stack.append(inner)
        exhausted |= seen
        return False

    def wants_any(self, locations: Iterable[SchemaLocation]) -> bool:
        """Return whether an open target is in reach from one of several locations."""
        return any(map(self.wants, locations))

    def rank(self, location: SchemaLocation) -> int:
        """Return 0 for an open target, 1 for what leads to one, 2 for the rest."""
        if self.is_open(location):
            return 0
        return 1 if self.wants(location) else 2

    def claim(self, locations: Iterable[SchemaLocation]) -> None:
        """Take targets for reached."""
        for location in locations:
            if self.is_open(location):
                self._claimed[location] = None
                self.tried.add(location)

    def _is_expanded(self, location: SchemaLocation) -> bool:
        """Return whether the members of a schema have been chosen by now."""
        return location in self._expanded and location not in self._again

    def expand_again(self, locations: Iterable[SchemaLocation]) -> bool:
        """Let the members of schemas be chosen anew, where one of them is still open.

        Those of the schemas for the same value with them. What is open in a value that
        is being made is left to it, or each would hold another of its own kind.

        Returns:
            Whether there is such a member.
        """
        is_any = False
        for location in locations:
            near = self.graph.near(location)
            if not any(map(self.is_open, near.members)):
                continue
            chosen = near.same_value - self._around.keys()
            if len(chosen) == len(near.same_value) or any(
                map(self.is_open, self.graph.members(chosen))
            ):
                self._again |= chosen
                self._exhausted.clear()
                is_any = True
        return is_any

    @contextmanager
    def within(self, locations: Iterable[SchemaLocation]) -> Iterator[None]:
        """Know, while the members of a value are made, the schemas of that value."""
        schemas = Counter(locations)
        self._around += schemas
        try:
            yield
        finally:
            self._around -= schemas

    def expand(self, locations: Iterable[SchemaLocation]) -> None:
        """Take down that the members of schemas are chosen."""
        for location in locations:
            self._expanded.setdefault(location)
            self._again.discard(location)

    def mark(self) -> tuple[int, int]:
        """Return where the search stands."""
        return len(self._claimed), len(self._expanded)

    def take_back(self, mark: tuple[int, int]) -> None:
        """Forget what happened since a mark: the value was not taken."""
        if mark != self.mark():
            self._exhausted.clear()
        for known, count in zip((self._claimed, self._expanded), mark, strict=True):
            while len(known) > count:
                known.popitem()
