"""A response that hangs, kills or breaks its scorer costs only itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evaluation.asking.request import choose_suite
from evaluation.asking.scoring import LiveScorer, score_all
from evaluation.core.records import Record, Response
from evaluation.suites.registry import suites
from tests.evaluation.asking.doubling import lay_out
from tests.evaluation.suites.envelopes import right_answers
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.asking.request import SuiteChoice

_TROUBLE = """

def scorer(settings):
    import os, time

    from evaluation.core.records import Verdict

    def judge(response):
        if response.text == "hang":
            time.sleep(60)
        if response.text == "die":
            os.abort()
        if response.text == "raise":
            raise ValueError("no such thing")
        if response.text == "grow":
            return Verdict(passed=bool(bytearray(1 << 33)))
        return Verdict(passed=True)

    return lambda record: judge

"""


@pytest.fixture
def troubled(tmp_path: Path) -> SuiteChoice:
    """Return a suite whose scorer does what a response says."""
    folder = lay_out(tmp_path, f"troubled_{tmp_path.name}")
    source = (folder / "suite.py").read_text("utf-8")
    source = source.replace("\nSUITE = Suite(", f"{_TROUBLE}\nSUITE = Suite(")
    source = source.replace(
        "scorer=lambda settings: value_scorer(right)", "scorer=scorer"
    )
    (folder / "suite.py").write_text(source, "utf-8")
    chosen = choose_suite(str(folder))
    return replace(chosen, suite=replace(chosen.suite, scoring_seconds=0.5))


def test_every_response_has_a_verdict(troubled: SuiteChoice) -> None:
    """In order; those that go wrong have classes that every suite has."""
    record = Record(id="a")
    texts = ["x", "hang", "x", "die", "raise", "grow", "x"]
    pairs = [
        (record, Response(record="a", text=text, repeat=place))
        for place, text in enumerate(texts)
    ]
    verdicts = score_all(troubled, pairs, jobs=1)
    assert [verdict.failure_class for verdict in verdicts] == [
        "",
        "scoring_timeout",
        "",
        "scoring_failed",
        "scoring_failed",
        "scoring_failed",
        "",
    ]
    assert all(verdict.counted for verdict in verdicts)
    assert "SIGABRT" in verdicts[3].reasons[0]
    assert "ValueError: no such thing" in verdicts[4].reasons[0]


@pytest.mark.parametrize("name", first_fast(2, sorted(suites().keys() - {"coverage"})))
def test_what_an_engine_left_out_has_one_class_in_every_suite(name: str) -> None:
    """The schema that it refused is neither the server's failure nor the model's."""
    choice = choose_suite(name)
    record = next(iter(right_answers(name, 1))).record
    refused = Response(
        record=record.key, text=None, error="refused", finish="engine_error"
    )
    (verdict,) = score_all(choice, [(record, refused)], jobs=1)
    assert (verdict.passed, verdict.failure_class) == (False, "engine_error")


@pytest.mark.slow
def test_a_live_scorer_goes_on_after_trouble(troubled: SuiteChoice) -> None:
    """A run whose answers are handed back does not end with one of them."""
    record = Record(id="a")
    with LiveScorer(troubled) as scorer:
        found = [
            scorer.score(record, Response(record="a", text=text)).failure_class
            for text in ("hang", "x", "die", "x")
        ]
    assert found == ["scoring_timeout", "", "scoring_failed", ""]
