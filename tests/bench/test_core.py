"""The hard core of an edition stands for its sample, for engines unseen too."""

from __future__ import annotations

import numpy as np
import pytest

from bench.edition import core as module
from bench.edition.core import choose, differ, families

_SIZE = 400


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COUNT", 150)
    monkeypatch.setattr(module, "SEEDS", 40)


def _outcomes() -> np.ndarray:
    """Return whether engines of several strengths pass records of all difficulties."""
    noise = np.random.default_rng(38)
    hard = noise.normal(size=(_SIZE, 1))
    strength = np.array([[-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]])
    return strength - hard + noise.normal(scale=0.5, size=(_SIZE, 7)) > 0


def test_the_core_estimates_the_sample_for_engines_that_chose_it() -> None:
    """Within a point; its records are distinct, and weigh as many as the sample has."""
    passed = _outcomes()
    keys = [(str(place % 5), str(place % 7), str(place)) for place in range(_SIZE)]
    core = choose(passed, list("abcdefg"), keys)
    assert len({*core.places}) == len(core.places) == pytest.approx(150, abs=1)
    assert core.weights.sum() == pytest.approx(_SIZE, rel=0.02)
    for engine in passed.T:
        assert core.score(engine) == pytest.approx(engine.mean(), abs=0.01)


def test_a_family_counts_once_in_a_difficulty() -> None:
    """Two versions of one engine that fail weigh as much as one of another."""
    passed = np.array([[False, False, True], [True, True, True]])
    names = ["xgrammar 0.1.6 faithful", "xgrammar 0.2.8 faithful", "guidance 0.3.1"]
    of = families(names)
    assert of == ["xgrammar", "xgrammar", "llguidance"]
    core = choose(passed, of, [("", "", "")] * 2)
    assert dict(zip(core.places, core.difficulty, strict=True)) == {0: 0.5, 1: 0.0}


def test_engines_are_told_apart_by_mcnemars_exact_test() -> None:
    """Six wins and no loss are significant (p = .031), five are not (p = .063)."""
    lost = np.zeros(10, dtype=bool)
    assert differ(np.arange(10) < 6, lost)
    assert not differ(np.arange(10) < 5, lost)
    assert not differ(lost, lost)
