"""Paired comparisons of answers to the same problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.reporting.bootstrap import mean_difference
from evaluation.reporting.statistics import holm, sign_flip
from evaluation.reporting.tables import Shift

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from evaluation.core.suite import ScoredResponse
    from evaluation.reporting.tables import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Two answers a problem, of which each is right or wrong."""

    #: Cells that say what is compared.
    names: tuple[str, ...]
    #: One entry a pair: the problem, and whether each of the two answers is right.
    pairs: tuple[tuple[Hashable, bool, bool], ...]

    @property
    def only_first(self) -> int:
        """Pairs of which only the first answer is right."""
        return sum(first and not second for _, first, second in self.pairs)

    @property
    def only_second(self) -> int:
        """Pairs of which only the second answer is right."""
        return sum(second and not first for _, first, second in self.pairs)

    @property
    def difference(self) -> Shift | None:
        """The second share less the first; None without pairs.

        It has no interval where the answers of no pair differ: resampling such pairs
        would give an interval without width, whatever their number.
        """
        found = mean_difference(
            [first for _, first, _ in self.pairs],
            [second for _, _, second in self.pairs],
            [problem for problem, _, _ in self.pairs],
        )
        if found is None:
            return None
        differ = self.only_first or self.only_second
        return Shift(found.value, found.interval if differ else None)

    @property
    def p(self) -> float | None:
        """Exact two-sided p of McNemar's test, clustered by problem."""
        if not self.pairs:
            return None
        differences: dict[Hashable, int] = {}
        for problem, first, second in self.pairs:
            differences[problem] = differences.get(problem, 0) + second - first
        return sign_flip(differences.values())


def pairing(
    names: tuple[str, ...],
    first: Iterable[ScoredResponse],
    second: Iterable[ScoredResponse],
) -> Pairing:
    """Return the answers of both sides to the problems that both were asked.

    A problem is told by its record's id, which is the same in every order of members.
    What neither side can be blamed for (`counted` is false) is left out.
    """
    others = {_key(answer): answer for answer in second if answer.verdict.counted}
    pairs = [
        (answer.record, answer.verdict.passed, others[_key(answer)].verdict.passed)
        for answer in first
        if answer.verdict.counted and _key(answer) in others
    ]
    return Pairing(names=names, pairs=tuple(pairs))


def comparison_rows(pairings: Sequence[Pairing]) -> tuple[tuple[Cell, ...], ...]:
    """Return a table's rows, one a comparison.

    Names, pairs, only first right, only second right, difference, p, and p after
    Holm's adjustment over all rows.
    """
    ps: Mapping[int, float] = {
        row: p for row, one in enumerate(pairings) if (p := one.p) is not None
    }
    adjusted = holm(ps)
    return tuple(
        (
            *one.names,
            len(one.pairs),
            one.only_first,
            one.only_second,
            one.difference,
            ps.get(row),
            adjusted.get(row),
        )
        for row, one in enumerate(pairings)
    )


def _key(answer: ScoredResponse) -> tuple[str, int]:
    return answer.record.rpartition("/")[2], answer.repeat
