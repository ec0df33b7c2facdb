"""Take the answer out of a response: triage, thinking, and named policies for fences.

Thinking is in tags, in the channels of OpenAI's harmony format
(https://cookbook.openai.com/articles/openai-harmony), or before a closing tag alone.
End tokens that a server left in the text are taken off too.

Published benchmarks differ in what they take off around an answer: unclosed fences,
backticks inside strings, text around.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from curation.system.words import counted, shortened

if TYPE_CHECKING:
    from evaluation.core.records import Response

#: Characters of a message.
_SHOWN: Final = 300
#: Endings of a response that are refusals.
_REFUSED: Final = frozenset({"refusal", "content_filter"})
#: The beginning of a text without brackets that is a refusal; a JSON string is not one.
_REFUSAL: Final = re.compile(
    r"\A[^\w\"]*(?:i['\u2019]?m (?:really |very )?sorry|i am sorry|sorry\b"
    r"|i can(?:no|['\u2019])t|i['\u2019]?m (?:unable|not able)|i am (?:unable|not able)"
    r"|i won['\u2019]t|as an ai\b|unfortunately, i|i apologi[sz]e)",
    re.IGNORECASE,
)
#: Tags around thinking, in any case: `<think>`, Seed's `<seed:think>`, `[THINK]` of
#: Mistral, `\u25c1think\u25b7` of Kimi.
_TAG: Final = re.compile(
    r"<(/)?(?:(?:seed:)?think|thinking|thought|reasoning)>|[\[\u25c1](/)?think[\]\u25b7]",
    re.IGNORECASE,
)
#: Harmony's last channel, also with the format that it is held to.
_FINAL: Final = re.compile(
    r"(.*)<\|channel\|>final(?: ?<\|constrain\|> ?\w+)?<\|message\|>", re.DOTALL
)
_CHANNEL: Final = "<|channel|>"
#: Harmony without its special tokens.
_BARE_HARMONY: Final = re.compile(
    r"\A\s*(?:analysis|commentary)(.*?)assistant\s*final", re.DOTALL
)
#: Most end tokens removed from one text.
_MOST_END_TOKENS: Final = 32
_END_TOKENS: Final = (
    *("<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<|end_of_text|>", "<|return|>"),
    *("<|end|>", "<|eom_id|>", "<\uff5cend\u2581of\u2581sentence\uff5c>"),
    *("<end_of_turn>", "<eos>", "</s>"),
)
#: Beginnings of answers, which may quote tags.
_ANSWER: Final = re.compile(r'\s*(?:\{|\[(?!/?THINK\])|"|```|- )', re.IGNORECASE)
_MARK: Final = "\ufeff"
#: A byte order mark, a space without width.
_INVISIBLE: Final = f"{_MARK}\u200b"


class AnswerParts(NamedTuple):
    """A model's text in its two parts."""

    answer: str
    thinking: str = ""
    #: Whether thinking began and never ended, which leaves no answer.
    unclosed: bool = False


def split_thinking(text: str) -> AnswerParts:
    """Return the answer of a text, and the thinking before it.

    A tag counts at the beginning of a text, or in a text that does not begin like an
    answer: `{"tag": "<think>"}` is an answer as a whole. Thinking ends at the first
    closing tag of its kind, whatever tags it names. Everything before a lone closing
    tag is thinking, and without one everything after a lone opening tag. A byte order
    mark is dropped.

    Example:
        >>> split_thinking("<think>No <think> tags?</think>[2]").answer
        '[2]'
        >>> split_thinking("<think>Two?").unclosed
        True
    """
    text = _without_end_tokens(text.strip(_INVISIBLE))
    if not _ANSWER.match(text) and (harmony := _split_harmony(text)):
        return harmony
    thoughts: list[str] = []
    outside: list[str] = []
    position = lone = 0
    unclosed = False
    endless: set[str] = set()
    while not _ANSWER.match(text, position) and (mark := _TAG.search(text, position)):
        start, position = position, mark.end()
        if mark[1] or mark[2]:
            # Without an opening tag everything so far was thinking.
            lone = mark.start()
            thoughts = []
            outside = []
            continue
        outside.append(text[start : mark.start()])
        closing = f"{mark[0][0]}/{mark[0][1:]}".lower()
        end = None
        if closing not in endless:
            end = re.compile(re.escape(closing), re.IGNORECASE).search(text, position)
        if end is None:
            endless.add(closing)
            if other := _lone_closing(text, position):
                position = other.start()
                continue
        thoughts.append(text[position : end.start() if end else len(text)])
        position = end.end() if end else len(text)
        unclosed = end is None and not "".join(outside).strip()
    if not position:
        return AnswerParts(answer=text)
    return AnswerParts(
        answer="".join((*outside, text[position:])).strip().removeprefix(_MARK),
        thinking="\n".join(map(str.strip, (text[:lone], *thoughts))).lstrip(),
        unclosed=unclosed,
    )


def _lone_closing(text: str, position: int) -> re.Match[str] | None:
    """Return the first closing tag after a position that closes no tag after it."""
    opened: set[str] = set()
    for mark in _TAG.finditer(text, position):
        kind = mark[0].replace("/", "").lower()
        if (mark[1] or mark[2]) and kind not in opened:
            return mark
        opened.add(kind)
    return None


def _without_end_tokens(text: str) -> str:
    """Return a text without the end tokens at its end, and the space around them."""
    for _ in range(_MOST_END_TOKENS):
        ended = text.rstrip()
        if not ended.endswith(_END_TOKENS):
            break
        text = ended[: ended.rindex("<")].rstrip()
    return text


