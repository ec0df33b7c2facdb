"""How the records of a folder differ from those that are published."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from curation.core.benchmark import is_table
from curation.dataset.difference import KINDS, compare
from curation.dataset.editions import open_edition
from curation.system.errors import BadConfiguration, BadData, NoInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curation.core.json_types import Json
    from curation.publish.plan import PushPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordChanges:
    """The difference in records, counted."""

    #: Records of each kind of `curation.dataset.difference.KINDS`.
    kinds: Mapping[str, int] = field(default_factory=dict)
    #: Why nothing was compared; empty where it was.
    why_not: str = ""

    def as_json(self) -> dict[str, Json]:
        """Return them as a command prints them."""
        return {"why_not": self.why_not} if self.why_not else dict(self.kinds)

    def __str__(self) -> str:
        """Return them as one sentence."""
        if self.why_not:
            return f"Records were not compared: {self.why_not}."
        some = [
            f"{count:,} {kind.replace('_', ' ')}"
            for kind, count in self.kinds.items()
            if count
        ]
        return f"Records: {', '.join(some)}." if some else "Records: no difference."


def record_changes(there: Path, here: Path) -> RecordChanges:
    """Count how the records of two folders differ.

    A folder that holds no edition of the benchmark is no fault but a reason.
    """
    try:
        pairs = compare(open_edition(str(there)), open_edition(str(here)))
    except (NoInput, BadData, BadConfiguration) as fault:
        return RecordChanges(why_not=fault.what)
    counts = Counter(kind for pair in pairs for kind in pair.kinds)
    return RecordChanges(kinds={kind: counts[kind] for kind in KINDS})


def changes_of_plan(
    folder: Path, plan: PushPlan, fetch: Callable[[Path], None]
) -> RecordChanges:
    """Count how a plan changes the records, if it changes a table at all.

    `fetch` brings the tables that are published into the folder that it is given; it
    is called only where a table would be written or deleted.

    Raises:
        CsbdataError: the tables cannot be fetched.
    """
    touched = (*plan.written, *plan.deleted)
    if not any(map(is_table, touched)):
        return RecordChanges(why_not="no table differs")
    with TemporaryDirectory() as there:
        fetch(Path(there))
        if not any(Path(there).iterdir()):
            return RecordChanges(why_not="there are none there")
        return record_changes(Path(there), folder)
