"""Check that every leaf of a generated truth follows from its context.

The check reads a finished record and knows nothing of the generator. Quotes must stand
in the context word by word; figures and dates are parsed from them again; operations
are computed again.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Final

from curation.json.values import is_number
from evaluation.suites.sob.families import MONTHS
from evaluation.suites.sob.metrics import all_leaves, pointer_of, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.suites.sob.records import Evidence, SobRecord

_NUMBER: Final = re.compile(r"(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?")
_DAY_MONTH_YEAR: Final = re.compile(rf"(\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})")
_ISO_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_DOTTED_DATE: Final = re.compile(r"(\d\d)\.(\d\d)\.(\d{4})")
_CLOCK: Final = re.compile(r"(\d\d):(\d\d)")
_NEGATION: Final = re.compile(
    r"\b(?:no|not|never|nobody|none|nothing|without|neither|nor|\w+n't)\b",
    re.IGNORECASE,
)


def complaints(record: SobRecord) -> list[str]:
    """Return what a reader of the context cannot confirm.

    Each complaint is one line that begins with the JSON pointer of the leaf.
    """
    leaves = {
        pointer_of(path): value
        for path, value in all_leaves(record.ground_truth).items()
    }
    problems = [
        f"{where}: no evidence" for where in leaves.keys() - record.evidence.keys()
    ]
    problems += [
        f"{where}: no such leaf" for where in record.evidence.keys() - leaves.keys()
    ]
    for where, evidence in record.evidence.items():
        if where not in leaves:
            continue
        problems += [
            f"{where}: the context does not hold {quote!r}"
            for quote in evidence.quotes
            if quote not in record.context
        ]
        complaint = _complaint(leaves[where], evidence, record)
        if complaint:
            problems.append(f"{where}: {complaint}")
    return sorted(problems)


def _complaint(value: Json, evidence: Evidence, record: SobRecord) -> str:
    quotes = " | ".join(evidence.quotes)
    if evidence.kind == "absent":
        return _absent_complaint(value, evidence, record)
    if not evidence.quotes:
        return "nothing is quoted"
    is_negated = _NEGATION.search(quotes) is not None
    match evidence.kind:
        case "stated":
            return (
                "" if is_spelled(value, quotes) else f"{value!r} is not in {quotes!r}"
            )
        case "affirmed":
            return "" if value is True and not is_negated else f"{quotes!r} says no"
        case "denied":
            return "" if value is False and is_negated else f"{quotes!r} says yes"
        case "unknown":
            return "" if value is None and is_negated else f"{quotes!r} tells it"
        case "derived":
            return _derived_complaint(value, evidence, quotes)


def _absent_complaint(value: Json, evidence: Evidence, record: SobRecord) -> str:
    if value is not None or not evidence.terms:
        return "a value without a quote"
    present = [term for term in evidence.terms if _stands_in(term, record.context)]
    return f"the context does hold {present[0]!r}" if present else ""


def _derived_complaint(value: Json, evidence: Evidence, quotes: str) -> str:
    lost = [operand for operand in evidence.operands if not is_spelled(operand, quotes)]
    if lost:
        return f"{lost[0]!r} is not in {quotes!r}"
    operation = OPERATIONS.get(evidence.operation)
    if operation is None:
        return f"no operation {evidence.operation!r}"
    result = operation(evidence.operands)
    same = (
        abs(float(result) - float(value)) < 1e-9
        if is_number(result) and is_number(value)
        else result == value
    )
    return "" if same else f"{evidence.operation} gives {result!r}, not {value!r}"


def is_spelled(value: Json, text: str) -> bool:
    """Return whether a value stands in a text, in any spelling that a reader knows."""
    if isinstance(value, str):
        return (
            _stands_in(value, text)
            or value in set(_dates(text))
            or value in {f"{hour}:{minute}" for hour, minute in _CLOCK.findall(text)}
        )
    if is_number(value):
        return any(abs(number - value) < 1e-9 for number in numbers_in(text))
    return False


def _stands_in(phrase: str, text: str) -> bool:
    sought, text_words = words(phrase), words(text)
    width = len(sought)
    return any(
        text_words[start : start + width] == sought
        for start in range(len(text_words) - width + 1)
    )


def numbers_in(text: str) -> Iterator[float]:
    """Yield the numbers of a text, `12,400` as 12400."""
    for match in _NUMBER.finditer(text):
        yield float(match[0].replace(",", ""))


def _dates(text: str) -> Iterator[str]:
    yield from _ISO_DATE.findall(text)
    for day, month, year in _DAY_MONTH_YEAR.findall(text):
        yield date(int(year), MONTHS.index(month) + 1, int(day)).isoformat()
    for day, month, year in _DOTTED_DATE.findall(text):
        yield f"{year}-{month}-{day}"


def _figures(operands: Sequence[Json]) -> list[float]:
    return [float(operand) for operand in operands if is_number(operand)]


def _minutes(operands: Sequence[Json]) -> Json:
    """Return the minutes from one time of a day to a later one."""
    start, end = (60 * int(str(clock)[:2]) + int(str(clock)[3:]) for clock in operands)
    return end - start


#: The operations of derived values; every operand stands in a quote.
OPERATIONS: Final[Mapping[str, Callable[[Sequence[Json]], Json]]] = {
    "sum": lambda operands: round(sum(_figures(operands)), 6),
    "difference": lambda operands: round(
        abs(_figures(operands)[0] - _figures(operands)[1]), 6
    ),
    "sum of all but the last less the last": lambda operands: round(
        sum(_figures(operands)[:-1]) - _figures(operands)[-1], 6
    ),
    "count": len,
    "minutes between": _minutes,
    "same": lambda operands: len(set(map(str, operands))) == 1,
    "above": lambda operands: _figures(operands)[0] > _figures(operands)[1],
    "name of least": lambda operands: str(
        min(zip(_figures(operands), map(str, operands[1::2]), strict=True))[1]
    ),
    "times 1000": lambda operands: round(_figures(operands)[0] * 1_000, 6),
    "times 10": lambda operands: round(_figures(operands)[0] * 10, 6),
}
