"""Sort out responses that hold no answer, and take the answer out of the others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from curation.system.escaping import shortened
from evaluation.answers.extraction import AnswerParts, split_thinking

if TYPE_CHECKING:
    from evaluation.answers.extraction import Policy
    from evaluation.core.suite_records import SuiteResponse

_SHOWN: Final = 300
#: Ways in which a response ends that are refusals.
_REFUSED: Final = frozenset({"refusal", "content_filter"})
#: An answer without any bracket that begins so says that there will be none.
_REFUSAL: Final = re.compile(
    r"\A\W*(?:i['\u2019]?m (?:really |very )?sorry|i am sorry|sorry\b|i apologi[sz]e"
    r"|i can(?:no|['\u2019])t|i['\u2019]?m (?:unable|not able)|i am (?:unable|not able)"
    r"|i won['\u2019]t|as an ai\b|unfortunately, i)",
    re.IGNORECASE,
)


class NoAnswer(StrEnum):
    """Why a response holds no answer; earlier reasons take precedence."""

    FAILED = "failed"
    """The server or the model failed."""
    ENGINE_FAILED = "engine_failed"
    """The engine refused the schema, or failed."""
    REFUSED = "refused"
    """The model or its provider refused to answer."""
    TOO_LARGE = "too_large"
    """The text is longer than the suite reads."""
    TRUNCATED = "truncated"
    """There is no text where the budget of tokens was used up."""
    THINKING = "thinking"
    """There is thinking, and no text after it."""
    EMPTY = "empty"
    """There is no text."""


class Refusals(StrEnum):
    """How refusals are recognised."""

    NEVER = "never"
    """A refusal is judged as any other text."""
    WITHOUT_TEXT = "without_text"
    """By how the response ended, if it has no text."""
    BY_FINISH = "by_finish"
    """By how the response ended."""
    BY_WORDS = "by_words"
    """By how the response ended, or by the first words of a text without brackets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriageRules:
    """How a suite reads responses."""

    #: Takes the answer out of the text that follows the thinking; None for all of it.
    policy: Policy | None = None
    refusals: Refusals = Refusals.BY_FINISH
    #: Whether a response whose text is None has failed; else it is empty.
    null_fails: bool = True
    #: Whether a response with an error message has failed although it has a text.
    error_fails: bool = True
    #: Whether thinking is taken off.
    splits_thinking: bool = True
    #: Characters that are read; None for no limit.
    longest: int | None = None


@dataclass(frozen=True, slots=True)
class MissingAnswer:
    """A response without an answer."""

    kind: NoAnswer
    #: In words.
    reason: str
    #: Whether thinking began in the text and never ended.
    unclosed: bool = False


def triage(response: SuiteResponse, rules: TriageRules) -> str | MissingAnswer:
    """Return the answer of a response, never empty, or why it has none.

    Args:
        response: The response.
        rules: How the suite reads it.

    Example:
        >>> from evaluation.core.suite_records import SuiteResponse
        >>> triage(SuiteResponse(record="a", text="<think>Hm.</think>7"), TriageRules())
        '7'
        >>> triage(SuiteResponse(record="a", text=" "), TriageRules()).kind
        <NoAnswer.EMPTY: 'empty'>
    """
    text = response.text
    if (response.error and (rules.error_fails or text is None)) or (
        text is None and rules.null_fails
    ):
        by_engine = response.finish == "engine_error"
        kind = NoAnswer.ENGINE_FAILED if by_engine else NoAnswer.FAILED
        return MissingAnswer(kind, shortened(response.error or "no text", _SHOWN))
    text = text or ""
    if _ended_as_refusal(rules.refusals, response):
        return MissingAnswer(NoAnswer.REFUSED, f"ended as {response.finish}")
    if rules.longest is not None and len(text) > rules.longest:
        reason = f"{len(text):,} characters, {rules.longest:,} are read"
        return MissingAnswer(NoAnswer.TOO_LARGE, reason)
    parts = split_thinking(text) if rules.splits_thinking else AnswerParts(answer=text)
    answer = parts.answer
    if rules.policy is not None:
        answer = rules.policy(answer).text or ""
    if not answer.strip():
        return _without_text(response, parts)
    if rules.refusals is Refusals.BY_WORDS and "{" not in answer and "[" not in answer:
        refusal = _REFUSAL.match(answer[:_SHOWN])
        if refusal is not None:
            reason = f"begins {refusal[0].strip()!r}"
            return MissingAnswer(NoAnswer.REFUSED, reason)
    return answer


def _ended_as_refusal(refusals: Refusals, response: SuiteResponse) -> bool:
    if response.finish not in _REFUSED or refusals is Refusals.NEVER:
        return False
    return refusals is not Refusals.WITHOUT_TEXT or not (response.text or "").strip()


def _without_text(response: SuiteResponse, parts: AnswerParts) -> MissingAnswer:
    thinking = parts.unclosed or parts.thinking or response.reasoning
    kind = NoAnswer.THINKING if thinking else NoAnswer.EMPTY
    reason = "thinking that never came to an answer" if thinking else "no text"
    if response.finish == "length":
        kind, reason = NoAnswer.TRUNCATED, f"{reason}; the budget was used up"
    return MissingAnswer(kind, reason, unclosed=parts.unclosed)
