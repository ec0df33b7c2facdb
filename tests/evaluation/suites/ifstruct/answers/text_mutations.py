"""Faults of the text around an answer: code block, commentary, thinking, nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.rows import AnswerFormat, FenceWish
from evaluation.suites.ifstruct.settings import Failure
from tests.evaluation.suites.ifstruct.answers.mutation import BrokenAnswer, PlantedFault

if TYPE_CHECKING:
    from tests.evaluation.suites.ifstruct.answers.reference import ReferenceAnswer

_TALK: Final = "Sure, here is what you asked for:"
_REFUSAL: Final = "I am sorry, but this is nothing that I can help with."


def _wish(answer: ReferenceAnswer) -> FenceWish:
    return answer.requirements.fence.wish


def _no_fence(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if _wish(answer) is not FenceWish.REQUIRED:
        return None
    return BrokenAnswer(text=answer.content, failure=Failure.MISSING_FENCE)


def _unclosed_fence(answer: ReferenceAnswer) -> BrokenAnswer:
    text = f"```{answer.language}\n{answer.content}"
    return BrokenAnswer(text=text, failure=Failure.UNCLOSED_FENCE)


def _forbidden_fence(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if _wish(answer) is not FenceWish.FORBIDDEN:
        return None
    text = replace(answer, fenced=True).text
    return BrokenAnswer(text=text, failure=Failure.FORBIDDEN_FENCE)


def _other_language(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if not answer.requirements.fence.language:
        return None
    text = replace(answer, fenced=True, language="text").text
    return BrokenAnswer(text=text, failure=Failure.WRONG_FENCE_LANGUAGE)


def _mismatching_language(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if _wish(answer) is FenceWish.FORBIDDEN or answer.requirements.fence.language:
        return None
    other = "yaml" if answer.requirements.format is AnswerFormat.JSON else "json"
    text = replace(answer, fenced=True, language=other).text
    return BrokenAnswer(text=text, failure=Failure.WRONG_FORMAT)


def _talk_before(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.requirements.commentary or not (answer.fenced or answer.is_json):
        return None
    text = f"{_TALK}\n{answer.text}"
    return BrokenAnswer(text=text, failure=Failure.COMMENTARY)


def _talk_after(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.requirements.commentary or not (answer.fenced or answer.is_json):
        return None
    text = f"{answer.text}\n\nLet me know if more is needed."
    return BrokenAnswer(text=text, failure=Failure.COMMENTARY)


def _second_block(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.requirements.commentary or not answer.fenced:
        return None
    text = f"{answer.text}\n{answer.text}"
    return BrokenAnswer(text=text, failure=Failure.SEVERAL_FENCES)


def _empty(_answer: ReferenceAnswer) -> BrokenAnswer:
    return BrokenAnswer(text=" \n", failure=Failure.EMPTY)


def _thinking(answer: ReferenceAnswer) -> BrokenAnswer:
    text = f"<think>{answer.text}"
    return BrokenAnswer(text=text, failure=Failure.THINKING_UNCLOSED)


def _refusal(answer: ReferenceAnswer) -> BrokenAnswer:
    failure = Failure.INVALID_JSON if answer.is_json else Failure.NOT_A_LIST
    if _wish(answer) is FenceWish.REQUIRED:
        failure = Failure.MISSING_FENCE
    return BrokenAnswer(text=_REFUSAL, failure=failure)


def _too_large(answer: ReferenceAnswer) -> BrokenAnswer:
    return BrokenAnswer(text=answer.text + " " * 1_000_001, failure=Failure.TOO_LARGE)


TEXT_MUTATIONS: Final = (
    PlantedFault(name="code block missing", apply=_no_fence),
    PlantedFault(name="code block unclosed", apply=_unclosed_fence),
    PlantedFault(
        name="code block forbidden", apply=_forbidden_fence, recommended_only=True
    ),
    PlantedFault(
        name="code block of another language",
        apply=_other_language,
        recommended_only=True,
    ),
    PlantedFault(name="code block of the other format", apply=_mismatching_language),
    PlantedFault(name="commentary before", apply=_talk_before),
    PlantedFault(name="commentary after", apply=_talk_after),
    PlantedFault(name="second code block", apply=_second_block, recommended_only=True),
    PlantedFault(name="nothing", apply=_empty),
    PlantedFault(name="thinking unclosed", apply=_thinking),
    PlantedFault(name="refusal", apply=_refusal),
)
#: One that takes a megabyte: for a test, and not for every row.
LARGE_MUTATION: Final = PlantedFault(name="a million characters", apply=_too_large)
