"""What a check is: work for child processes, and a judgement on what came of it.

A check that needs no child gives no batches. One that does says what a child has to
do with a unit; `scan` sees to it that a child which dies costs only that unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.workers.outcomes import Ending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.verification.core.findings import Finding
    from curation.verification.core.folder_contents import FolderContents
    from curation.workers.outcomes import ProcessResult


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitResult:
    """What became of one unit."""

    unit: UntypedJson
    outcome: ProcessResult

    @property
    def value(self) -> UntypedJson:
        """What the child answered; None where it did not."""
        return self.outcome.answer

    @property
    def answered(self) -> bool:
        """Whether there is a value."""
        return self.outcome.ending is Ending.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a check says of a folder."""

    findings: Sequence[Finding] = ()
    #: Names of what it counted, to how many there are.
    counted: Mapping[str, int] = field(default_factory=dict)


def _no_batches(_contents: FolderContents) -> Iterable[Sequence[UntypedJson]]:
    return ()


def _no_work(_folder: Path, _unit: UntypedJson) -> UntypedJson:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCheck:
    """One check of a folder."""

    name: str
    #: What it asks, in one clause.
    question: str
    #: Judges, in the parent, what the children answered.
    judge: Callable[[FolderContents, Sequence[UnitResult]], CheckResult]
    #: Gives the units for children, in batches; each has a member `where`.
    batches: Callable[[FolderContents], Iterable[Sequence[UntypedJson]]] = _no_batches
    #: Does one unit, in a child, of the folder at a path.
    work: Callable[[Path, UntypedJson], UntypedJson] = _no_work
