"""Classes of outcomes, as a reader chooses by them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from curation.core.documents import Explained
from evaluation.reporting.tables import Rate
from evaluation.results.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evaluation.results.edition import Line


class Class(Explained):
    """What became of a schema, for who has to choose."""

    RIGHT = (
        "taken and right",
        "every valid text could be written, every invalid one was blocked",
    )
    REFUSED = (
        "refused honestly",
        "the schema was not compiled, and the engine said so",
    )
    SILENT = (
        "accepts invalid",
        "compiled, and an invalid text could be written, warned of or not",
    )
    BLOCKED = ("blocked valid", "a valid text could not be written")
    DIED = ("died", "crashed, ran out of time or memory, or was at odds with itself")
    UNTESTED = ("untested", "compiled, and there was no text to judge by")

    @property
    def slug(self) -> str:
        """Its name in styles."""
        return self.name.lower()


_OF: Final = {
    Outcome.PASSED: Class.RIGHT,
    Outcome.COMPILE_ERROR: Class.REFUSED,
    Outcome.UNDER_CONSTRAINED: Class.SILENT,
    Outcome.WRONG_BOTH_WAYS: Class.SILENT,
    Outcome.OVER_CONSTRAINED: Class.BLOCKED,
    Outcome.MASK_GAP: Class.BLOCKED,
    Outcome.UNTESTED: Class.UNTESTED,
}


def class_of(line: Line) -> Class:
    """Return the class of a line; what has no class of its own died."""
    return _OF.get(Outcome(line["outcome"]), Class.DIED)


def rates_of(lines: Iterable[Line]) -> dict[Class, Rate]:
    """Return the share of each class, those of which there is none included."""
    counts = Counter(map(class_of, lines))
    return {each: Rate(counts[each], counts.total()) for each in Class}
