"""The ways to compare two leaves, each under a name."""

from __future__ import annotations

import re
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from curation.json.values import is_number
from curation.system.errors import BadData
from curation.system.registry import closest_names
from evaluation.suites.sob.metrics.equality import same_leaf
from evaluation.suites.sob.metrics.rules import RECOMMENDED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curation.core.json_types import Json

#: Says whether an answer's leaf meets the truth's; the number is a parameter.
Comparator: TypeAlias = "Callable[[Json, Json, float], bool]"
#: Relative difference that a number may have where nothing else is said.
DEFAULT_TOLERANCE: Final = 0.001
_MONTHS: Final = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_ISO: Final = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?:t.*)?")
_DOTTED: Final = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})")
_DAY_FIRST: Final = re.compile(r"(\d\d?)(?:st|nd|rd|th)? (?:of )?([a-z]+),? (\d{4})")
_MONTH_FIRST: Final = re.compile(r"([a-z]+) (\d\d?)(?:st|nd|rd|th)?,? (\d{4})")


def exact(truth: Json, answer: Json, _parameter: float) -> bool:
    """Return whether both are the same JSON value."""
    return same_leaf(truth, answer, RECOMMENDED)


def case_insensitive(truth: Json, answer: Json, _parameter: float) -> bool:
    """Return whether two strings differ in case and white space alone."""
    if isinstance(truth, str) and isinstance(answer, str):
        return truth.casefold().split() == answer.casefold().split()
    return same_leaf(truth, answer, RECOMMENDED)


def number_tolerance(truth: Json, answer: Json, tolerance: float) -> bool:
    """Return whether a number differs by at most that share of the true one."""
    if is_number(truth) and is_number(answer):
        return abs(answer - truth) <= tolerance * abs(truth)
    return same_leaf(truth, answer, RECOMMENDED)


def same_date(truth: Json, answer: Json, _parameter: float) -> bool:
    """Return whether two strings name the same day, in any usual spelling.

    `03/04/2024` is no usual spelling: it is two days.
    """
    days = read_date(truth), read_date(answer)
    if None in days:
        return same_leaf(truth, answer, RECOMMENDED)
    return days[0] == days[1]


def read_date(value: Json) -> date | None:
    """Return the day that a string names; None if it names none."""
    if not isinstance(value, str):
        return None
    text = " ".join(value.lower().split())
    if found := _ISO.fullmatch(text):
        year, month, day = found.groups()
    elif found := _DOTTED.fullmatch(text):
        day, month, year = found.groups()
    elif found := _DAY_FIRST.fullmatch(text):
        day, name, year = found.groups()
        month = _month(name)
    elif found := _MONTH_FIRST.fullmatch(text):
        name, day, year = found.groups()
        month = _month(name)
    else:
        return None
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _month(name: str) -> str:
    """Return the number of a month by its name; 0 if it is none."""
    return str(_MONTHS.index(name[:3]) + 1 if name[:3] in _MONTHS else 0)


#: Comparisons of leaves. An array is compared by its leaves, in the order of `SETS`.
COMPARATORS: Final[Mapping[str, Comparator]] = MappingProxyType(
    {
        "exact": exact,
        "case_insensitive": case_insensitive,
        "number_tolerance": number_tolerance,
        "date": same_date,
    }
)
#: Comparisons of arrays: whether the order of the items counts.
ORDER_COUNTS: Final[Mapping[str, bool]] = MappingProxyType(
    {"set": False, "ordered": True}
)
#: The names that ExtractBench has for the same.
_EXTRACT_BENCH: Final[Mapping[str, str]] = MappingProxyType(
    {
        "string_exact": "exact",
        "integer_exact": "exact",
        "number_exact": "exact",
        "boolean_exact": "exact",
        "string_case_insensitive": "case_insensitive",
    }
)


def comparison_named(text: str) -> tuple[str, float]:
    """Return a comparison's name and parameter: `number_tolerance:0.05`.

    Raises:
        BadData: there is none of that name, or the parameter is no number.
    """
    name, _, parameter = text.partition(":")
    name = _EXTRACT_BENCH.get(name, name)
    known = [*COMPARATORS, *ORDER_COUNTS]
    if name not in known:
        near = closest_names(name, [*known, *_EXTRACT_BENCH]) or known
        raise BadData(f"no comparison {name!r}", then=f"choose of {', '.join(near)}")
    try:
        return name, float(parameter) if parameter else DEFAULT_TOLERANCE
    except ValueError as error:
        raise BadData(f"{parameter!r} is no tolerance", text) from error
