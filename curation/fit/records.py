"""The providers that accept a record as it is, and single causes of rejection."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from curation.fit.profile import load_profile, provider_names
from curation.fit.verdict import FAILING, Verdict, judge_fit, verdict_of

#: Rules counted for one target.
_SHOWN = 3


class RecordFit(NamedTuple):
    """The columns of a record about providers."""

    #: Names of profiles, sorted, that accept it, parts that they ignore or not.
    fits: tuple[str, ...]
    #: `TARGET: RULE` for each other target that rejects it by one rule alone.
    fits_but_for: tuple[str, ...]


class TargetCount(msgspec.Struct, frozen=True, kw_only=True):
    """What a target does with the records of a dataset, as they are."""

    accepted: int
    #: Rule to the records that it alone keeps from being accepted, most first.
    but_for: dict[str, int]


def record_fit(text: str) -> RecordFit:
    """Return which providers accept a schema for answers.

    Example:
        >>> record_fit('{"type": "object", "properties": {}}').fits_but_for
        ('anthropic: open-object', 'openai-strict: open-object')
    """
    schema = json.loads(text)
    fits, but_for = [], []
    for name in provider_names():
        findings = judge_fit(schema, load_profile(name))
        verdict = verdict_of(findings)
        if verdict in (Verdict.ACCEPTED, Verdict.IN_PART):
            fits.append(name)
        causes = {finding.cause for finding in findings if finding.effect in FAILING}
        if len(causes) == 1:
            but_for.append(f"{name}: {causes.pop()}")
    return RecordFit(tuple(fits), tuple(but_for))


def target_counts(rows: Iterable[RecordFit]) -> dict[str, TargetCount]:
    """Return the counts of the targets that rows name, by name."""
    accepted, causes = Counter[str](), Counter[str]()
    for fits, but_for in rows:
        accepted.update(fits)
        causes.update(but_for)
    but_for_of: dict[str, dict[str, int]] = {name: {} for name in accepted}
    for cause, count in sorted(causes.items(), key=lambda item: (-item[1], item[0])):
        name, _, rule = cause.partition(": ")
        but_for_of.setdefault(name, {})[rule] = count
    return {
        name: TargetCount(
            accepted=accepted[name], but_for=dict([*counts.items()][:_SHOWN])
        )
        for name, counts in sorted(but_for_of.items())
    }
