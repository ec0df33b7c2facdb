"""Tables of a report, as values: every rate with its denominator and its interval.

Missing figures are printed as missing, never as 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import isfinite
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias

from evaluation.reporting.statistics import (
    Interval,
    Quantile,
    independent_worth,
    quantile,
    wilson,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from curation.core.json_types import Json

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))
_QUARTILES = ("q25", "median", "q75")
#: Meaning of the brackets after a rate.
BRACKETS = (
    "Brackets: Wilson's 95 % interval; several answers about one schema count for what "
    "they are worth."
)


@dataclass(frozen=True, slots=True)
class Rate:
    """A count of a whole, with its share and Wilson's 95 % interval.

    Raises:
        ValueError: `count` is negative or more than `of`.
    """

    count: int
    of: int
    #: How many independent answers the whole is worth, where several are about one
    #: schema (`independent_worth`); None: as many as there are.
    worth: float | None = None

    def __post_init__(self) -> None:
        """Reject an impossible share."""
        if not 0 <= self.count <= self.of:
            raise ValueError((self.count, self.of))

    @classmethod
    def total(cls, rates: Iterable[Rate]) -> Rate:
        """Return counts and wholes added up; each rate is all about one schema.

        Example:
            >>> str(Rate.total([Rate(20, 20), Rate(20, 20), Rate(20, 20)]))
            '100.0 % [43.9, 100.0] (60 of 60)'
        """
        pairs = [(rate.count, rate.of) for rate in rates]
        of, worth = sum(of for _, of in pairs), independent_worth(pairs)
        count = sum(count for count, _ in pairs)
        return cls(count, of, None if worth == of else worth)

    @classmethod
    def of_answers(cls, answers: Iterable[tuple[Hashable, bool]]) -> Rate:
        """Return the share of answers that are as they should be.

        Args:
            answers: The schema of each, and whether it is a hit.
        """
        counts: dict[Hashable, list[bool]] = {}
        for schema, good in answers:
            counts.setdefault(schema, []).append(good)
        return cls.total(cls(sum(group), len(group)) for group in counts.values())

    @property
    def share(self) -> float | None:
        """The share, between 0 and 1; None of an empty whole."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95 % interval of the share; None of an empty whole."""
        return wilson(self.count, self.of, worth=self.worth)

    def __str__(self) -> str:
        """Return it whole: `83.1 % [81.1, 84.9] (1,234 of 1,485)`."""
        between = self.interval
        if between is None:
            return "- (0 of 0)"
        return (
            f"{100 * self.count / self.of:.1f} % "
            f"[{100 * between.low:.1f}, {100 * between.high:.1f}] "
            f"({self.count:,} of {self.of:,})"
        )

    def parts(self) -> dict[str, Json]:
        """Return its figures by name."""
        return {
            "count": self.count,
            "of": self.of,
            "share": self.share,
            **_bounds(self.interval),
            "independent": float(self.of) if self.worth is None else self.worth,
        }


@dataclass(frozen=True, slots=True)
class FixedFigure:
    """A number with two decimals; censored where it is only known to be at least that.

    Its unit is in the name of its column.
    """

    value: float
    at_least: bool = False
    #: What programs call it.
    name: ClassVar[str] = "value"

    def __str__(self) -> str:
        """Return it as it is printed: `3.48`, `≥ 40.00`."""
        if not isfinite(self.value):
            return "-"
        return f"{'≥ ' if self.at_least else ''}{self.text()}"

    def text(self) -> str:
        """Return the number alone."""
        return f"{self.value:.2f}"

    def parts(self) -> dict[str, Json]:
        """Return its figures by name."""
        return {self.name: _number(self.value), "at_least": self.at_least}


