"""Suites as tasks of other harnesses: scores equal our own on the same answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from evaluation.adapters.lm_eval_tasks import judge_document, write_task
from evaluation.adapters.suite_records import open_suite
from tests.evaluation.suites.known_answers import known_answers

#: A Python that has inspect_ai, and one that has lm_eval, each with csbdata.
_INSPECT = "CSBDATA_INSPECT"
_LM_EVAL = "CSBDATA_LM_EVAL"


@pytest.mark.parametrize("suite", ["sob", "quality", "ifstruct"])
def test_a_task_of_lm_evaluation_judges_as_the_suite_does(
    suite: str, tmp_path: Path
) -> None:
    """Of each record a right answer and others; the YAML names what is there."""
    opened = open_suite(suite, "own", 6)
    task = write_task(opened, tmp_path)
    lines = (tmp_path / f"{task}.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == len(opened.records)
    passed = []
    for line, record in zip(lines, opened.records, strict=True):
        document = json.loads(line)
        for known in known_answers(opened.choice, record):
            if known.text and known.finish == "stop":
                ours = opened.judge(record, known.text).passed
                passed.append(ours)
                assert judge_document(document, known.text) == {"passed": float(ours)}
    assert {*passed} == {True, False}
    text = (tmp_path / f"{task}.yaml").read_text("utf-8")
    read = yaml.safe_load(text.replace("!function ", ""))
    assert read["task"] == task
    assert Path(read["dataset_kwargs"]["data_files"]["test"]).is_file()
    assert "def process_results" in (tmp_path / "judge.py").read_text("utf-8")


@pytest.mark.nightly
@pytest.mark.parametrize("suite", ["sob", "quality", "ifstruct", "concodeeval"])
def test_inspect_scores_as_the_suite_does(suite: str, tmp_path: Path) -> None:
    """With its mock model, in the prompt and with structured output."""
    named = os.environ.get(_INSPECT)
    if not named and find_spec("inspect_ai") is None:
        pytest.skip("inspect_ai is not installed")
    _scores_are_equal(named or sys.executable, "run_inspect.py", tmp_path, suite)


@pytest.mark.nightly
@pytest.mark.parametrize("suite", ["sob", "quality", "ifstruct", "concodeeval"])
def test_lm_evaluation_scores_as_the_suite_does(suite: str, tmp_path: Path) -> None:
    """With a model that gives the same answers."""
    named = os.environ.get(_LM_EVAL)
    if not named:
        pytest.skip(f"{_LM_EVAL} names no Python that has lm_eval")
    _scores_are_equal(named, "run_lm_eval.py", tmp_path, suite)


def _scores_are_equal(python: str, script: str, folder: Path, suite: str) -> None:
    ended = subprocess.run(
        [python, str(Path(__file__).with_name(script)), str(folder), suite],
        capture_output=True,
        check=False,
        text=True,
        env={
            **os.environ,
            "HF_HOME": str(folder),
            "HF_HUB_OFFLINE": "1",
            "PYTHONPATH": str(Path(__file__).parents[3]),
        },
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    for figures in json.loads(ended.stdout.splitlines()[-1]).values():
        assert figures["theirs"] == pytest.approx(figures["ours"])
        assert 0 < figures["ours"] < 1
