"""An answer's leaves under the paths of the items that they answer.

The benchmark compares arrays index by index. Here an item of the answer stands for the
item of the truth that it means: by its key, or so that most leaves are right. Figures
of these are reported apart from the benchmark's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from curation.json.values import identity
from evaluation.suites.sob.alignment.assignment import best_assignment
from evaluation.suites.sob.metrics.equality import same_leaf
from evaluation.suites.sob.metrics.leaves import ANY_INDEX, Path, all_leaves

if TYPE_CHECKING:
    from collections.abc import Container

    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics.rules import ScoringRules

#: So many pairs of items of one answer are compared; other items keep their order.
MOST_PAIRS: Final = 20_000
#: A place in a schema: `*` for every index.
Place: TypeAlias = "tuple[str, ...]"
# What a right path counts against a right value, and the own index against another.
_PATH, _INDEX = 1e-4, 1e-8


class Alignment(StrEnum):
    """How items of arrays are paired."""

    KEY = "key"
    """Items of one key belong together: the first member that tells the truth's items
    apart, or the items themselves where they are scalars. The rest keep their order."""
    ASSIGNMENT = "assignment"
    """Items are paired so that the most leaves are right."""


@dataclass(slots=True)
class _Aligner:
    how: Alignment
    rules: ScoringRules
    #: Only these arrays are aligned; None for all.
    places: Container[Place] | None
    pairs: int = 0

    def leaves(
        self, truth: Json, answer: Json, path: Path, place: Place
    ) -> dict[Path, Json]:
        """Return the leaves of an answer below the path of what it answers."""
        found: dict[Path, Json] = {}
        if not isinstance(answer, dict | list):
            found[path] = answer
        elif isinstance(truth, dict) and isinstance(answer, dict) and answer:
            for name, member in answer.items():
                if not isinstance(member, dict | list):
                    found[*path, name] = member
                    continue
                below = truth.get(name), member, (*path, name), (*place, name)
                found.update(self.leaves(*below))
        elif isinstance(truth, list) and isinstance(answer, list) and answer:
            indices = self._indices(truth, answer, place)
            for index, item in zip(indices, answer, strict=True):
                other = truth[index] if index < len(truth) else None
                below_item = (*path, index), (*place, ANY_INDEX)
                found.update(self.leaves(other, item, *below_item))
        else:
            rest = all_leaves([answer])
            found.update(((*path, *inner[1:]), leaf) for inner, leaf in rest.items())
        return found

    def _indices(
        self, truth: list[Json], answer: list[Json], place: Place
    ) -> list[int]:
        """Return the index in the truth of each item of the answer."""
        if self.places is not None and place not in self.places:
            return list(range(len(answer)))
        self.pairs += len(truth) * len(answer)
        if self.pairs > MOST_PAIRS:
            return list(range(len(answer)))
        matched = (
            _same_keys(truth, answer)
            if self.how is Alignment.KEY
            else self._best(truth, answer, place)
        )
        taken = set(matched.values())
        free = (
            index for index in range(len(truth) + len(answer)) if index not in taken
        )
        return [
            matched[number] if number in matched else next(free)
            for number in range(len(answer))
        ]

    def _best(
        self, truth: list[Json], answer: list[Json], place: Place
    ) -> dict[int, int]:
        below = (*place, ANY_INDEX)
        leaves = [all_leaves([item]) for item in truth]
        gains = []
        for number, item in enumerate(answer):
            row = []
            for index, other in enumerate(truth):
                found = self.leaves(other, item, (0,), below)
                common = found.keys() & leaves[index].keys()
                right = sum(
                    same_leaf(found[path], leaves[index][path], self.rules)
                    for path in common
                )
                row.append(right + _PATH * len(common) + _INDEX * (index == number))
            gains.append(row)
        return best_assignment(gains)


def aligned_leaves(
    truth: Json,
    answer: Json,
    how: Alignment,
    rules: ScoringRules,
    places: Container[Place] | None = None,
) -> dict[Path, Json]:
    """Return all leaves of an answer, its items renumbered after those of the truth.

    Items that answer none come behind those of the truth.

    Args:
        truth: The true answer.
        answer: What is compared with it.
        how: What pairs two items.
        rules: What makes two leaves the same.
        places: The arrays to align, by their place in the schema; None for all.

    Example:
        >>> aligned_leaves(["x", "y"], ["y"], Alignment.KEY, RECOMMENDED)
        {(1,): 'y'}
    """
    if not isinstance(answer, dict | list):
        return {}
    return _Aligner(how, rules, places).leaves(truth, answer, (), ())


def _same_keys(truth: list[Json], answer: list[Json]) -> dict[int, int]:
    """Return the index in the truth of each item of the answer whose key is there."""
    name = _key_of(truth)
    left: dict[bytes, list[int]] = {}
    for index, item in enumerate(truth):
        key = _key(item, name)
        if key is not None:
            left.setdefault(key, []).append(index)
    matched: dict[int, int] = {}
    for number, item in enumerate(answer):
        key = _key(item, name)
        if key is not None and left.get(key):
            matched[number] = left[key].pop(0)
    return matched


def _key(item: Json, name: str | None) -> bytes | None:
    value = item.get(name) if isinstance(item, dict) and name is not None else item
    return None if isinstance(value, dict | list) else identity(value)


def _key_of(truth: list[Json]) -> str | None:
    """Return the first member by which the objects of an array differ, if any."""
    first = truth[0] if truth else None
    if not isinstance(first, dict):
        return None
    for name in first:
        keys = [
            _key(item, name) if isinstance(item, dict) and name in item else None
            for item in truth
        ]
        if None not in keys and len(set(keys)) == len(keys):
            return name
    return None
