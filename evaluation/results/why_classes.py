"""Classes of wrong walks: how many there are, in how many schemas, one example."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from evaluation.core.cases import Row
from evaluation.reporting.tables import Cell, Rate, Table
from evaluation.results.outcomes import FAULTS, is_judged_apart, number_in

#: Places that are named in a line of the table.
_PLACES: Final = 2


class WrongWalk(NamedTuple):
    """A wrong walk of a class."""

    #: `CONFIG/ID`.
    schema: str
    #: Where the governing schema stands.
    context: str
    #: Of schema and text.
    size: int
    #: Whether the engine was at odds with itself.
    is_fault: bool


@dataclass(slots=True)
class WhyClasses:
    """Gathers the classes of a task's rows."""

    schemas: Counter[str] = field(default_factory=Counter)
    #: By engine, whether the text is valid, what stands there, keyword and setting.
    _walks: dict[tuple[str, bool, str, str, str], list[WrongWalk]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, row: Row) -> None:
        """Take the walks of one row."""
        self.schemas[row.engine] += 1
        for walked in row.walks:
            why = walked.why
            if why is None or is_judged_apart(walked):
                continue
            wrong = WrongWalk(
                schema=f"{row.config}/{row.id}",
                context=why.context,
                size=number_in(row, "size", 0) + walked.tokens,
                is_fault=walked.verdict in FAULTS,
            )
            self._walks[row.engine, walked.valid, *why.cause].append(wrong)

    def table(self, name: str) -> Table:
        """Return every class, by engine, the most frequent first."""
        totals: Counter[str] = Counter()
        for (engine, *_), walks in self._walks.items():
            totals[engine] += len(walks)
        engines = [*self.schemas]
        rows: list[dict[str, Cell]] = []
        for (engine, valid, stands, keyword, setting), walks in sorted(
            self._walks.items(),
            key=lambda item: (engines.index(item[0][0]), -len(item[1]), item[0][2:4]),
        ):
            fault = "valid blocked" if valid else "invalid accepted"
            if walks[0].is_fault:
                fault = "engine at odds with itself"
            schemas = len({walk.schema for walk in walks})
            rows.append(
                {
                    "engine": engine,
                    "fault": fault,
                    "what stands there": stands,
                    "keyword": keyword or None,
                    "setting": setting or None,
                    "walks": len(walks),
                    "% of wrong walks": 100 * len(walks) / totals[engine],
                    "schemas": Rate(schemas, self.schemas[engine]),
                    "places": _places(walks),
                    "smallest": _smallest(walks),
                }
            )
        return Table.of_records(
            "Why walks go wrong",
            rows,
            name=name,
            note="Each wrong walk once. what stands there: at the byte that is "
            "refused. keyword: the first that governs the value there; of an invalid "
            "text the one that it violates. setting: what about its schema may "
            "matter. schemas: that have the class, of all that the engine was asked. "
            "csbdata results shrink makes the smallest one smaller.",
        )


def _places(walks: Sequence[WrongWalk]) -> str:
    """Return where the governing schemas stand, the most frequent first."""
    contexts = Counter(walk.context for walk in walks if walk.context)
    shown = [f"{name} {count:,}" for name, count in contexts.most_common(_PLACES)]
    return ", ".join([*shown, "..."] if len(contexts) > _PLACES else shown)


def _smallest(walks: Sequence[WrongWalk]) -> str:
    """Return the schema with the smallest example.

    A failure of an earlier text may be the reason of a later one of the same schema.
    """
    sizes: dict[str, int] = {}
    for walk in walks:
        first = sizes.setdefault(walk.schema, walk.size)
        if not walk.is_fault:
            sizes[walk.schema] = min(first, walk.size)
    return min(sizes, key=lambda schema: sizes[schema])
