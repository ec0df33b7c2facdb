"""Does a schema, or one that differs in words for people only, stand in two splits?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from curation.core.benchmark import split_of
from curation.verification.checks.counts import record_columns
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "leakage"
_HEXADECIMAL = r"^[0-9a-f]{64}$"


def _name(row: dict[str, str]) -> str:
    return f"{row['config']}/{row['unique_id']}"


def _misplaced(rows: pl.DataFrame) -> Iterator[Finding]:
    """Yield the records that stand in another split than their skeleton says."""
    sound = rows.filter(pl.col("skeleton_sha256").str.contains(_HEXADECIMAL))
    for row in sound.iter_rows(named=True):
        wanted = split_of(row["skeleton_sha256"])
        if wanted != row["split"]:
            detail = f"in split {row['split']}; its skeleton belongs in {wanted}"
            yield Finding(check=_NAME, where=_name(row), detail=detail)


def _shared(rows: pl.DataFrame, column: str) -> Iterator[list[dict[str, str]]]:
    """Yield the rows that share a digest, first the one that stands first."""
    numbered = rows.with_row_index().filter(pl.col(column).is_duplicated())
    for group in numbered.partition_by(column, maintain_order=True):
        yield group.to_dicts()


def _judge(contents: FolderContents, _results: Sequence[UnitResult]) -> CheckResult:
    rows = record_columns(contents, ("unique_id", "sha256", "skeleton_sha256"))
    findings = list(_misplaced(rows))
    for first, *others in _shared(rows, "sha256"):
        findings += [
            Finding(
                check=_NAME,
                where=_name(other),
                detail=f"the same schema as {_name(first)}",
                failure=contents.must_be_valid,
            )
            for other in others
        ]
    near = 0
    for first, *others in _shared(rows, "skeleton_sha256"):
        near += len(others)
        findings += [
            Finding(
                check=_NAME,
                where=_name(other),
                detail=f"in {other['split']}, its skeleton in {first['split']} too "
                f"({_name(first)})",
            )
            for other in others
            if other["split"] != first["split"]
        ]
    return CheckResult(
        findings=findings, counted={"near-duplicates in one split": near}
    )


LEAKAGE = FolderCheck(
    name=_NAME,
    question="does no schema, and no skeleton, stand in two splits?",
    judge=_judge,
)
