"""Run suites as tasks of lm-evaluation-harness, and print both sides' scores.

Run by path, with the Python of an environment that has lm_eval and csbdata, and with
`HF_HOME` in a folder to spare. A model answers each record with one of its known
answers; the suite's own judge scores the same.

Usage: run_lm_eval.py FOLDER SUITE ...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import lm_eval
import msgspec
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from evaluation.adapters.lm_eval_tasks import write_task
from evaluation.adapters.suite_records import open_suite
from evaluation.core.records import Record
from tests.evaluation.suites.known_answers import known_answers


class KnownAnswers(LM):  # type: ignore[misc] # lm_eval ships no types
    """A model that has an answer to each record."""

    def __init__(self, answers: dict[str, str]) -> None:
        """Keep the answers, by the keys of the records."""
        super().__init__()
        self.answers = answers

    def generate_until(self, requests: list[Any], **_: object) -> list[str]:
        """Return the answer to the record of each request."""
        texts = [request.doc["record"] for request in requests]
        records = [msgspec.json.decode(text, type=Record) for text in texts]
        return [self.answers[record.key] for record in records]

    def loglikelihood(self, requests: list[Any], **_: object) -> list[Any]:
        """Raise: no task of a suite asks for it."""
        raise TypeError(requests)

    loglikelihood_rolling = loglikelihood


def compare(suite: str, folder: Path) -> dict[str, float]:
    """Return the score that the harness reports and that of the suite itself."""
    opened = open_suite(suite, "own", 24)
    task = write_task(opened, folder)
    answers = {}
    for number, record in enumerate(opened.records):
        known = known_answers(opened.choice, record)
        texts = [it.text for it in known if it.text and it.finish == "stop"]
        answers[record.key] = texts[number % len(texts)]
    results = lm_eval.simple_evaluate(
        model=KnownAnswers(answers),
        tasks=[task],
        task_manager=TaskManager(include_path=str(folder)),
        bootstrap_iters=0,
    )
    verdicts = [opened.judge(record, answers[record.key]) for record in opened.records]
    return {
        "theirs": results["results"][task]["passed,none"],
        "ours": sum(verdict.passed for verdict in verdicts) / len(verdicts),
    }


report = {name: compare(name, Path(sys.argv[1]) / name) for name in sys.argv[2:]}
sys.stdout.write(json.dumps(report))
