"""The suite `quality`: right answers with and without a constraint."""

from __future__ import annotations

from typing import Final

from curation.system.registry import imported_late
from evaluation.core.records import Message, Prompt, Record
from evaluation.core.suite import Suite
from evaluation.suites.quality.records import (
    ANSWER,
    MEMBERS,
    PUBLISHED,
    REASONING,
    TASKS,
    QualitySettings,
    quality_records,
    with_prompts,
)
from evaluation.suites.quality.scorer import CLASSES, quality_scorer

_FORMS: Final = {
    REASONING: '"reasoning": <reasoning about the answer>',
    ANSWER: '"answer": <final answer>',
}


def quality_prompt(record: Record, settings: QualitySettings) -> Prompt:
    """Return the conversation that asks for a problem's answer.

    The worked examples are separate turns. Only the order of members differs
    between the orders.

    Raises:
        NoInput: the file of prompts cannot be read.
        BadData: it lacks the prompt of a task.
    """
    name, order = (str(record.fields[field]) for field in ("task", "order"))
    task = with_prompts(name, settings.prompts) if settings.prompts else TASKS[name]
    form = "{" + ", ".join(_FORMS[member] for member in MEMBERS[order]) + "}"
    instruction = task.instruction.replace("{form}", form)
    messages = [Message(role="system", content=instruction)]
    for shot in task.shots:
        messages += [
            Message(role="user", content=shot.question),
            Message(role="assistant", content=task.answer_text(shot, order)),
        ]
    messages.append(Message(role="user", content=str(record.fields["question"])))
    published = settings.reading == "paper"
    budget = task.published_budget if published else task.budget
    return Prompt(messages=tuple(messages), budget=budget)


SUITE: Final = Suite(
    name="quality",
    summary="Right answers with and without a constraint: Last Letter, Shuffle "
    "Objects and GSM8K, as section 6 of the JSONSchemaBench paper.",
    settings=QualitySettings,
    classes=CLASSES,
    records=quality_records,
    prompt=quality_prompt,
    scorer=quality_scorer,
    tables=imported_late("evaluation.suites.quality.report", "tables"),
    published=PUBLISHED,
    # Free and constrained answers have the same budget here too: the published free
    # answers had 128 or 256 tokens, the constrained ones no limit.
    paper={"orders": "reasoning-first", "reading": "paper"},
)
