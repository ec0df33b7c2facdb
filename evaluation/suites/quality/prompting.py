"""How a problem is asked: the same free and constrained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.core.messages import Message
from evaluation.core.suite_records import SuitePrompt
from evaluation.suites.quality.problems import ANSWER, REASONING
from evaluation.suites.quality.records import MEMBERS, problem_of_record

if TYPE_CHECKING:
    from evaluation.core.suite_records import SuiteRecord
    from evaluation.suites.quality.settings import QualitySettings

_FORMS: Final = {
    REASONING: '"reasoning": <reasoning about the answer>',
    ANSWER: '"answer": <final answer>',
}


def quality_prompt(record: SuiteRecord, settings: QualitySettings) -> SuitePrompt:
    """Return the conversation that asks for a problem's answer.

    The worked examples are turns of their own, their members in the order asked for:
    between the orders nothing else differs.
    """
    task, order, problem = problem_of_record(record)
    members = MEMBERS[order]
    form = "{" + ", ".join(_FORMS[name] for name in members) + "}"
    instruction = task.instruction.replace("{form}", form)
    messages = [Message(role="system", content=instruction)]
    for shot in task.shots:
        messages += [
            Message(role="user", content=shot.question),
            Message(role="assistant", content=task.answer_text(shot, members)),
        ]
    messages.append(Message(role="user", content=problem.question))
    published = settings.published_budgets
    budget = task.published_budget if published else task.budget
    return SuitePrompt(messages=tuple(messages), budget=budget)
