"""Copies: of records that are equal in canonical form the first survives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curation.core.rule import BenchmarkRule, Candidate, Reason, Rejected


def judge(candidates: Sequence[Candidate]) -> Mapping[int, Rejected]:
    """Reject each candidate whose digest an earlier one has.

    The ten configs come first in the sequence. An extra config is held against
    them and against itself, never against another extra, so that what a build
    adds changes nothing of what it already had.
    """
    first: dict[str, Candidate] = {}
    own: dict[tuple[str, str], Candidate] = {}
    rejected: dict[int, Rejected] = {}
    for position, candidate in enumerate(candidates):
        earlier = first.get(candidate.sha256) or own.get(
            (candidate.config, candidate.sha256)
        )
        if earlier is not None:
            detail = f"{earlier.config}/{earlier.unique_id}"
            rejected[position] = Rejected(reason=Reason.DUPLICATE, detail=detail)
        elif candidate.extra:
            own[candidate.config, candidate.sha256] = candidate
        else:
            first[candidate.sha256] = candidate
    return rejected


RULE = BenchmarkRule(
    name="duplicates",
    summary="Remove exact copies, whatever their key order, across the benchmark.",
    source="JSONSchemaBench, appendix A.1, 'Deduplicate'",
    judge=judge,
    reasons=(Reason.DUPLICATE,),
)
