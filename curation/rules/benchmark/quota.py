"""Quota: a source whose records are many is sampled, by digest order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curation.core.rule import BenchmarkRule, Candidate, Reason, Rejected


def judge(candidates: Sequence[Candidate]) -> Mapping[int, Rejected]:
    """Apply each source's least field count, then its quota.

    Digest order is an even draw that no later addition to the code can shift.
    A copy does not use up the quota: it ends as a duplicate of the first.
    """
    rejected: dict[int, Rejected] = {}
    by_config: dict[str, dict[str, int]] = {}
    for position, candidate in enumerate(candidates):
        if candidate.field_count < candidate.least_fields:
            least = candidate.least_fields
            detail = f"{candidate.field_count} fields, at least {least} wanted"
            rejected[position] = Rejected(reason=Reason.TOO_FEW_FIELDS, detail=detail)
        elif candidate.quota is not None:
            own = by_config.setdefault(candidate.config, {})
            first = candidates[own.setdefault(candidate.sha256, position)]
            if first is not candidate:
                detail = f"{first.config}/{first.unique_id}"
                rejected[position] = Rejected(reason=Reason.DUPLICATE, detail=detail)
    for config, own in by_config.items():
        quota = candidates[min(own.values())].quota
        for digest in sorted(own)[quota:]:
            detail = f"{config} takes the first {quota:,} by digest"
            rejected[own[digest]] = Rejected(reason=Reason.OVER_QUOTA, detail=detail)
    return rejected


RULE = BenchmarkRule(
    name="quota",
    summary="Take at most a source's quota of distinct records of enough fields.",
    source="JSONSchemaBench, section 3.1 (GlaiveAI-2K: 2,000 schemas extracted)",
    judge=judge,
    reasons=(Reason.TOO_FEW_FIELDS, Reason.OVER_QUOTA, Reason.DUPLICATE),
)
