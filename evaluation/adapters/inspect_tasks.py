"""Every suite as a task of Inspect (https://inspect.aisi.org.uk).

`inspect eval csbdata/sob --model openai/gpt-5.4-mini -T data=own -T paper=true` asks
the records of a suite; Inspect brings providers, retries, batches, logs and a viewer,
the suite its prompts and its judge. Errors are clustered as the suite's own intervals
are.

With `-T structured=true` a schema is sent as the provider's structured output where
Inspect passes all of it on. Its `ResponseSchema` drops `$ref`, `oneOf`, `const` and
more, so that such a schema stays in the prompt alone; the metadata of each sample
names its way (`constraint`).
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ResponseSchema,
)
from inspect_ai.scorer import Score, Target, accuracy, ci, scorer, stderr
from inspect_ai.solver import Generate, TaskState, solver
from inspect_ai.util import JSONSchema

from evaluation.adapters.suite_records import OpenedSuite, open_suite
from evaluation.core.records import FREE
from evaluation.suites.registry import suites

if TYPE_CHECKING:
    from evaluation.core.records import Record

_MESSAGES: Final = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}
_FINISHES: Final = {"max_tokens": "length", "model_length": "length"}
#: Suites that judge how an engine wrote a text, not only the text.
_OF_ENGINES: Final = ("coverage",)


def passed_whole(schema: str | None) -> JSONSchema | None:
    """Return a schema as Inspect's; None if that would drop a part of it."""
    value = json.loads(schema or "null")
    if not isinstance(value, dict):
        return None
    value = {name: member for name, member in value.items() if name != "$schema"}
    try:
        sent = JSONSchema.model_validate(value)
    except ValueError:
        return None
    return sent if sent.model_dump(exclude_none=True) == value else None


def _sample(opened: OpenedSuite, record: Record, *, structured: bool) -> Sample:
    prompt = opened.choice.prompt(record)
    is_structured = structured and passed_whole(record.schema) is not None
    return Sample(
        id=record.key,
        input=[
            _MESSAGES[message.role](content=message.content)
            for message in prompt.messages
        ],
        metadata={
            "group": record.group,
            "cluster": opened.cluster(record),
            "budget": prompt.budget,
            "constraint": "structured output" if is_structured else "prompt",
        },
    )


@solver  # type: ignore[untyped-decorator]  # not installed with csbdata
def ask(schemas: dict[str, str | None]) -> Any:  # noqa: ANN401 - Inspect's protocol
    """Ask with the suite's budget, at temperature 0.

    Args:
        schemas: The schema of each sample.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        sent = None
        if state.metadata["constraint"] != "prompt":
            sent = passed_whole(schemas[str(state.sample_id)])
        output = sent and ResponseSchema(name="answer", json_schema=sent)
        return await generate(
            state, max_tokens=state.metadata["budget"], response_schema=output
        )

    return solve


@scorer(  # type: ignore[untyped-decorator]  # not installed with csbdata
    metrics=[accuracy(), stderr(cluster="cluster"), ci(cluster="cluster")]
)
def judged(opened: OpenedSuite) -> Any:  # noqa: ANN401 - Inspect's protocol
    """Give the verdict of the suite's judge; uncounted responses are unscored."""
    records = {record.key: record for record in opened.records}

    async def score(state: TaskState, _target: Target) -> Score:
        text = state.output.completion
        stop = state.output.stop_reason
        verdict = opened.judge(
            records[str(state.sample_id)],
            text,
            finish=_FINISHES.get(stop, stop),
            condition=FREE if state.metadata["constraint"] == "prompt" else "strict",
        )
        why = "; ".join(verdict.reasons)
        if not verdict.counted:
            return Score.unscored(answer=text, explanation=why)
        return Score(
            value=float(verdict.passed),
            answer=text,
            explanation=why,
            metadata={"class": verdict.failure_class, "scores": verdict.scores},
        )

    return score


def suite_task(
    name: str,
    data: str | None = None,
    records: int | None = None,
    *,
    paper: bool = False,
    structured: bool = False,
) -> Task:
    """Return a suite as a task.

    Args:
        name: The suite.
        data: As `csbdata suite run --data`.
        records: As its `--limit`.
        paper: Whether the published reading decides (`NAME@paper`).
        structured: Whether schemas are sent as structured output where Inspect passes
            them on whole.
    """
    opened = open_suite(name, data, records, "paper" if paper else "")
    samples = [
        _sample(opened, record, structured=structured) for record in opened.records
    ]
    return Task(
        name=name,
        dataset=MemoryDataset(samples, name=opened.origin),
        solver=ask({record.key: record.schema for record in opened.records}),
        scorer=judged(opened),
        config=GenerateConfig(temperature=0.0),
        metadata={"suite": name, "records": opened.origin, "paper": paper},
    )


def _register(name: str) -> None:
    def make(
        data: str | None = None,
        records: int | None = None,
        paper: bool = False,  # noqa: FBT001, FBT002 - given by name: -T paper=true
        structured: bool = False,  # noqa: FBT001, FBT002 - as above
    ) -> Task:
        return suite_task(name, data, records, paper=paper, structured=structured)

    # Inspect calls a task by the package of its function: `csbdata/NAME`.
    make.__module__ = "csbdata"
    make.__name__ = name
    make.__qualname__ = name
    task(name=name)(make)


# Inspect looks the package up among the modules imported.
import_module("csbdata")
for _name in suites():
    if _name not in _OF_ENGINES:
        _register(_name)
