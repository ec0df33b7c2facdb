"""The texts of a case without which its failure is not seen, in their order.

What an engine does with a text may depend on the texts before it: copies of a grammar
share what they have cached, a limit that one text has met stays met. So a failure is
first looked for with one text alone, and where that shows nothing, all texts stay that
it depends on (delta debugging, as in `schema_shrinking`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from evaluation.results.outcomes import engine_is_wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evaluation.core.cases import Case, Row, WalkVerdict

#: What differs between two tellings of one refusal: numbers and what is quoted.
_VARYING: Final = re.compile(r"\d+|\"[^\"]*\"|'[^']*'|`[^`]*`")
#: How many texts are tried alone, the shortest first.
_ALONE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingTexts:
    """Texts with which a case fails, and how that is seen."""

    case: Case
    #: Which text shows the failure; None where the row as a whole does.
    culprit: int | None
    #: How the case ended, with these texts or with more.
    row: Row
    #: The verdict of the text that shows the failure.
    verdict: WalkVerdict | None = None

    def fails_alike(self, row: Row) -> bool:
        """Return whether a row of these texts, under any schema, fails in this way."""
        if (row.result, row.phase) != (self.row.result, self.row.phase):
            return False
        if self.culprit is not None:
            return row.walks[self.culprit].verdict is self.verdict
        return _VARYING.sub("", row.detail) == _VARYING.sub("", self.row.detail)

    def with_texts(self, indices: Sequence[int]) -> FailingTexts:
        """Return the same failure, to be seen with some of the texts."""
        walks = tuple(self.case.walks[index] for index in indices)
        return replace(
            self,
            case=replace(self.case, walks=walks),
            culprit=None if self.culprit is None else indices.index(self.culprit),
        )


def see_failure(case: Case, row: Row) -> FailingTexts:
    """Return the failure of a case with all its texts."""
    wrong = _wrong_texts(case, row)
    verdict = row.walks[wrong[0]].verdict if wrong else None
    culprit = wrong[0] if wrong else None
    return FailingTexts(case=case, culprit=culprit, row=row, verdict=verdict)


def needed_texts(
    case: Case, row: Row, ask: Callable[[Case], Row], most: int
) -> FailingTexts:
    """Return the failure of a case with no more texts than it needs.

    Args:
        case: The case.
        row: How it ended, when all texts were walked.
        ask: Puts a case to the engine.
        most: How many sets of texts are tried at most.
    """
    whole = see_failure(case, row)

    def fails(smaller: FailingTexts) -> bool:
        return smaller.fails_alike(ask(smaller.case))

    for index in _wrong_texts(case, row)[:_ALONE]:
        shown = replace(whole, culprit=index, verdict=row.walks[index].verdict)
        alone = shown.with_texts([index])
        if fails(alone):
            return alone
    if whole.culprit is None:
        nothing = whole.with_texts([])
        if fails(nothing):
            return nothing
    return _reduce(whole, fails, most)


def _wrong_texts(case: Case, row: Row) -> list[int]:
    """Return the texts that show the engine to be wrong, the shortest first."""
    found = [
        index
        for index, walked in enumerate(row.walks[: len(case.walks)])
        if engine_is_wrong(walked)
    ]
    return sorted(found, key=lambda index: len(case.walks[index].text))


def _reduce(
    whole: FailingTexts, fails: Callable[[FailingTexts], bool], most: int
) -> FailingTexts:
    """Leave out texts by halves and then one by one, as long as the failure stays."""
    kept = list(range(len(whole.case.walks)))
    size = len(kept) // 2
    while size and most:
        place = 0
        while place < len(kept) and most:
            gone = set(kept[place : place + size]) - {whole.culprit}
            rest = [index for index in kept if index not in gone]
            most -= bool(gone)
            if gone and fails(whole.with_texts(rest)):
                kept = rest
            else:
                place += size
        size //= 2
    return whole.with_texts(kept)
