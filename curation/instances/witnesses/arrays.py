"""Build an array: how many elements, what each must meet, and that they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.instances.constraints.goals import Negation
from curation.instances.model import InstanceKind, Obstacle
from curation.instances.witnesses.context import NOTHING
from curation.json.values import identity

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.goals import Goals
    from curation.instances.constraints.model import Conjunction
    from curation.instances.reach.guide import Guide
    from curation.instances.witnesses.context import BuildContext, Nothing, ValueBuilder

#: More elements than this are not made for a `minItems`.
MOST_ITEMS = 100_000
#: Elements made one by one; where more are required, they are repeated.
_MADE = 40
#: Elements that an array may get for what is to be reached.
_SIBLINGS = 12


def build_array(
    builder: ValueBuilder, conjunction: Conjunction, context: BuildContext
) -> Json | Nothing:
    """Return an array that meets a conjunction, or NOTHING."""
    if conjunction.min_items > MOST_ITEMS:
        return builder.record_obstacle(
            Obstacle.TOO_LARGE, f"{conjunction.min_items} items are required"
        )
    return _ArrayBuilder(builder, conjunction, context).run()


class _ArrayBuilder:
    def __init__(
        self, builder: ValueBuilder, conjunction: Conjunction, context: BuildContext
    ) -> None:
        self.builder, self.conjunction, self.context = builder, conjunction, context
        self.items: list[Json] = []
        self.seen: set[bytes] = set()
        self.needed = [
            rule.location
            for rule in conjunction.contains
            for _ in range(min(rule.least, _MADE))
        ]
        self.capped = [rule for rule in conjunction.contains if rule.most is not None]

    def run(self) -> Json | Nothing:
        conjunction = self.conjunction
        least = max(
            int(conjunction.min_items), len(self.needed), 2 * conjunction.duplicate
        )
        count = self._count(least)
        start = self.builder.values_made
        index = 0
        if self.builder.guide:
            self.builder.guide.expand(conjunction.locations)
        while index < count:
            if (
                index >= _MADE
                and not conjunction.unique
                and index >= self._individual()
            ):
                self._repeat(least)
                break
            spent = self.builder.values_made - start
            share = (self.context.allowance - spent) / (count - index) - 1
            if not self._add(index, max(share, 0)):
                break
            index += 1
        if self.builder.guide:
            self._add_wanted(self.builder.guide)
        if len(self.items) < least or self.needed:
            return NOTHING
        return self.items

    def _add_wanted(self, guide: Guide) -> None:
        """Add elements that lead to an open target."""
        for _ in range(self.conjunction.prefix_length() + _SIBLINGS):
            index, most = len(self.items), self.conjunction.max_items
            if most is not None and index >= most:
                return
            # Those before the last of a prefix have to be there for those after.
            ahead = range(index, max(self.conjunction.prefix_length(), index) + 1)
            wanted = any(
                guide.wants_any(self.conjunction.item_sites(at)) for at in ahead
            )
            # What the elements before have chosen leaves other branches for this one.
            wanted = wanted or guide.expand_again(self.conjunction.item_sites(index))
            affordable = self.builder.values_made < guide.most
            if not (wanted and affordable and self._add(index, 0)):
                return

    def _individual(self) -> int:
        return self.conjunction.prefix_length() + len(self.conjunction.contains)

    def _count(self, least: int) -> int:
        conjunction, builder = self.conjunction, self.builder
        count = least
        if self.context.allowance >= 1:
            wanted = max(least, conjunction.prefix_length(), 1)
            if builder.kind is InstanceKind.RANDOM:
                wanted = least + builder.rng.randint(0, 2)
            elif not conjunction.prefix_length():
                wanted = max(wanted, 2 if self.context.allowance >= 8 else 1)  # noqa: PLR2004 (room for two)
            count = wanted
        if conjunction.max_items is not None:
            count = min(count, int(conjunction.max_items))
        if (*self.context.path, "*") in builder.refused_paths:
            count = least
        return max(count, least) if conjunction.max_items is None else count

    def _add(self, index: int, allowance: float) -> bool:
        goals = self.conjunction.item_goals(index)
        if goals is None:
            return False
        if index == 1 and self.conjunction.duplicate:
            self.items.append(self.items[0])
            return True
        context = self.context.element(index, allowance, self.seen)
        found: Json | Nothing = NOTHING
        for extra in self._extras():
            found = self.builder.value((*goals, *extra), context)
            if found is not NOTHING:
                break
        if found is NOTHING:
            return False
        self._drop_met_needs(found)
        if self.builder.guide:
            self.builder.guide.claim(self.conjunction.item_sites(index))
        self.items.append(found)
        if self.conjunction.unique:
            self.seen.add(identity(found))
        return True

    def _extras(self) -> list[Goals]:
        """Return the further goals that the next element is tried with, in turn."""
        refused = tuple(
            Negation(rule.location)
            for rule in self.capped
            if rule.location not in self.needed
        )
        if not self.needed:
            return [refused]
        return [(self.needed[0],), refused]

    def _drop_met_needs(self, value: Json) -> None:
        accepts = self.builder.compiled.accepts
        for location in dict.fromkeys(self.needed):
            if accepts(location, value):
                self.needed.remove(location)

    def _repeat(self, least: int) -> None:
        """Repeat elements that no position asks for until there are enough."""
        free = self.items[self._individual() :] or self.items[-1:]
        while len(self.items) < least:
            self.items.append(free[len(self.items) % len(free)])
