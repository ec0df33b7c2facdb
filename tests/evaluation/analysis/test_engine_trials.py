"""`fit --for ENGINE` runs what is installed, on values made for the schema."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evaluation.analysis.engine_trials import EngineTrials, read_trial
from evaluation.core.cases import Case, InstanceWalk, Result, WalkVerdict
from tests.evaluation.known import known
from tests.evaluation.made_runs import accepted, row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from evaluation.core.cases import Row

_VERDICTS = (
    (True, WalkVerdict.ACCEPTED),
    (True, WalkVerdict.BLOCKED),
    (True, WalkVerdict.UNFINISHED),
    (False, WalkVerdict.BLOCKED),
    (False, WalkVerdict.ACCEPTED),
)


def _row(result: Result, verdicts: tuple[tuple[bool, WalkVerdict], ...] = ()) -> Row:
    walks = tuple(
        replace(accepted(), valid=valid, verdict=verdict) for valid, verdict in verdicts
    )
    return row(result=result, detail="why", walks=walks)


def test_walks_are_counted_by_what_they_show() -> None:
    """Blocked valid texts, and invalid ones that pass, with what forbids them."""
    label: dict[str, Json] = {"pointer": "/type", "keyword": "type"}
    walks = tuple(
        InstanceWalk(text=str(place), valid=valid, label=label)
        for place, (valid, _) in enumerate(_VERDICTS)
    )
    case = Case(task="masks", id="schema", config="fit", schema="{}", walks=walks)
    trial = read_trial(case, _row(Result.OK, _VERDICTS))
    assert (trial.valid, trial.invalid, trial.blocked) == (3, 2, ("1", "2"))
    assert trial.passed == (("/type", "type", "4"),)
    lying = ((True, WalkVerdict.LIED), *_VERDICTS[1:])
    assert "contradicts itself" in read_trial(case, _row(Result.OK, lying)).refusal
    assert read_trial(case, _row(Result.COMPILE_ERROR)).refusal == "why"
    assert read_trial(case, _row(Result.CRASH)).refusal == "crash: why"
    assert read_trial(case, _row(Result.TIMEOUT)).late.startswith("too slow")


@pytest.fixture(scope="module")
def trials() -> Iterator[EngineTrials]:
    """Keep one process of values and one of each engine."""
    trials = EngineTrials()
    yield trials
    trials.close()


def test_only_engines_that_constrain_are_targets(trials: EngineTrials) -> None:
    """One that is not installed is known with the command that installs it."""
    assert trials.engine("none") is None
    assert trials.engine("nosuch") is None
    older = known(trials.engine("llguidance==0.0.1"))
    assert older.install == "csbdata engines add llguidance==0.0.1"


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["llguidance", "xgrammar", "outlines_core"])
def test_an_installed_engine_is_run(trials: EngineTrials, spec: str) -> None:
    """What all of them do right, and what all of them refuse or let through."""
    target = known(trials.engine(spec))
    if target.unavailable:
        pytest.skip(target.install)
    right = trials.run(spec, {"enum": ["a", "b"]})
    assert right.valid
    assert right.invalid
    assert (right.blocked, right.passed, right.refusal) == ((), (), "")
    unheld = trials.run(
        spec, {"type": "array", "uniqueItems": True, "items": {"type": "boolean"}}
    )
    assert unheld.refusal or {it.keyword for it in unheld.passed} == {"uniqueItems"}
