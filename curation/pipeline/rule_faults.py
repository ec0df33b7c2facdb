"""Rules that raised an exception in a build: a defect, and no property of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curation.core.documents import Reason
from curation.dataset.ledger import open_ledger

if TYPE_CHECKING:
    from pathlib import Path

#: What the ledger names where the process died under a document, and no rule raised.
NO_RULE = "limits"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFault:
    """One rule that raised, and how often."""

    rule: str
    #: Documents that it raised for.
    count: int
    #: The first of them, `config/id`.
    first: str
    #: What it raised there, and where.
    detail: str

    def __str__(self) -> str:
        """Return the fault as a clause."""
        times = "1 document" if self.count == 1 else f"{self.count:,} documents"
        return (
            f"rule {self.rule} raised for {times}, first {self.first} ({self.detail})"
        )


def find_rule_faults(folder: Path) -> tuple[RuleFault, ...]:
    """Return the rules that raised in a build, by name.

    Args:
        folder: The build.

    Raises:
        NoInput: it has no ledger.
    """
    documents = open_ledger(folder).documents()
    crashed = documents.filter(
        pl.col("outcome") == Reason.CRASHED.value, pl.col("rule") != NO_RULE
    )
    columns = ("rule", "config", "unique_id", "detail")
    faults: dict[str, RuleFault] = {}
    for rule, config, unique_id, detail in crashed.select(columns).collect().rows():
        known = faults.get(rule)
        faults[rule] = RuleFault(
            rule=rule,
            count=known.count + 1 if known else 1,
            first=known.first if known else f"{config}/{unique_id}",
            detail=known.detail if known else detail,
        )
    return tuple(faults[rule] for rule in sorted(faults))
