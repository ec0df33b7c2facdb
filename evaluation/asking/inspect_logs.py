"""Runs of suites as logs of Inspect, one for each model and condition.

Source: inspect_ai 0.3.285 (PyPI), log/_log.py. `inspect view` opens the folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from curation.system.atomic_files import atomic_write_bytes
from curation.system.errors import BadConfiguration
from curation.system.file_names import safe_name
from evaluation.asking.records import read_records
from evaluation.asking.request import choose_suite
from evaluation.asking.response_files import RESPONSES, read_responses
from evaluation.asking.scoring import match_responses
from evaluation.results.suite_rows import SUITE, is_suite_run, scored_run
from evaluation.suites.registry import recorded_suite
from evaluation.walking.run_folder import RECORDS

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.core.records import Prompt, Response
    from evaluation.core.suite import ScoredResponse
    from evaluation.results.reader import RecordedRun

_STOP_REASONS: Final = {
    "stop": "stop",
    "length": "max_tokens",
    "content_filter": "content_filter",
}


def write_inspect(run: RecordedRun, folder: Path) -> list[Path]:
    """Write the logs of a run of a suite; return their paths.

    Args:
        run: The run.
        folder: Where they are written.

    Raises:
        BadConfiguration: no model was asked in it.
        CannotCreate: a file cannot be written.
    """
    head = run.raw_header
    if not is_suite_run(head):
        raise BadConfiguration("no run of a suite", str(run.folder))
    about = head[SUITE]
    recorded_suite(about["spec"])
    choice = choose_suite(about["spec"], about["settings"])
    records = {it.key: it for it in read_records(run.folder / RECORDS)}
    prompts = {key: choice.prompt(record) for key, record in records.items()}
    responses = read_responses(run.folder / RESPONSES).responses
    # The last attempt at an answer counts, as in every table.
    answers = {
        (response.label, record.key, response.repeat): response
        for record, response in match_responses([*records.values()], responses).pairs
    }
    paths = []
    for label, scored in scored_run(run, choice.suite.name, head).by_label.items():
        if not scored:
            continue
        samples = [
            _sample(
                each, prompts[each.record], answers[label, each.record, each.repeat]
            )
            for each in scored
        ]
        counted = [each.verdict.passed for each in scored if each.verdict.counted]
        metrics = {}
        if counted:
            share = sum(counted) / len(counted)
            metrics["accuracy"] = {"name": "accuracy", "value": share}
        score = {"name": "verdict", "scorer": "verdict", "metrics": metrics}
        log = {
            "version": 2,
            "status": "success",
            "eval": {
                "created": head["started"],
                "task": choice.suite.name,
                "model": scored[0].model,
                "task_args": {"condition": scored[0].condition, **about["settings"]},
                "dataset": {"name": about["data"], "samples": len(records)},
                "config": {"epochs": max(each.repeat for each in scored) + 1},
                "packages": {"csbdata": head["csbdata"]},
            },
            "results": {
                "total_samples": len(scored),
                "completed_samples": len(scored),
                "scores": [score],
            },
            "samples": samples,
        }
        path = folder / f"{safe_name(label)}.json"
        atomic_write_bytes(path, msgspec.json.format(msgspec.json.encode(log)))
        paths.append(path)
    return paths


def _sample(
    scored: ScoredResponse, prompt: Prompt, response: Response
) -> dict[str, Any]:
    """Return one answer: what was asked, what was written, and the verdict."""
    asked = [{"role": it.role, "content": it.content} for it in prompt.messages]
    parts = [{"type": "text", "text": response.text or ""}]
    if response.reasoning:
        parts.insert(0, {"type": "reasoning", "reasoning": response.reasoning})
    message = {"role": "assistant", "content": parts, "source": "generate"}
    stop = _STOP_REASONS.get(response.finish, "unknown")
    output: dict[str, Any] = {
        "model": response.model,
        "choices": [{"message": message, "stop_reason": stop}],
        "time": response.seconds,
        "error": response.error or None,
    }
    if response.prompt_tokens is not None and response.output_tokens is not None:
        thought = response.reasoning_tokens
        written = response.output_tokens + (thought or 0)
        both = {"input_tokens": response.prompt_tokens, "output_tokens": written}
        whole = {"total_tokens": sum(both.values()), "reasoning_tokens": thought}
        output["usage"] = {**both, **whole}
    verdict = scored.verdict
    return {
        "id": scored.record,
        "epoch": scored.repeat + 1,
        "input": asked,
        "target": "",
        "messages": [*asked, message],
        "output": output,
        "scores": {
            "verdict": {
                "value": "C" if verdict.passed else "I",
                "answer": response.text,
                "explanation": "; ".join(verdict.reasons) or verdict.failure_class,
            }
        },
    }
