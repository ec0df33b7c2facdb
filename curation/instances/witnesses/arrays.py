"""Arrays: how many elements, what each must meet, and that they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.instances.constraints.admission import identity
from curation.instances.constraints.goals import Negation
from curation.instances.model import Kind, Obstacle
from curation.instances.witnesses import builder as making

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.conjunction import Shape
    from curation.instances.constraints.goals import Goals
    from curation.instances.witnesses.builder import Frame, Maker, Nothing

#: More elements than this are not made for a `minItems`.
MOST_ITEMS = 100_000
#: Elements made one by one; where more are required, they are repeated.
_MADE = 40


def build(maker: Maker, shape: Shape, frame: Frame) -> UntypedJson | Nothing:
    """Return an array of a shape, or NOTHING."""
    if shape.min_items > MOST_ITEMS:
        return maker.note(Obstacle.TOO_LARGE, f"{shape.min_items} items are required")
    return _Building(maker, shape, frame).run()


class _Building:
    def __init__(self, maker: Maker, shape: Shape, frame: Frame) -> None:
        self.maker, self.shape, self.frame = maker, shape, frame
        self.items: list[UntypedJson] = []
        self.seen: set[bytes] = set()
        self.needed = [
            each.node for each in shape.contains for _ in range(min(each.least, _MADE))
        ]
        self.capped = [each for each in shape.contains if each.most is not None]

    def run(self) -> UntypedJson | Nothing:
        shape = self.shape
        least = max(int(shape.min_items), len(self.needed), 2 * shape.duplicate)
        count = self._count(least)
        start = self.maker.made
        index = 0
        while index < count:
            if index >= _MADE and not shape.unique and index >= self._individual():
                self._repeat(least)
                break
            spent = self.maker.made - start
            share = (self.frame.allowance - spent) / (count - index) - 1
            if not self._add(index, max(share, 0)):
                break
            index += 1
        if len(self.items) < least or self.needed:
            return making.NOTHING
        return self.items

    def _individual(self) -> int:
        return self.shape.prefix_length() + len(self.shape.contains)

    def _count(self, least: int) -> int:
        shape, maker = self.shape, self.maker
        count = least
        if self.frame.allowance >= 1:
            wanted = max(least, shape.prefix_length(), 1)
            if maker.kind is Kind.RANDOM:
                wanted = least + maker.rng.randint(0, 2)
            elif not shape.prefix_length():
                wanted = max(wanted, 2 if self.frame.allowance >= 8 else 1)  # noqa: PLR2004 (room for two)
            count = wanted
        if shape.max_items is not None:
            count = min(count, int(shape.max_items))
        if (*self.frame.path, "*") in maker.trouble:
            count = least
        return max(count, least) if shape.max_items is None else count

    def _add(self, index: int, allowance: float) -> bool:
        goals = self.shape.item_nodes(index)
        if goals is None:
            return False
        if index == 1 and self.shape.duplicate:
            self.items.append(self.items[0])
            return True
        frame = self.frame.element(index, allowance, self.seen)
        found: UntypedJson | Nothing = making.NOTHING
        for extra in self._extras():
            found = self.maker.value((*goals, *extra), frame)
            if found is not making.NOTHING:
                break
        if found is making.NOTHING:
            return False
        self._count_needs(found)
        self.items.append(found)
        if self.shape.unique:
            self.seen.add(identity(found))
        return True

    def _extras(self) -> list[Goals]:
        """Return what the next element is tried with besides its own schema."""
        refused = tuple(
            Negation(each.node) for each in self.capped if each.node not in self.needed
        )
        if not self.needed:
            return [refused]
        return [(self.needed[0],), refused]

    def _count_needs(self, value: UntypedJson) -> None:
        accepts = self.maker.subject.accepts
        for node in dict.fromkeys(self.needed):
            if accepts(node, value):
                self.needed.remove(node)

    def _repeat(self, least: int) -> None:
        """Fill up with the elements that need no place of their own."""
        free = self.items[self._individual() :] or self.items[-1:]
        while len(self.items) < least:
            self.items.append(free[len(self.items) % len(free)])
