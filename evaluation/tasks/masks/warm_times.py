"""Fresh and warm: the first text under a grammar, and the texts after it.

Every text has a matcher of its own, but matchers of one grammar share what the engine
has cached: states of a lexer, masks. So the first text of a schema is *fresh*, and the
texts after it are *warm*. Neither is the truth about the other: a server that compiles
a schema for one request sees the fresh time, one that keeps grammars the warm one. The
tables of times between masks pool both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean, median
from typing import TYPE_CHECKING, Final

from evaluation.reporting.tables import Ratio, Table, duration
from evaluation.results.outcomes import is_judged_apart

if TYPE_CHECKING:
    from evaluation.core.cases import Row

#: Times as slow as fresh from which an engine is slower when warm.
_MUCH: Final = 2.0


@dataclass(slots=True)
class WarmTimes:
    """What is gathered of each engine while its rows go by."""

    #: Engine to the mean times of each schema's masks in nanoseconds, fresh and warm.
    means: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Take the walks of one row that count; it needs two texts with masks."""
        walks = [
            walked.mask_ns
            for walked in row.walks
            if walked.mask_ns and not is_judged_apart(walked)
        ]
        pairs = self.means.setdefault(row.engine, [])
        if len(walks) > 1:
            warm = [ns for times in walks[1:] for ns in times]
            pairs.append((fmean(walks[0]), fmean(warm)))

    def table(self) -> Table:
        """Return the medians of both, of their ratio, and who slows down."""
        return Table(
            title="Masks of fresh and of warm grammars",
            name="masks-warm",
            columns=(
                "engine",
                "schemas",
                "fresh",
                "warm",
                "warm / fresh",
                "slower when warm",
            ),
            rows=tuple(
                (
                    engine,
                    len(pairs),
                    duration(median(fresh for fresh, _ in pairs)),
                    duration(median(warm for _, warm in pairs)),
                    Ratio(median(warm / fresh for fresh, warm in pairs if fresh)),
                    sum(warm >= _MUCH * fresh for fresh, warm in pairs),
                )
                for engine, pairs in self.means.items()
                if any(fresh for fresh, _ in pairs)
            ),
            note="Fresh: the mean mask of the first text under a grammar; warm: that "
            "of the texts after it, which share what the engine has cached. Medians "
            "over schemas with two texts or more, of the ratios too. Slower when warm: "
            f"schemas whose warm masks take {_MUCH:g} times as long as the fresh "
            "ones or more. Texts differ: the first is a valid one.",
        )
