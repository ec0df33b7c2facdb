"""The providers that accept a record as it is, and single causes of rejection."""

from __future__ import annotations

import json
from typing import NamedTuple

from curation.fit.profile import load_profile, provider_names
from curation.fit.verdict import Verdict, decide_verdict, judge_fit, list_causes


class RecordFit(NamedTuple):
    """The columns of a record about providers."""

    #: Names of profiles, sorted, that accept it, parts that they ignore or not.
    fits: tuple[str, ...]
    #: `TARGET: RULE` for each other target that rejects it by one rule alone.
    fits_but_for: tuple[str, ...]


def record_fit(text: str) -> RecordFit:
    """Return which providers accept a schema for answers.

    Example:
        >>> record_fit('{"type": "object", "properties": {}}').fits_but_for
        ('anthropic: open-object', 'openai-strict: open-object')
    """
    schema = json.loads(text)
    fits, but_for = [], []
    for name in provider_names():
        profile = load_profile(name)
        causes = list_causes(schema, profile)
        if len(causes) == 1:
            but_for += [f"{name}: {cause}" for cause in causes]
        if not causes:
            verdict = decide_verdict(judge_fit(schema, profile))
            if verdict in (Verdict.ACCEPTED, Verdict.IN_PART):
                fits.append(name)
    return RecordFit(tuple(fits), tuple(but_for))
