"""The actors that a cluster starts when it is joined, and lends to lanes.

Ray takes seconds to start a process. So the one that says what its node has is the one
that works there afterwards, for one lane after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curation.cluster.nodes import Node, Place


class HeldActors:
    """An actor for each place, which holds a CPU there, lent or not."""

    def __init__(self) -> None:
        """Hold none yet."""
        self._actors: dict[tuple[str, int], Any] = {}
        self._lent: set[tuple[str, int]] = set()

    def start(self, places: Sequence[Place], started: Callable[[Place], Any]) -> None:
        """Have all places start at the same time; do not wait for them."""
        self._actors = {_key(place): started(place) for place in places}

    def holds(self, place: Place) -> bool:
        """Return whether the place has an actor, lent or not."""
        return _key(place) in self._actors

    def first_of(self, node: Node) -> Any:  # noqa: ANN401 - an actor of Ray
        """Return a node's first actor, where nobody has it; else None."""
        key = (node.id, 0)
        return None if key in self._lent else self._actors.get(key)

    def lend(self, place: Place) -> Any:  # noqa: ANN401 - an actor of Ray
        """Return the place's actor, where nobody has it; else None."""
        key = _key(place)
        if key in self._lent or key not in self._actors:
            return None
        self._lent.add(key)
        return self._actors[key]

    def take_back(self, place: Place, actor: object) -> bool:
        """Return whether this is the place's actor; it can be lent again."""
        if self._actors.get(_key(place)) is not actor:
            return False
        self._lent.discard(_key(place))
        return True

    def forget(self, place: Place, actor: object) -> None:
        """Hold an actor no longer, if it was held: it has ended."""
        if self.take_back(place, actor):
            del self._actors[_key(place)]

    def give_up(self, node: Node) -> list[Any]:
        """Return a node's actors that nobody has, and hold them no longer."""
        keys = [key for key in self._actors if key[0] == node.id]
        return [self._actors.pop(key) for key in keys if key not in self._lent]


def _key(place: Place) -> tuple[str, int]:
    return place.node.id, place.index
