"""The paper's Table 3: how long schemas are in each representation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.reporting.tables import Table
from evaluation.suites.concodeeval.representations.registry import REPRESENTATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evaluation.reporting.tables import Cell
    from evaluation.suites.concodeeval.fields import TextLength
    from evaluation.suites.concodeeval.reports.answers import Answer, AnswersByLabel

#: Longest and average schema, as the paper has them; it names no unit.
_PUBLISHED: Final = {
    "xml": "3316 / 364.82",
    "json": "1954 / 208.23",
    "yaml": "1295 / 135.09",
}
_UNITS: Final = ("words", "characters", "lines")


def length_table(*parts: AnswersByLabel) -> Table:
    """Return the form of Table 3 for the schemas that were asked about."""
    lengths = _lengths(
        answer for found in parts for own in found.values() for answer in own
    )
    rows: list[tuple[Cell, ...]] = []
    for representation in REPRESENTATIONS:
        own = list(lengths.get(representation, {}).values())
        if not own:
            continue
        row: list[Cell] = [representation, len(own)]
        for unit in _UNITS:
            values = [getattr(length, unit) for length in own]
            row += [max(values), round(sum(values) / len(values), 1)]
        rows.append((*row, _PUBLISHED.get(representation, "")))
    columns = [f"{kind} {unit}" for unit in _UNITS for kind in ("max", "mean")]
    return Table(
        title="Table 3: lengths of schemas",
        columns=("schema", "schemas", *columns, "paper: max / mean"),
        rows=tuple(rows),
        note="words: parted by white space. The paper names no unit.",
        name="table-3",
    )


def _lengths(answers: Iterable[Answer]) -> Mapping[str, Mapping[str, TextLength]]:
    """Return the lengths of schemas by representation and schema, each once."""
    found: dict[str, dict[str, TextLength]] = {}
    for answer in answers:
        if answer.details.length.characters:
            of_representation = found.setdefault(answer.details.representation, {})
            of_representation[answer.details.schema] = answer.details.length
    return found