def _split_harmony(text: str) -> AnswerParts | None:
    match = _FINAL.match(text)
    if match is None and text.lstrip().startswith(_CHANNEL):
        return AnswerParts(answer="", thinking=text.strip(), unclosed=True)
    match = match or _BARE_HARMONY.match(text)
    if match is None:
        return None
    return AnswerParts(answer=text[match.end() :].strip(), thinking=match[1].strip())


_FENCE: Final = "```"
#: A fence and the name of a language; an answer on the same line is not one.
_OPENING: Final = re.compile(r'\A```+[ \t]*+(?:[^\s`{\["]*+(?!`))?[ \t]*+\r?\n?')

#: Takes the answer out of a text without thinking; empty if it finds none.
Policy: TypeAlias = Callable[[str], str]


def outer_fence(text: str) -> str:
    """Return the content of a fence that holds the whole text, otherwise the text.

    Only that one fence is removed: backticks inside strings stay. An unclosed fence is
    removed too: its content shows whether the answer was cut.
    """
    text = text.strip()
    opening = _OPENING.match(text)
    if opening is None:
        return text
    body = text[opening.end() :]
    return (body.rstrip("`") if body.endswith(_FENCE) else body).strip()


def strip_all_backticks(text: str) -> str:
    """Return a text that begins with a fence without any mark of three backticks.

    It damages strings with such marks. Source: the published reading of the prompted
    pass rate, which deletes every "```json" and "```".
    """
    text = text.strip()
    if not text.startswith(_FENCE):
        return text
    return text.replace(f"{_FENCE}json", "").replace(_FENCE, "").strip()


#: Every policy by its name in settings and results.
POLICIES: Final[Mapping[str, Policy]] = MappingProxyType(
    {policy.__name__: policy for policy in (outer_fence, strip_all_backticks)}
)


class NoAnswer(StrEnum):
    """A reason why a response has no answer; earlier reasons take precedence."""

    FAILED = "failed"
    """The server, the engine or the model failed."""
    REFUSED = "refused"
    """The model or its provider refused to answer."""
    TOO_LARGE = "too_large"
    """The text is longer than the suite reads."""
    TRUNCATED = "truncated"
    """The budget of tokens was used up before there was a text."""
    THINKING = "thinking"
    """There is thinking, and no answer after it."""
    EMPTY = "empty"
    """The text is missing."""


class Refusals(StrEnum):
    """A way to recognise refusals."""

    WITHOUT_TEXT = "without_text"
    """By the end of a response without text."""
    BY_FINISH = "by_finish"
    """By the end of the response."""
    BY_WORDS = "by_words"
    """By the end of the response, or the first words of a text without brackets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriageRules:
    """The rules by which a suite reads responses."""

    #: Takes the answer out of the text without thinking; None for all of it.
    policy: Policy | None = None
    refusals: Refusals = Refusals.BY_FINISH
    #: Whether a response whose text is None has failed; otherwise it is empty.
    null_fails: bool = True
    #: Whether thinking is removed.
    splits_thinking: bool = True
    #: Characters read; None for no limit.
    longest: int | None = None


class MissingAnswer(NamedTuple):
    """A response without an answer."""

    kind: NoAnswer
    #: In words.
    reason: str
    #: Whether thinking began in the text and never ended.
    unclosed: bool = False


def triage(response: Response, rules: TriageRules) -> str | MissingAnswer:
    """Return the answer of a response, never empty, or why it has none.

    Args:
        response: The response.
        rules: The rules of the suite.

    Example:
        >>> from evaluation.core.records import Response
        >>> triage(Response(record="a", text="<think>Hm.</think>7"), TriageRules())
        '7'
        >>> triage(Response(record="a", text=" "), TriageRules()).kind
        <NoAnswer.EMPTY: 'empty'>
    """
    text = response.text
    if response.error or (text is None and rules.null_fails):
        why = shortened(response.error or "no text", _SHOWN)
        return MissingAnswer(NoAnswer.FAILED, why)
    text = text or ""
    if _ended_as_refusal(rules.refusals, response):
        return MissingAnswer(NoAnswer.REFUSED, f"ended as {response.finish}")
    if rules.longest is not None and len(text) > rules.longest:
        reason = f"{counted(len(text), 'character')}, {rules.longest:,} are read"
        return MissingAnswer(NoAnswer.TOO_LARGE, reason)
    parts = split_thinking(text) if rules.splits_thinking else AnswerParts(answer=text)
    answer = parts.answer
    if rules.policy is not None:
        answer = rules.policy(answer)
    if not answer.strip():
        return _without_text(response, parts)
    if rules.refusals is Refusals.BY_WORDS and "{" not in answer and "[" not in answer:
        refusal = _REFUSAL.match(answer[:_SHOWN])
        if refusal is not None:
            reason = f"begins {refusal[0].strip()!r}"
            return MissingAnswer(NoAnswer.REFUSED, reason)
    return answer


def _ended_as_refusal(refusals: Refusals, response: Response) -> bool:
    if response.finish not in _REFUSED:
        return False
    return refusals is not Refusals.WITHOUT_TEXT or not (response.text or "").strip()


def _without_text(response: Response, parts: AnswerParts) -> MissingAnswer:
    thinking = parts.unclosed or parts.thinking or response.reasoning
    kind = NoAnswer.THINKING if thinking else NoAnswer.EMPTY
    reason = "thinking that never came to an answer" if thinking else "no text"
    if response.finish == "length":
        kind, reason = NoAnswer.TRUNCATED, f"{reason}; the budget was used up"
    return MissingAnswer(kind, reason, unclosed=parts.unclosed)
