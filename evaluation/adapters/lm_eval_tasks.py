"""A suite as a task of lm-evaluation-harness: a folder of YAML, data and one function.

The harness asks `generate_until` of each prompt; `process_results` is the suite's
judge, so the environment of the harness needs this package too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import msgspec

from curation.system.atomic_files import atomic_write_bytes
from evaluation.adapters.suite_records import OpenedSuite
from evaluation.core.records import Record, encode_records
from evaluation.runner.request import choose_suite

if TYPE_CHECKING:
    from pathlib import Path

_TASK: Final = """\
# {summary}
# Written by csbdata export lm-eval from {origin}. Run:
#   lm_eval --model ... --tasks {task} --include_path {folder} --apply_chat_template
task: {task}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {file}
test_split: test
output_type: generate_until
description: ""
doc_to_text: "{{{{prompt}}}}"
doc_to_target: ""
process_results: !function judge.process_results
generation_kwargs:
  until: []
  do_sample: false
  temperature: 0.0
  max_gen_toks: {budget}
metric_list:
  - metric: passed
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
"""
_JUDGE: Final = '''\
"""Judges answers as csbdata does."""

from evaluation.adapters.lm_eval_tasks import judge_document


def process_results(doc, results):
    """Return the figures of one answer."""
    return judge_document(doc, results[0])
'''


def write_task(opened: OpenedSuite, folder: Path) -> str:
    """Write the task of a suite into a folder, and return its name.

    A conversation of several turns is one text: the harness puts it into the chat
    template of a model as one turn.
    """
    choice = opened.choice
    name = choice.suite.name
    compat = choice.compat
    task = f"csbdata_{name}{'_paper' * bool(compat)}"
    prompts = [choice.prompt(record) for record in opened.records]
    documents = [
        {
            "prompt": "\n\n".join(turn.content for turn in prompt.messages),
            "suite": name,
            "compat": compat,
            "record": encode_records([record]).decode(),
        }
        for record, prompt in zip(opened.records, prompts, strict=True)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{task}.jsonl"
    lines = [json.dumps(document) + "\n" for document in documents]
    atomic_write_bytes(file, "".join(lines).encode())
    text = _TASK.format(
        summary=choice.suite.summary,
        origin=opened.origin,
        task=task,
        folder=folder,
        file=file.resolve(),
        budget=max(prompt.budget for prompt in prompts),
    )
    atomic_write_bytes(folder / f"{task}.yaml", text.encode())
    atomic_write_bytes(folder / "judge.py", _JUDGE.encode())
    return task


def judge_document(document: dict[str, Any], text: str) -> dict[str, float]:
    """Return the figures of one answer to a document that `write_task` has written."""
    choice = choose_suite(document["suite"], {}, document["compat"])
    record = msgspec.json.decode(document["record"], type=Record)
    verdict = OpenedSuite(choice, [record], "").judge(record, text)
    return {"passed": float(verdict.passed)}
