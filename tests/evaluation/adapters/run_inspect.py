"""Run suites as tasks of Inspect with its mock model, and print both sides' scores.

Run by path, with the Python of an environment that has inspect_ai. Each record is
answered with one of its known answers; the suite's own judge scores the same.
"""

from __future__ import annotations

import json
import sys

from inspect_ai import eval as run
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from evaluation.adapters.inspect_tasks import suite_task
from evaluation.adapters.suite_records import open_suite
from tests.evaluation.suites.known_answers import known_answers


def compare(suite: str, folder: str, *, structured: bool) -> dict[str, float]:
    """Return the accuracy that Inspect reports and that of the suite itself."""
    opened = open_suite(suite, "own", 24)
    known = {
        record.key: [
            it.text
            for it in known_answers(opened.choice, record)
            if it.text and it.finish == "stop"
        ]
        for record in opened.records
    }
    answers = {
        key: texts[number % len(texts)]
        for number, (key, texts) in enumerate(known.items())
    }
    outputs = [ModelOutput.from_content("mock", text) for text in answers.values()]
    for output in outputs:
        # Without it tokens are counted by a tokenizer of the network.
        output.usage = ModelUsage()
    task = suite_task(suite, "own", 24, structured=structured)
    (log,) = run(
        task,
        model=get_model("mockllm/model", custom_outputs=outputs),
        log_dir=folder,
        display="none",
        max_connections=1,
        max_samples=1,
    )
    if log.status != "success":
        raise RuntimeError(log.error.message[:2000])
    verdicts = [
        opened.judge(
            record,
            answers[record.key],
            finish="stop",
            condition="free" if sample.metadata["constraint"] == "prompt" else "strict",
        )
        for record, sample in zip(opened.records, task.dataset, strict=True)
    ]
    counted = [verdict for verdict in verdicts if verdict.counted]
    return {
        "theirs": log.results.scores[0].metrics["accuracy"].value,
        "ours": sum(verdict.passed for verdict in counted) / len(counted),
        "structured": sum(
            sample.metadata["constraint"] != "prompt" for sample in task.dataset
        ),
    }


sys.stdout.write(
    json.dumps(
        {
            f"{suite}{' structured' * structured}": compare(
                suite, sys.argv[1], structured=structured
            )
            for suite in sys.argv[2:]
            for structured in (False, True)
        }
    )
)
