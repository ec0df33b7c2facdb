"""Every suite takes a right answer in any envelope that its prompt does not forbid."""

from __future__ import annotations

from collections import Counter

import pytest

from evaluation.suites.registry import suites
from tests.evaluation.suites.envelopes import ENVELOPES, Kind, right_answers


@pytest.mark.parametrize("suite", list(suites()))
def test_right_answers_pass_in_every_envelope_that_is_allowed(suite: str) -> None:
    """A block and words around count where they are forbidden, other things never."""
    wrong: Counter[tuple[str, bool, str]] = Counter()
    tried: Counter[Kind] = Counter()
    for answer in right_answers(suite, 20):
        for envelope in ENVELOPES:
            for text, right in answer.written(envelope):
                verdict = answer.verdict(text)
                tried[envelope.kind] += 1
                if verdict.passed is not right:
                    wrong[envelope.name, right, verdict.failure_class] += 1
    assert wrong == {}
    assert min(tried[kind] for kind in Kind) > 0
