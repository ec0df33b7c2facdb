"""What a check is: work for child processes, and a judgement on what came of it.

A check that needs no child gives no batches. One that does says what a child has to
do with a unit; a child that dies costs only that unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import msgspec

from curation.workers.outcomes import Ending, ProcessResult

if TYPE_CHECKING:
    from pathlib import Path

    from curation.verification.core.findings import Finding
    from curation.verification.core.folder_contents import FolderContents
    from curation.workers.messages import Message

_T = TypeVar("_T")


class CheckUnit(msgspec.Struct, frozen=True, kw_only=True):
    """What one child process looks at at a time."""

    #: Path of a table in the folder, the name of a config, or empty for the whole.
    where: str
    #: Number of a row group of the table, and of a row in it, both from 0.
    group: int = 0
    row: int = 0
    #: Whether all of it is looked at, where a sample is enough otherwise.
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitResult:
    """What became of one unit."""

    unit: CheckUnit
    result: ProcessResult

    @property
    def answered(self) -> bool:
        """Return whether the child answered, rather than failed or died."""
        return self.result.ending is Ending.OK

    @property
    def detail(self) -> str:
        """Why there is no answer."""
        return self.result.detail

    def answer_as(self, answer_type: type[_T]) -> _T:
        """Return what the check's `work` returned, as a value of its type.

        Raises:
            msgspec.ValidationError: it is not of this type.
        """
        return self.result.answer_as(answer_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a check says of a folder."""

    findings: Sequence[Finding] = ()
    #: Names of what it counted, to how many there are.
    counted: Mapping[str, int] = field(default_factory=dict)


#: Units that one child does one after another.
CheckBatch: TypeAlias = Sequence[CheckUnit]


def _no_batches(_contents: FolderContents) -> Iterable[CheckBatch]:
    return ()


def _no_work(_folder: Path, _unit: CheckUnit) -> Message:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCheck:
    """One check of a folder: a file of `curation.verification.checks`.

    Example:
        A check that wants every file to be smaller than a gigabyte::

            def _judge(contents, _results):
                large = [
                    name
                    for name, path in contents.files.items()
                    if path.stat().st_size > 10**9
                ]
                return CheckResult(
                    findings=[
                        Finding(check="size", where=name, detail="over 1 GB")
                        for name in large
                    ]
                )


            SIZE = FolderCheck(
                name="size", question="is every file small?", judge=_judge
            )

        It takes part once it stands in `curation.verification.registry.CHECKS`.
    """

    name: str
    #: What it asks, in one clause.
    question: str
    #: Judges, in the parent, what the children answered.
    judge: Callable[[FolderContents, Sequence[UnitResult]], CheckResult]
    #: Gives the units for children, in batches.
    batches: Callable[[FolderContents], Iterable[CheckBatch]] = _no_batches
    #: Does one unit, in a child, of the folder at a path; returns what msgspec can
    #: write as JSON.
    work: Callable[[Path, CheckUnit], Message] = _no_work