@dataclass(frozen=True, slots=True)
class Duration(FixedFigure):
    """A time in nanoseconds: `12.3 µs`, `≥ 40.0 s`."""

    name: ClassVar[str] = "ns"

    def text(self) -> str:
        """Return it with three figures and its unit."""
        size = abs(self.value)
        scale, unit = next(unit for unit in _UNITS if size >= unit[0] or unit[0] == 1)
        number = self.value / scale
        decimals = 0 if scale == 1 else max(0, 3 - len(str(int(abs(number)))))
        return f"{number:,.{decimals}f} {unit}"


@dataclass(frozen=True, slots=True)
class Quartiles:
    """A median with the quartiles around it, of times or of counts."""

    #: The first quartile, the median and the third one.
    quartiles: tuple[Quantile, Quantile, Quantile]
    #: `ns`, or the counted unit: `tokens`.
    unit: str = "ns"

    @classmethod
    def of(
        cls, values: Sequence[float], bounds: Sequence[float] = (), unit: str = "ns"
    ) -> Quartiles | None:
        """Return the cell of measured values and lower bounds; None without any."""
        quartiles = [quantile(percent, values, bounds) for percent in (25, 50, 75)]
        low, middle, high = quartiles
        if low is None or middle is None or high is None:
            return None
        return cls((low, middle, high), unit)

    def __str__(self) -> str:
        """Return it whole: `952 µs [900 µs, ≥ 1.02 ms]`, `41 [30, ≥ 96]`."""
        low, middle, high = map(self._text, self.quartiles)
        return f"{middle} [{low}, {high}]"

    def _text(self, figure: Quantile) -> str:
        if self.unit == "ns":
            return str(Duration(figure.value, figure.at_least))
        text = f"{figure.value:,.3g}" if figure.value % 1 else f"{figure.value:,.0f}"
        return f"≥ {text}" if figure.at_least else text

    def parts(self) -> dict[str, Json]:
        """Return its figures by name, the unit in the name."""
        parts: dict[str, Json] = {}
        for name, figure in zip(_QUARTILES, self.quartiles, strict=True):
            parts[f"{name} {self.unit}"] = _number(figure.value)
            parts[f"{name} at_least"] = figure.at_least
        return parts


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number fitted, with a 95 % interval where there is one."""

    value: float
    interval: Interval | None = None
    #: Its printed parts: the number, its unit, and the unit's size.
    form: ClassVar[str] = "{:.2f}"
    unit: ClassVar[str] = ""
    scale: ClassVar[int] = 1
    #: What programs call it.
    name: ClassVar[str] = "value"

    def __str__(self) -> str:
        """Return it with its interval: `1.02 [0.97, 1.07]`."""
        if not isfinite(self.value):
            return "-"
        text = self.form.format(self.scale * self.value) + self.unit
        if self.interval is None:
            return text
        bounds = (self.interval.low, self.interval.high)
        low, high = (self.form.format(self.scale * bound) for bound in bounds)
        return f"{text} [{low}, {high}]"

    def parts(self) -> dict[str, Json]:
        """Return its figures by name."""
        return {self.name: _number(self.value), **_bounds(self.interval)}


@dataclass(frozen=True, slots=True)
class Ratio(Estimate):
    """One figure divided by another: `1.23x [1.1, 1.4]`."""

    form: ClassVar[str] = "{:.3g}"
    unit: ClassVar[str] = "x"
    name: ClassVar[str] = "ratio"


@dataclass(frozen=True, slots=True)
class Shift(Estimate):
    """A difference of two shares, in points of a hundred: `+1.2 pp [+0.3, +2.1]`."""

    form: ClassVar[str] = "{:+.1f}"
    unit: ClassVar[str] = " pp"
    scale: ClassVar[int] = 100
    name: ClassVar[str] = "difference"

    @classmethod
    def of(cls, figure: Estimate | None) -> Self | None:
        """Return the cell of a difference of pairs; None without any."""
        if figure is None:
            return None
        # Pairs that all differ alike, or not at all, do not generalise.
        wide = figure.interval and figure.interval.low < figure.interval.high
        return cls(figure.value, figure.interval if wide else None)


@dataclass(frozen=True, slots=True)
class MissingFigure:
    """A figure that there is not, and why."""

    why: str

    def __str__(self) -> str:
        """Return why."""
        return self.why

    def parts(self) -> dict[str, Json]:
        """Return the reason by name."""
        return {"missing": self.why}


#: It was not measured.
NOT_RUN = MissingFigure("not run")

#: A value of a table.
Cell: TypeAlias = (
    str | int | float | Rate | FixedFigure | Quartiles | Estimate | MissingFigure | None
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table: a title, columns, rows as long as there are columns, and a note.

    Raises:
        ValueError: a row has another number of cells than there are columns.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    #: Notes for the reader: definitions, exclusions.
    note: str = ""
    #: Its name for programs and files; made of the title where it is empty.
    name: str = ""
    #: Its task, if tables of several tasks are shown together.
    task: str = ""
    #: Names of the columns whose cells are commands: they are printed to be copied.
    commands: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse ragged rows."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError((self.title, row))

    @classmethod
    def of_records(
        cls, title: str, records: Iterable[dict[str, Cell]], note: str, name: str = ""
    ) -> Table:
        """Return the table of rows that all name its columns; without rows none."""
        rows = list(records)
        return cls(
            title=title,
            columns=tuple(rows[0]) if rows else (),
            rows=tuple(tuple(row.values()) for row in rows),
            note=note,
            name=name,
        )

    @property
    def heading(self) -> str:
        """Its heading: the title, after its task if needed."""
        return f"{self.task}: {self.title}" if self.task else self.title

    def without_empty_columns(self, *names: str) -> Table:
        """Return the table without the columns in which no row has a figure.

        Those named may go, any but the first if none is. The note loses the sentences
        `NAME: ...` that define them.
        """
        columns = [
            index
            for index, name in enumerate(self.columns)
            if (name not in names if names else index == 0)
            or any(
                cell is not None and not (isinstance(cell, Rate) and cell.of == 0)
                for cell in (row[index] for row in self.rows)
            )
        ]
        shown = tuple(self.columns[index] for index in columns)
        note = self.note
        for name in {*self.columns} - {*shown}:
            note = re.sub(rf"(^|(?<=\. )){re.escape(name)}: [^.]*\.( |$)", "", note)
        return replace(
            self,
            columns=shown,
            note=note.rstrip(),
            rows=tuple(tuple(row[index] for index in columns) for row in self.rows),
        )

    @property
    def slug(self) -> str:
        """Its name for programs and files: lower case, words joined by `-`."""
        words = re.findall(r"[a-z0-9]+", (self.name or self.title).lower())
        return "-".join(words) or "table"

    @property
    def path(self) -> str:
        """Its slug, after its task if needed."""
        return f"{self.task}/{self.slug}" if self.task else self.slug


def in_turns(lists: Iterable[Iterable[Table]]) -> list[Table]:
    """Return the first table of each list, the second of each, and so on."""
    return [table for tables in zip_longest(*lists) for table in tables if table]


def to_text(cell: Cell) -> str:
    """Return a cell for people; a missing figure is `-` or its reason."""
    if cell is None or (isinstance(cell, float) and not isfinite(cell)):
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:,.3g}"
    return str(cell)


def to_json(cell: Cell) -> Json:
    """Return a cell for programs; a missing figure is null or its reason."""
    if isinstance(cell, float):
        return _number(cell)
    if cell is None or isinstance(cell, str | int):
        return cell
    return cell.parts()


def duration(ns: float | None) -> Duration | None:
    """Return the cell of a time that may be missing."""
    return None if ns is None or not isfinite(ns) else Duration(ns)


def _bounds(interval: Interval | None) -> dict[str, Json]:
    return {
        "low": _number(interval.low) if interval else None,
        "high": _number(interval.high) if interval else None,
    }


def _number(value: float) -> float | None:
    return value if isfinite(value) else None
