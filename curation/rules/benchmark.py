"""Rules over all records together: quotas and copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curation.core.rule import BenchmarkRule, Candidate, Reason, Rejected


def judge_quota(candidates: Sequence[Candidate]) -> Mapping[int, Rejected]:
    """Apply each source's least field count, then its quota.

    Digest order is an even draw that no later addition to the code can shift.
    A copy does not use up the quota: it ends as a duplicate of the first.
    """
    rejected: dict[int, Rejected] = {}
    by_config: dict[str, dict[str, int]] = {}
    for position, candidate in enumerate(candidates):
        if candidate.field_count < candidate.least_fields:
            minimum = candidate.least_fields
            detail = f"{candidate.field_count} fields, at least {minimum} wanted"
            rejected[position] = Rejected(reason=Reason.TOO_FEW_FIELDS, detail=detail)
        elif candidate.quota is not None:
            positions = by_config.setdefault(candidate.config, {})
            original = candidates[positions.setdefault(candidate.sha256, position)]
            if original is not candidate:
                detail = f"{original.config}/{original.unique_id}"
                rejected[position] = Rejected(reason=Reason.DUPLICATE, detail=detail)
    for config, positions in by_config.items():
        quota = candidates[min(positions.values())].quota
        for digest in sorted(positions)[quota:]:
            detail = f"{config} takes the first {quota:,} by digest"
            rejected[positions[digest]] = Rejected(
                reason=Reason.OVER_QUOTA, detail=detail
            )
    return rejected


quota = BenchmarkRule(
    name="quota",
    summary="Take at most a source's quota of distinct records of enough fields.",
    source="JSONSchemaBench, section 3.1 (GlaiveAI-2K: 2,000 schemas extracted)",
    judge=judge_quota,
    reasons=(Reason.TOO_FEW_FIELDS, Reason.OVER_QUOTA, Reason.DUPLICATE),
)


def judge_duplicates(candidates: Sequence[Candidate]) -> Mapping[int, Rejected]:
    """Reject each candidate whose digest an earlier one has.

    The ten configs come first in the sequence. An extra config is held against
    them and against itself, never against another extra, so that what a build
    adds changes nothing of what it already had.
    """
    earliest: dict[str, Candidate] = {}
    extras: dict[tuple[str, str], Candidate] = {}
    rejected: dict[int, Rejected] = {}
    for position, candidate in enumerate(candidates):
        earlier = earliest.get(candidate.sha256) or extras.get(
            (candidate.config, candidate.sha256)
        )
        if earlier is not None:
            detail = f"{earlier.config}/{earlier.unique_id}"
            rejected[position] = Rejected(reason=Reason.DUPLICATE, detail=detail)
        elif candidate.extra:
            extras[candidate.config, candidate.sha256] = candidate
        else:
            earliest[candidate.sha256] = candidate
    return rejected


duplicates = BenchmarkRule(
    name="duplicates",
    summary="Remove exact copies, whatever their key order, across the benchmark.",
    source="JSONSchemaBench, appendix A.1, 'Deduplicate'",
    judge=judge_duplicates,
    reasons=(Reason.DUPLICATE,),
)
