"""Classes of wrong walks: how many there are, in how many schemas, one example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from evaluation.core.cases import InstanceResult, Row
from evaluation.reporting.tables import Rate, Table
from evaluation.results.outcomes import FAULTS, is_judged_apart, number_in

#: Places that are named in a line of the table.
_PLACES: Final = 2


@dataclass(slots=True)
class WhyClass:
    """The wrong walks of one engine that have one class."""

    engine: str
    valid: bool
    stands: str
    keyword: str
    setting: str
    walks: int = 0
    #: The schemas, `CONFIG/ID`.
    schemas: set[str] = field(default_factory=set)
    contexts: Counter[str] = field(default_factory=Counter)
    #: The schema with the smallest example, and its size.
    example: str = ""
    size: int = -1
    _failed_in: str = ""

    def add(self, row: Row, walked: InstanceResult) -> None:
        """Take one walk of a row."""
        name = f"{row.config}/{row.id}"
        self.walks += 1
        self.schemas.add(name)
        self.contexts[walked.why.context if walked.why else ""] += 1
        if walked.verdict in FAULTS and self._failed_in == name:
            # The failure of an earlier text may be the reason of this one.
            return
        self._failed_in = name
        size = number_in(row, "size", 0) + walked.tokens
        if not 0 <= self.size <= size:
            self.example, self.size = name, size

    @property
    def places(self) -> str:
        """Where the governing schemas stand, the most frequent first."""
        named = [(name, count) for name, count in self.contexts.items() if name]
        named.sort(key=lambda pair: -pair[1])
        shown = [f"{name} {count:,}" for name, count in named[:_PLACES]]
        return ", ".join([*shown, "..."] if len(named) > _PLACES else shown)

    @property
    def fault(self) -> str:
        """What is wrong, in a few words."""
        if self.stands in {verdict.replace("_", " ") for verdict in FAULTS}:
            return "engine at odds with itself"
        return "valid blocked" if self.valid else "invalid accepted"


@dataclass(slots=True)
class WhyClasses:
    """Gathers the classes of a task's rows."""

    schemas: Counter[str] = field(default_factory=Counter)
    _classes: dict[tuple[str, ...], WhyClass] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Take the walks of one row."""
        self.schemas[row.engine] += 1
        for walked in row.walks:
            why = walked.why
            if why is None or is_judged_apart(walked):
                continue
            key = (row.engine, str(walked.valid), *why.cause)
            own = self._classes.setdefault(
                key, WhyClass(row.engine, walked.valid, *why.cause)
            )
            own.add(row, walked)

    def of(self, engine: str) -> list[WhyClass]:
        """Return an engine's classes, the most frequent first."""
        own = [one for one in self._classes.values() if one.engine == engine]
        return sorted(own, key=lambda one: (-one.walks, one.stands, one.keyword))

    def table(self, name: str) -> Table:
        """Return every class, by engine."""
        return Table.of_records(
            "Why walks go wrong",
            (
                {
                    "engine": engine,
                    "fault": one.fault,
                    "what stands there": one.stands,
                    "keyword": one.keyword or None,
                    "setting": one.setting or None,
                    "walks": one.walks,
                    "% of wrong walks": 100 * one.walks / total,
                    "schemas": Rate(len(one.schemas), self.schemas[engine]),
                    "places": one.places,
                    "smallest": one.example,
                }
                for engine in self.schemas
                for own in [self.of(engine)]
                for total in [sum(one.walks for one in own)]
                for one in own
            ),
            name=name,
            note="Each wrong walk once. what stands there: at the byte that is "
            "refused. keyword: the first that governs the value there; of an invalid "
            "text the one that it violates. setting: what about its schema may "
            "matter. schemas: that have the class, of all that the engine was asked. "
            "csbdata results shrink makes the smallest one smaller.",
        )


def classes_of(rows: Iterable[Row]) -> WhyClasses:
    """Return the classes of rows."""
    classes = WhyClasses()
    for row in rows:
        classes.add(row)
    return classes
