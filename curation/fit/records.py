"""The targets that take a record as it stands, and what alone stands in the way."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from curation.fit.checks import CHECKS
from curation.fit.profile import Profile, Scope, load_profile, profile_names
from curation.fit.scan import Scan, scan_of
from curation.fit.verdict import FAILING, NOT_A_SCHEMA, cause_of

#: Rules that are counted for one target.
_SHOWN = 3


class RecordFit(NamedTuple):
    """The columns of a record about targets."""

    #: Names of profiles, sorted.
    fits: tuple[str, ...]
    #: `TARGET: RULE` for each other target that refuses it by one rule alone.
    fits_but_for: tuple[str, ...]


class TargetCount(msgspec.Struct, frozen=True, kw_only=True):
    """What a target does with the records of a dataset, as they stand."""

    taken: int
    #: Rule to the records that it alone keeps from being taken, most first.
    but_for: dict[str, int]


def record_fit(text: str) -> RecordFit:
    """Return which of all targets take a schema, which is walked over once.

    Example:
        >>> record_fit('{"type": "object"}').fits_but_for
        ('anthropic: open-object', 'openai-strict: open-object')
    """
    scan = scan_of(json.loads(text))
    fits, but_for = [], []
    for name in profile_names():
        causes = _first_causes(scan, load_profile(name))
        if not causes:
            fits.append(name)
        elif len(causes) == 1:
            but_for.append(f"{name}: {causes.pop()}")
    return RecordFit(tuple(fits), tuple(but_for))


def _first_causes(scan: Scan | None, profile: Profile) -> set[str]:
    """Return why a target refuses a schema: no more causes than the first two."""
    if scan is None:
        return {NOT_A_SCHEMA.cause}
    causes: set[str] = set()
    for rule in profile.rules:
        if rule.effect not in FAILING or rule.scope is Scope.TOOL:
            continue
        for found in CHECKS[rule.check](scan, rule):
            causes.add(cause_of(found.keyword, rule.check))
            if len(causes) > 1:
                return causes
    return causes


def target_counts(rows: Iterable[RecordFit]) -> dict[str, TargetCount]:
    """Return the counts of the targets that rows name, by name."""
    taken, causes = Counter[str](), Counter[str]()
    for fits, but_for in rows:
        taken.update(fits)
        causes.update(but_for)
    but_for_of: dict[str, dict[str, int]] = {name: {} for name in taken}
    for cause, count in sorted(causes.items(), key=lambda it: (-it[1], it[0])):
        name, _, rule = cause.partition(": ")
        but_for_of.setdefault(name, {})[rule] = count
    return {
        name: TargetCount(taken=taken[name], but_for=dict([*own.items()][:_SHOWN]))
        for name, own in sorted(but_for_of.items())
    }
