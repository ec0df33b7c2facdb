"""Logs for Inspect hold prompt, answer and verdict, and Inspect reads them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import csbdata
from curation.system.errors import BadConfiguration
from evaluation.asking.inspect_logs import write_inspect
from evaluation.asking.request import choose_suite
from evaluation.asking.response_files import read_responses
from evaluation.asking.run import score_file
from evaluation.core.records import Record, encode_records
from tests.evaluation.measuring import request_of, sample

if TYPE_CHECKING:
    from pathlib import Path

_SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}}'
_TOKENS = {"prompt_tokens": 7, "output_tokens": 1, "reasoning_tokens": 5}
#: Reads a log, and prints how many answers are right of how many.
_READ = """
import sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
values = [it.scores["verdict"].value for it in log.samples]
print(log.status, log.eval.task, values.count("C"), len(values),
      log.samples[0].output.completion, len(log.samples[0].messages))
"""


@pytest.fixture
def logs(tmp_path: Path) -> list[Path]:
    """Return the logs of a scored file: two records, free and constrained."""
    data = tmp_path / "made.jsonl"
    records = [Record(id=name, group="g", schema=_SCHEMA) for name in "ab"]
    records.append(Record(id="unusable", group="g", schema='{"type": "strng"}'))
    data.write_bytes(encode_records(records))
    file = tmp_path / "answers.jsonl"
    lines = [
        {"record": "a", "text": '{"n": 1}', "reasoning": "Hm.", "finish": "stop"},
        {"record": "b", "text": "no", **_TOKENS},
        {"record": "unusable", "text": "{}"},
        {"record": "a", "text": '{"n": 2}', "condition": "strict@low"},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    request = csbdata.RunRequest(
        suite=choose_suite("passrate"), data=data, jobs=1, run_dir=tmp_path / "run"
    )
    run = score_file(request, file).open()
    return write_inspect(run, tmp_path / "logs")


def test_a_log_has_prompt_answer_and_verdict(logs: list[Path]) -> None:
    """One log a condition; our own reader finds the answers in it again.

    Accuracy is of the answers that count.
    """
    assert [path.name for path in logs] == ["model-free.json", "model-strict@low.json"]
    free = json.loads(logs[0].read_text())
    first, second, _uncounted = free["samples"]
    assert [it["scores"]["verdict"]["value"] for it in (first, second)] == ["C", "I"]
    assert second["scores"]["verdict"]["explanation"]
    assert '"type": "integer"' in first["input"][-1]["content"]
    assert free["results"]["scores"][0]["metrics"]["accuracy"]["value"] == 0.5
    answers = read_responses(logs[0]).responses
    assert [(it.record, it.text, it.reasoning) for it in answers] == [
        ("g/a", '{"n": 1}', "Hm."),
        ("g/b", "no", ""),
        ("g/unusable", "{}", ""),
    ]
    assert {name: getattr(answers[1], name) for name in _TOKENS} == _TOKENS


def test_a_run_in_which_no_model_is_asked_has_no_log(tmp_path: Path) -> None:
    """It is said; nothing is written."""
    request = request_of(tmp_path, [sample("ferry")], run_dir=tmp_path / "run")
    run = csbdata.run(request).open()
    with pytest.raises(BadConfiguration, match="no run of a suite"):
        write_inspect(run, tmp_path / "logs")
    assert not (tmp_path / "logs").exists()


@pytest.mark.nightly
def test_inspect_reads_a_log(logs: list[Path], tmp_path: Path) -> None:
    """`read_eval_log` of the newest version tested takes it as its own."""
    home = tmp_path / "inspect"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    python = str(home / "bin/python")
    install = [python, "-m", "pip", "install", "-q", "inspect_ai==0.3.285"]
    subprocess.run(install, check=True)
    told = subprocess.run(
        [python, "-c", _READ, str(logs[0])], check=True, capture_output=True, text=True
    )
    assert told.stdout == 'success passrate 1 3 {"n": 1} 3\n'
