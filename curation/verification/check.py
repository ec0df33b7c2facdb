"""Checks of a folder, and their items of work for child processes.

A check without work for child processes has no batches. Otherwise a child does one
item at a time; a child that dies costs only that item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import msgspec

from curation.system.escaping import shortened
from curation.verification.findings import Finding
from curation.workers.outcomes import Ending, ProcessResult

if TYPE_CHECKING:
    from curation.verification.folder_contents import FolderContents
    from curation.workers.limits import Message

_T = TypeVar("_T")
#: Characters of the reason for a missing answer.
_SHOWN = 300


class CheckItem(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of work for a child process."""

    #: Path of a table in the folder, the name of a config, or empty for the whole.
    where: str
    #: Name of the check.
    check: str = ""
    #: Number of a row group of the table, from 0; -1 for all.
    group: int = -1
    #: Number of a row in the row group, from 0; -1 for all.
    row: int = -1
    #: Whether every row is checked, and not a sample.
    whole: bool = False
    #: Seeds the sample, together with the table's bytes.
    nonce: str = ""

    @property
    def place(self) -> str:
        """The rows inside the table, as a finding names them."""
        if self.group < 0:
            return ""
        row = "" if self.row < 0 else f"row {self.row} of "
        return f"{row}row group {self.group}: "


class ScanSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The first message to a worker."""

    #: The dataset folder's full path.
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """The outcome of one item, including a worker crash."""

    item: CheckItem
    result: ProcessResult


def answers(
    check: str,
    results: Iterable[ItemResult],
    answer_type: type[_T],
    findings: list[Finding],
) -> Iterator[tuple[CheckItem, _T]]:
    """Yield each item with its answer; an item without one becomes a finding.

    Args:
        check: Name of the check.
        results: The outcomes of its items.
        answer_type: Type of an answer.
        findings: Receives a failure for each item without an answer.
    """
    for each in results:
        item, result = each.item, each.result
        if result.ending is Ending.OK:
            yield item, result.answer_as(answer_type)
            continue
        detail = shortened(f"{item.place}{result.ending}: {result.detail}", _SHOWN)
        findings.append(Finding(check=check, where=item.where, detail=detail))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The findings of one check."""

    findings: Sequence[Finding] = ()
    #: Names of the things counted, to their numbers.
    counted: Mapping[str, int] = field(default_factory=dict)


#: Items that one child does one after another.
CheckBatch: TypeAlias = Sequence[CheckItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCheck:
    """One check of a folder; `curation.verification.registry.CHECKS` lists all."""

    name: str
    #: One clause for the table of `csbdata verify`.
    question: str
    #: Judges the answers of the children, in the parent.
    judge: Callable[[FolderContents, Sequence[ItemResult]], CheckResult]
    #: Returns the items for children, in batches.
    batches: Callable[[FolderContents], Iterable[CheckBatch]] = lambda _contents: ()
    #: Does one item of the folder at a path, in a child; returns a value that msgspec
    #: can write as JSON.
    work: Callable[[Path, CheckItem], Message] = lambda _folder, _item: None
