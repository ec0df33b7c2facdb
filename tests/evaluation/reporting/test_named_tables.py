"""One table of many, by its name: `csbdata suite NAME report --table`."""

from __future__ import annotations

import pytest

from curation.system.errors import BadUsage
from evaluation.reporting.printing import named_tables
from evaluation.reporting.tables import Table

_TABLES = tuple(
    Table(title=title, columns=("a",), rows=()) for title in ("Table 1: x", "Costs")
)


def test_tables_are_chosen_by_name_in_the_order_asked_for() -> None:
    """By slug; the first asked for comes first."""
    assert named_tables(_TABLES, ["costs"]) == [_TABLES[1]]
    assert named_tables(_TABLES, ["costs", "table-1-x"]) == [*reversed(_TABLES)]


def test_a_table_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    """One line."""
    with pytest.raises(BadUsage, match="'table-9': use one of table-1-x"):
        named_tables(_TABLES, ["table-9"])
